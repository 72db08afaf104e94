import json
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
from tokenizers import Tokenizer as Backend
from tokenizers import models, pre_tokenizers, processors

from posgeom.errors import TokenizerError
from posgeom.tokenize.tokenizer_files import FastTokenizer, load_tokenizer
from posgeom.tokenize.tokenizers import TokenBatch

VOCAB = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "b": 5, "c": 6}


def backend(*, specials: bool) -> Backend:
    tokenizer = Backend(models.WordLevel(VOCAB, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if specials:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        tokenizer.add_special_tokens(["[CLS]", "[SEP]"])
    return tokenizer


def as_lists(batch: TokenBatch) -> tuple[list[int], list[int], list[int]]:
    return batch.lengths.tolist(), batch.positions.tolist(), batch.tokens.tolist()


def test_bytes() -> None:
    assert as_lists(load_tokenizer("bytes").encode(["a\u00e9", "", "xyz"], 2)) == (
        [2, 0, 2],
        [0, 1, 0, 1],
        [97, 0xC3, 120, 121],
    )


def test_chars_are_code_points() -> None:
    assert as_lists(load_tokenizer("chars").encode(["\U0001f600b", "", "\u4e2d"], 9)) == (
        [2, 0, 1],
        [0, 1, 0],
        [0x1F600, 98, 0x4E2D],
    )


def test_whitespace_splits_at_every_kind_of_space() -> None:
    tokenizer = load_tokenizer("whitespace")
    batch = tokenizer.encode(["  one\ttwo\u2003three four ", "two", ""], 3)
    assert batch.lengths.tolist() == [3, 1, 0]
    words = tokenizer.vocabulary()
    assert words is not None
    assert [words[t] for t in batch.tokens] == ["one", "two", "three", "two"]


def test_special_tokens_hold_positions_and_are_not_returned() -> None:
    tokenizer = FastTokenizer(backend(specials=True), "test")
    assert tokenizer.identity.n_special_tokens == 2
    assert as_lists(tokenizer.encode(["a b c", "", "b"], 8)) == ([3, 0, 1], [1, 2, 3, 1], [4, 5, 6, 5])


def test_truncation_keeps_the_place_of_the_closing_token() -> None:
    tokenizer = FastTokenizer(backend(specials=True), "test")
    assert as_lists(tokenizer.encode(["a b c a b c"], 4)) == ([2], [1, 2], [4, 5])
    assert as_lists(tokenizer.encode(["a b c a b c"], 6)) == ([4], [1, 2, 3, 4], [4, 5, 6, 4])


def test_without_any_special_token() -> None:
    tokenizer = FastTokenizer(backend(specials=False), "test")
    assert tokenizer.identity.n_special_tokens == 0
    assert as_lists(tokenizer.encode(["a b c"], 2)) == ([2], [0, 1], [4, 5])


def test_a_special_token_spelled_out_in_the_text_is_content() -> None:
    tokenizer = FastTokenizer(backend(specials=True), "test")
    assert as_lists(tokenizer.encode(["a [SEP] zzz"], 9)) == ([3], [1, 2, 3], [4, 3, 1])


def test_padding_and_truncation_of_the_file_do_not_leak(tmp_path: Path) -> None:
    plain, padded = backend(specials=True), backend(specials=True)
    padded.enable_padding(length=32, direction="left")
    padded.enable_truncation(2, direction="left")
    for name, tokenizer in (("plain", plain), ("padded", padded)):
        tokenizer.save(str(tmp_path / f"{name}.json"))
    one, other = (load_tokenizer(tmp_path / f"{name}.json") for name in ("plain", "padded"))
    assert as_lists(one.encode(["a b c", "a"], 16)) == as_lists(other.encode(["a b c", "a"], 16))
    assert one.identity.sha256 == other.identity.sha256
    assert one.identity.matches(other.identity)


def test_identity_tells_tokenizers_apart() -> None:
    assert not FastTokenizer(backend(specials=True), "x").identity.matches(
        FastTokenizer(backend(specials=False), "x").identity
    )


def test_vocabulary_reaches_the_largest_id(tmp_path: Path) -> None:
    definition = json.loads(backend(specials=False).to_str())
    definition["model"]["vocab"]["rare"] = 100_000
    (tmp_path / "t.json").write_text(json.dumps(definition))
    tokenizer = load_tokenizer(tmp_path / "t.json")
    assert tokenizer.identity.vocab_size == 100_001
    assert tokenizer.encode(["rare"], 4).tokens.tolist() == [100_000]
    assert tokenizer.encode(["rare"], 4).tokens.dtype == np.int64


def test_a_model_directory(tmp_path: Path) -> None:
    backend(specials=True).save(str(tmp_path / "tokenizer.json"))
    assert load_tokenizer(tmp_path).identity.vocab_size == 7
    (tmp_path / "tokenizer.json").rename(tmp_path / "vocab.txt")
    with pytest.raises(TokenizerError, match=r"no tokenizer.json: write one with transformers"):
        load_tokenizer(tmp_path)


def test_objects_of_the_library_are_copied() -> None:
    theirs = backend(specials=True)
    theirs.enable_truncation(2)
    tokenizer = load_tokenizer(theirs)
    assert tokenizer.encode(["a b c"], 8).lengths.tolist() == [3]
    assert theirs.truncation is not None
    assert len(theirs.encode("a b c")) == 2
    for wrong in (5, None, object()):
        with pytest.raises(TokenizerError, match=f"got {type(wrong).__name__} for a tokenizer"):
            load_tokenizer(wrong)


def test_an_instance_is_taken_as_it_is() -> None:
    tokenizer = load_tokenizer("bytes")
    assert load_tokenizer(tokenizer) is tokenizer


@pytest.mark.parametrize("name", ["./missing", "missing.json", "/no/such/dir", "a/b/c", "", " "])
def test_missing_paths_do_not_ask_the_hub(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", lambda *_: pytest.fail("asked the hub"))
    with pytest.raises(TokenizerError, match=r"-t takes a tokenizer\.json, a model directory, a hub name"):
        load_tokenizer(name)


def no_network(*_: object, **__: object) -> None:
    raise OSError("no network")


def test_a_hub_name_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", no_network)
    with pytest.raises(TokenizerError, match=r"none available from the hub \(no network\)") as caught:
        load_tokenizer("no-such-owner/no-such-model")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("online", [True, False])
def test_a_hub_name_is_downloaded_or_taken_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, online: bool
) -> None:
    backend(specials=True).save(str(tmp_path / "tokenizer.json"))
    asked: list[dict[str, object]] = []

    def download(name: str, file: str, **options: object) -> str:
        asked.append({"name": name} | options)
        return str(tmp_path / file)

    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", (lambda _: None) if online else no_network)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    tokenizer = load_tokenizer("owner/model")
    assert tokenizer.identity.name == "owner/model"
    assert tokenizer.identity.vocab_size == 7
    assert asked == [{"name": "owner/model"} | ({} if online else {"local_files_only": True})]


@pytest.mark.parametrize("content", ["", "{}", "not json", '{"version": "1.0", "model": {"type": "Odd"}}'])
def test_files_that_are_no_tokenizer(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(TokenizerError, match=r"is not a tokenizer\.json") as caught:
        load_tokenizer(tmp_path / "tokenizer.json")
    assert "\n" not in str(caught.value)


def test_binary_tokenizer_file(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TokenizerError, match="cannot read tokenizer"):
        load_tokenizer(tmp_path / "t.json")


def test_no_room_for_content() -> None:
    tokenizer = FastTokenizer(backend(specials=True), "test")
    with pytest.raises(TokenizerError, match=r"n = 2 leaves no room for content: .* adds 2 special tokens"):
        tokenizer.encode(["a"], 2)
