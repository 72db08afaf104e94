import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from posgeom.corpus.texts import Texts
from posgeom.counts.counting import count, count_texts
from posgeom.errors import TokenizerError
from posgeom.tokenize.engines import choice
from posgeom.tokenize.engines.base import Engine, Ragged, UnsupportedTokenizer
from posgeom.tokenize.engines.reference import Reference
from posgeom.tokenize.tokenizer_files import FastTokenizer, load_tokenizer
from posgeom.tokenize.tokenizers import Tokenizer as Contract
from tests.tokenize.engines.helpers import make

ODD = "xyzzy"


class Liar(Engine):
    """Right, but for documents with a word that no self-check has."""

    name = "liar 1"

    def __init__(self, reference: Reference, fault: str) -> None:
        self._reference, self._fault = reference, fault

    def encode(self, texts: Texts, n_tokens: int) -> Ragged:
        lengths, ids = self._reference.encode(texts, n_tokens)
        if any(ODD in text for text in texts):
            if self._fault == "panic":
                raise BaseException("index out of bounds")  # noqa: TRY002  as a panic of compiled code arrives
            ids = ids + 1 if self._fault == "ids" else ids
        return lengths, ids


@pytest.fixture(params=["ids", "panic"])
def liar(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    engines = {"nanotoken": lambda _, reference: Liar(reference, request.param)}
    monkeypatch.setattr(choice, "_ENGINES", engines | {"chunks": choice._ENGINES["chunks"]})
    return str(request.param)


def documents(n: int) -> list[str]:
    return [f"def word{i} return {i % 7}" for i in range(n)]


def test_auto_takes_the_fastest_that_is_known() -> None:
    for kind, engine in (("bert", "nanotoken"), ("gpt2", "gigatoken"), ("llama3", "fastokens"), ("digits", "chunks")):
        assert (load_tokenizer(make(kind)).engine or "").startswith(engine), kind
    assert (load_tokenizer(make("bert"), "reference").engine or "").startswith("tokenizers")
    assert load_tokenizer("whitespace").engine is None


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda _: None)
    assert (load_tokenizer(make("bert")).engine or "").startswith("chunks")
    with pytest.raises(TokenizerError, match=r"nanotoken is not installed: pip install 'posgeom\[fast\]'"):
        load_tokenizer(make("bert"), "nanotoken")


@pytest.mark.parametrize(
    ("kind", "engine", "message"),
    [
        ("bert", "gigatoken", "engine gigatoken is not known to do this kind of tokenizer exactly: use auto"),
        ("gpt2", "nanotoken", "engine nanotoken is not known to do this kind of tokenizer exactly: use auto"),
        ("gpt2-split", "fastokens", "engine fastokens is not known to do this kind"),
        ("bert", "warp", "no tokenizer engine 'warp': expected one of auto, reference, nanotoken"),
    ],
)
def test_names_that_will_not_do(kind: str, engine: str, message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        load_tokenizer(make(kind), engine)


def test_tokenizers_without_a_choice() -> None:
    loaded = load_tokenizer("chars")
    for spec in ("chars", loaded):
        with pytest.raises(TokenizerError, match="engine chunks has no part in"):
            load_tokenizer(spec, "chunks")
        assert load_tokenizer(spec, "reference")


def plain(pre_tokenizer: pre_tokenizers.PreTokenizer | None = None, **model: object) -> Tokenizer:
    tokenizer = make("gpt2")
    parsed = json.loads(tokenizer.to_str())
    parsed["model"] |= model
    tokenizer = Tokenizer.from_str(json.dumps(parsed))
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    return tokenizer


def with_normalised_token() -> Tokenizer:
    tokenizer = make("wordpiece-nfkc")
    tokenizer.add_tokens(["Foo"])
    return tokenizer


def with_inner_special() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "[SEP]": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A [SEP] $A", special_tokens=[("[SEP]", 1)])
    return tokenizer


@pytest.mark.parametrize(
    ("tokenizer", "reason"),
    [
        (plain(pre_tokenizers.Metaspace(split=False)), "not known to split its text at spaces"),
        (Tokenizer(models.WordLevel({"a": 0}, unk_token="[UNK]")), "fails on texts with unknown tokens"),
        (with_normalised_token(), "looked for in the normalised text"),
        (with_inner_special(), "special tokens stand inside its content"),
    ],
)
def test_tokenizers_left_to_the_reference(tokenizer: Tokenizer, reason: str) -> None:
    assert (load_tokenizer(tokenizer).engine or "").startswith("tokenizers")
    with pytest.raises(TokenizerError, match=f"engine chunks cannot do this tokenizer, .*{reason}: use auto"):
        load_tokenizer(tokenizer, "chunks")


def test_special_tokens_inside_the_content() -> None:
    tokens = load_tokenizer(with_inner_special()).encode(["a", "a a", ""], 9)
    assert tokens.lengths.tolist() == [2, 4, 0]
    assert tokens.positions.tolist() == [0, 2, 0, 1, 3, 4]


@pytest.mark.parametrize(("n_positions", "occupied"), [(3, [0, 1]), (5, [0, 1, 2, 3]), (6, [0, 1, 2, 3, 5])])
def test_a_template_that_repeats_the_text_ends_at_the_context_length(n_positions: int, occupied: list[int]) -> None:
    texts = [f"a a a a{' ' * i}" for i in range(20)]  # in several folds
    counts = count_texts(texts, with_inner_special(), n_positions=n_positions, n_folds=5)
    assert sorted(set(counts.position.tolist())) == occupied
    assert {int(counts.count[counts.position == i].sum()) for i in occupied} == {20}


def test_an_engine_that_fails_its_self_check_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: str, reference: Reference) -> Engine:
        engine = Liar(reference, "ids")
        monkeypatch.setattr(engine, "encode", lambda texts, n: (np.zeros(len(texts), np.int64), np.empty(0, np.int64)))
        return engine

    monkeypatch.setitem(choice._ENGINES, "nanotoken", wrong)
    for name in ("auto", "nanotoken"):
        tokenizer = load_tokenizer(make("bert"), name)
        assert (tokenizer.engine or "").startswith("chunks" if name == "auto" else "tokenizers")
        assert "liar 1 differs from tokenizers" in (tokenizer.engine_note or "")
        counts = count_texts(["a b"], tokenizer)
        assert counts.engine_notes == (tokenizer.engine_note,)


def test_an_engine_that_refuses_a_file_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str, __: Reference) -> Engine:
        raise UnsupportedTokenizer("no such model")

    monkeypatch.setitem(choice._ENGINES, "nanotoken", refuse)
    tokenizer = load_tokenizer(make("bert"))
    assert (tokenizer.engine or "").startswith("chunks")
    assert tokenizer.engine_note is None


def test_an_engine_that_crashes_on_a_file_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(_: str, __: Reference) -> Engine:
        raise BaseException("index out of bounds")  # noqa: TRY002  as a panic of compiled code arrives

    monkeypatch.setitem(choice._ENGINES, "nanotoken", panic)
    tokenizer = load_tokenizer(make("bert"))
    assert (tokenizer.engine or "").startswith("chunks")
    assert tokenizer.engine_note == "nanotoken crashed (BaseException: index out of bounds); not used"


def test_a_panic_of_the_reference_is_an_error_of_one_line() -> None:
    loaded = load_tokenizer(make("bert"), "reference")

    class Panicking:
        def encode_batch_fast(self, *_: object, **__: object) -> None:
            raise BaseException("bad split")  # noqa: TRY002  as a panic of compiled code arrives

    assert isinstance(loaded, FastTokenizer)
    loaded._reference._tokenizer = Panicking()  # type: ignore[assignment]
    with pytest.raises(TokenizerError, match="the tokenizer failed: bad split"):
        loaded.encode(["a"], 8)


def test_a_file_that_the_library_panics_on() -> None:
    definition = json.loads(Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])).to_str())
    definition["model"]["continuing_subword_prefix"] = "##"
    with pytest.raises(TokenizerError, match=r"'t.json' is not a tokenizer\.json of the `tokenizers` library: "):
        FastTokenizer.from_definition(json.dumps(definition), "t.json")


@pytest.mark.parametrize("workers", [1, 3])
def test_any_difference_starts_the_counting_afresh(liar: str, workers: int) -> None:
    # Far into the corpus and on a document that the sample holds; nothing of what the engine counted may remain.
    texts = documents(10_000)
    texts[8001:8400] = [f"{text} {ODD}" for text in texts[8001:8400]]
    counts = count_texts(texts, make("bert"), workers=workers, null_replicates=1)
    expected = count_texts(texts, make("bert"), tokenizer_engine="reference", null_replicates=1)
    for name in ("fold", "position", "token", "count", "documents"):
        np.testing.assert_array_equal(getattr(counts, name), getattr(expected, name))
        np.testing.assert_array_equal(getattr(counts.null[0], name), getattr(expected.null[0], name))
    assert counts.engines == expected.engines
    [note] = counts.engine_notes
    said = {"ids": "liar 1 differs from tokenizers", "panic": "liar 1 crashed (BaseException: index out of bounds)"}
    assert said[liar] in note
    assert note.endswith("; counted again")
    if liar == "ids":
        assert "'texts', row 8" in note


def test_the_first_documents_are_always_compared(liar: str) -> None:
    assert count_texts([ODD, "a"], make("bert")).engine_notes


def test_files_are_read_again(liar: str, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("\n".join([*documents(50), ODD]))
    counts = count(tmp_path / "c.txt", make("bert"))
    assert counts.n_documents == 51
    assert counts.engine_notes


def test_an_iterator_cannot_be_read_again(liar: str) -> None:
    with pytest.raises(TokenizerError, match="cannot be read twice: use --tokenizer-engine reference"):
        count_texts(iter([ODD]), make("bert"))


def test_documents_that_spell_out_an_added_token_go_to_the_reference() -> None:
    texts = ["a [SEP] b", "[CLS][CLS]", "plain def", "[MASK]"] * 3
    for name in ("nanotoken", "chunks"):
        engine, reference = (FastTokenizer(make("bert"), "t", e).encode(texts, 16) for e in (name, "reference"))
        np.testing.assert_array_equal(engine.tokens, reference.tokens)
        np.testing.assert_array_equal(engine.positions, reference.positions)


def test_the_contract_of_a_tokenizer_of_ones_own() -> None:
    loaded = load_tokenizer("bytes")
    assert isinstance(loaded, Contract)
    assert loaded.on_reference("why") is loaded
