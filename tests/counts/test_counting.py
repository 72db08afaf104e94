import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from posgeom.counts import tallying
from posgeom.counts.counting import count, count_texts
from posgeom.counts.folds import folds_of, group_digests, row_digests
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CorpusError, CountsError
from posgeom.options import ReadOptions


def as_counter(counts: PositionCounts) -> Counter[tuple[int, int, str]]:
    words = counts.vocabulary
    return Counter(
        {
            (int(f), int(p), chr(t) if words is None else words[t]): int(c)
            for f, p, t, c in zip(counts.fold, counts.position, counts.token, counts.count, strict=True)
        }
    )


def slow(texts: list[str], n: int, n_folds: int, keys: list[str] | None = None) -> Counter[tuple[int, int, str]]:
    out: Counter[tuple[int, int, str]] = Counter()
    for text, fold in zip(texts, folds_of(group_digests(keys or texts), n_folds), strict=True):
        for position, word in enumerate(text.split()[:n]):
            out[int(fold), position, word] += 1
    return out


TEXTS = ["the cat sat", "the dog", "", "cat cat cat cat cat", "the cat sat", "\u4e2d \u00e9 x"]


def test_agrees_with_a_loop() -> None:
    counts = count_texts(TEXTS, n_positions=4, n_folds=3)
    assert as_counter(counts) == slow(TEXTS, 4, 3)
    assert counts.n_documents == 6
    assert counts.empty_documents == 1
    assert counts.n_tokens == 15
    assert counts.vocab_size == 7
    assert counts.depth.tolist() == [5, 5, 4, 1]


def test_characters() -> None:
    counts = count_texts(["ab", "b\U0001f600"], "chars", n_positions=5, n_folds=1)
    assert as_counter(counts) == Counter({(0, 0, "a"): 1, (0, 0, "b"): 1, (0, 1, "b"): 1, (0, 1, "\U0001f600"): 1})


def test_groups_decide_the_folds() -> None:
    groups = ["x", "y", "x", "y", "z", "z"]
    counts = count_texts(TEXTS, n_positions=4, n_folds=5, groups=groups)
    assert as_counter(counts) == slow(TEXTS, 4, 5, groups)
    assert counts.grouped_by == "groups"


def test_rows_decide_the_folds_whatever_the_batches_and_workers(tmp_path: Path) -> None:
    texts = [f"{i % 3} {i % 4}" if i % 5 else "" for i in range(1000)]
    whole = count_texts(texts, n_positions=4, n_folds=7, fold_by="row", null_replicates=1)
    folds = folds_of(row_digests(0, 1000), 7)
    assert whole.documents.tolist() == np.bincount(folds).tolist()
    assert as_counter(whole) == Counter(
        (int(fold), position, word)
        for text, fold in zip(texts, folds, strict=True)
        for position, word in enumerate(text.split())
    )
    assert whole.grouped_by == "row"
    for size, workers in ((1, 3), (7, 2), (999, 1)):
        other = count_texts(
            texts, n_positions=4, n_folds=7, fold_by="row", null_replicates=1, batch_size=size, workers=workers
        )
        assert other.checksum == whole.checksum
    # A row is a document's number in the corpus, over all its files.
    (tmp_path / "a.txt").write_text("\n".join(texts[:300]) + "\n")
    (tmp_path / "b.jsonl").write_text("".join(json.dumps({"text": text}) + "\n\n" for text in texts[300:]))
    files = [tmp_path / "a.txt", tmp_path / "b.jsonl"]
    found = count(files, n_positions=4, n_folds=7, fold_by="row", null_replicates=1, options=ReadOptions(batch_size=90))
    assert found.checksum == whole.checksum


@pytest.mark.slow
def test_folds_of_short_documents_are_independent_by_row_and_not_by_text() -> None:
    """Documents of 2.5 of 40 words on average coincide by chance: those of one text then miss in the other folds."""
    for fold_by, expected in (("text", -0.36), ("row", 0.0)):
        agreement = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            texts = [" ".join(f"w{w}" for w in rng.integers(0, 40, 1 + rng.poisson(1.5))) for _ in range(2000)]
            counts = count_texts(texts, n_positions=4, n_folds=2, fold_by=fold_by)  # type: ignore[arg-type]
            first, second = (fold.toarray() for fold in counts.fold_matrices)
            a, b = (m[0] - m[1] * m[0].sum() / m[1].sum() for m in (first, second))  # 0 but for noise
            agreement.append(a @ b / np.sqrt((a @ a) * (b @ b)))
        assert abs(np.mean(agreement) - expected) < 3 * np.std(agreement) / np.sqrt(40)


def test_columns_called_text_and_row_can_decide_folds(tmp_path: Path) -> None:
    rows = [{"body": f"word {i}", "row": i % 2, "text": i % 3, "column:x": i % 4, "g": i % 5} for i in range(60)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for fold_by, column, recorded in (
        ("column:row", "row", "column:row"),
        ("column:text", "text", "column:text"),
        ("column:column:x", "column:x", "column:column:x"),
        ("column:g", "g", "g"),
        ("g", "g", "g"),
    ):
        counts = count(path, column="body", fold_by=fold_by, n_folds=50)
        values = [str(row[column]) for row in rows]
        expected = np.bincount(folds_of(group_digests(values), 50), minlength=50)
        assert (counts.grouped_by, counts.documents.tolist()) == (recorded, expected.tolist())
    for fold_by, grouped_by in (("row", "row"), ("text", None)):
        counts = count(path, column="body", fold_by=fold_by)
        assert (counts.grouped_by, (counts.documents > 0).sum()) == (grouped_by, 10)
    with pytest.raises(CorpusError, match="no column 'x'"):
        count(path, column="body", fold_by="column:x")


def test_duplicates_share_a_fold() -> None:
    counts = count_texts(["same words here"] * 50, n_folds=10)
    assert (counts.documents > 0).sum() == 1


def test_compaction_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{i % 7} {i % 5} {i % 3}" for i in range(500)]
    reference = count_texts(texts)
    monkeypatch.setattr(tallying, "_PENDING_BYTES", 24)
    monkeypatch.setattr(tallying, "_FEW_KEYS", 3)
    assert as_counter(count_texts(texts, batch_size=11)) == as_counter(reference)


def test_a_generator_is_consumed_in_batches() -> None:
    alive: list[int] = []

    def generate() -> Iterator[str]:
        for i in range(10_000):
            alive.append(i)
            yield f"{i} words"

    counts = count_texts(generate(), n_positions=3, batch_size=100, workers=2)
    assert counts.n_documents == len(alive) == 10_000


def test_files_of_several_formats_and_their_columns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\nthree\n")
    (tmp_path / "b.jsonl").write_text('{"text": "one", "g": "u"}\n{"text": "four", "g": "v"}\n')
    counts = count([tmp_path / "a.txt", tmp_path / "b.jsonl"], n_folds=2)
    assert counts.n_documents == 4
    assert counts.columns == ("text",)
    assert counts.sources == (str(tmp_path / "a.txt"), str(tmp_path / "b.jsonl"))
    grouped = count(tmp_path / "b.jsonl", fold_by="g", n_folds=64)
    assert as_counter(grouped) == as_counter(
        count(tmp_path / "b.jsonl", options=ReadOptions(fold_by="g", column="text"), n_folds=64)
    )
    assert set(np.unique(grouped.fold)) == set(folds_of(group_digests(["u", "v"]), 64).tolist())
    assert grouped.grouped_by == "g"


def test_columns_may_be_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("g\tone two\nh\tthree\n")
    counts = count(tmp_path / "a.tsv", column=2, fold_by=1, options=ReadOptions(header=False))
    assert (counts.columns, counts.grouped_by, counts.n_tokens) == (("2",), "1", 3)


def test_one_file_with_four_workers_yields_no_duplicates(tmp_path: Path) -> None:
    lines = [f"line {i} of many" for i in range(9000)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    one, four = (count(tmp_path / "a.txt", workers=w) for w in (1, 4))
    assert one.n_documents == four.n_documents == 9000
    assert as_counter(one) == as_counter(four) == slow(lines, 128, 10)


def test_progress_reaches_the_size_of_the_input(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("some words\n" * 5000)
    seen: list[tuple[str, int, int | None]] = []
    count(tmp_path / "a.txt", progress=lambda *x: seen.append(x))
    assert seen[-1] == ("counting", 55_000, 55_000)
    assert [x[1] for x in seen] == sorted(x[1] for x in seen)


def test_a_document_of_more_than_a_million_characters(data_dir: Path, bert: Path) -> None:
    counts = count_texts(["position matters " * 80_000, "short"], bert, n_positions=64)
    assert counts.depth.tolist() == [0, 2] + [1] * 61 + [0]


def test_default_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "a.fasta").write_text(">x\nACGT\n")
    (tmp_path / "a.txt").write_text("ACGT\n")
    assert count(tmp_path / "a.fasta").tokenizer.name == "chars"
    assert count(tmp_path / "a.txt").tokenizer.name == "whitespace"
    assert count(tmp_path / "a.fasta", "bytes").tokenizer.name == "bytes"


@pytest.mark.parametrize(
    ("texts", "settings", "message"),
    [
        ([], {}, "no documents in texts"),
        (["", " "], {}, "all 2 documents in texts are empty"),
        (["a"], {"n_positions": 1}, "n = 1: a distance needs at least 2 positions"),
        (["a"], {"n_folds": 0}, "0 folds"),
        (["a"], {"n_folds": 10**6}, "1000000 folds: expected 1 to 1,000"),
        (["a"], {"batch_size": 0}, "batch size 0"),
        (["a"], {"workers": 0}, "0 workers"),
        (["a"], {"n_positions": 2**40}, "do not fit in 64 bits"),
        (["a", 5], {}, "row 2: got int, expected text"),
        (["a", "b\ud800"], {}, "row 2: lone surrogate"),
        (["a", "b"], {"groups": ["x"]}, "groups ends before document 2"),
        (["a"], {"groups": ["x", "y"]}, "groups has more than the 1 values"),
        (["a", "b"], {"groups": ["x", None]}, "row 2: got NoneType"),
        (["a"], {"fold_by": "author"}, "fold_by 'author': expected text or row"),
        (["a"], {"fold_by": "row", "groups": ["x"]}, "fold_by 'row': expected text or row, or groups alone"),
        (["a"], {"null_kind": "shuffle"}, "null kind 'shuffle': expected permute or rotate"),
        ("a string", {}, "expected an iterable of documents"),
    ],
)
def test_bad_input(texts: object, settings: dict[str, object], message: str) -> None:
    with pytest.raises((CorpusError, CountsError), match=message):
        count_texts(texts, **settings)  # type: ignore[arg-type]


CHECKSUMS = {
    "sst2": ("sentence", 128, "ce3dba78e5c19b7b"),
    "imdb": ("text", 256, "e647e8b42379ac73"),
}
"""Column, context length and the first digits of the checksum of the counts by BERT's tokenizer, ten folds."""


@pytest.mark.parametrize("engine", ["auto", "chunks"])
@pytest.mark.parametrize("name", CHECKSUMS)
def test_public_corpora_give_the_same_counts_everywhere(data_dir: Path, bert: Path, name: str, engine: str) -> None:
    column, n, expected = CHECKSUMS[name]
    options = ReadOptions(batch_size=1500 if engine == "auto" else 4000)
    path = data_dir / f"{name}.parquet"
    counts = count(
        path, bert, n_positions=n, column=column, options=options, tokenizer_engine=engine, workers=1 + (name == "imdb")
    )
    assert counts.checksum.startswith(expected)
    assert not counts.engine_notes


def test_the_reference_gives_the_same_counts(data_dir: Path, bert: Path) -> None:
    column, n, expected = CHECKSUMS["sst2"]
    counts = count(data_dir / "sst2.parquet", bert, n_positions=n, column=column, tokenizer_engine="reference")
    assert counts.checksum.startswith(expected)
    assert counts.engines[0].startswith("tokenizers")


def test_a_checksum_sees_every_number() -> None:
    texts = ["a b", "b c", "c a b"]
    settings: list[dict[str, object]] = [
        {},
        {"n_positions": 5},
        {"n_folds": 3},
        {"null_replicates": 1},
        {"null_replicates": 1, "seed": 1},
        {"null_replicates": 1, "null_kind": "permute"},
    ]
    found = [count_texts(texts * 9, **({"n_positions": 4, "n_folds": 2} | s)).checksum for s in settings]  # type: ignore[arg-type]
    found += [count_texts(other, n_positions=4, n_folds=2).checksum for other in (texts, ["a b", "b d", "d a b"] * 9)]
    assert len(set(found)) == len(found)
    assert count_texts(texts[::-1] * 9, n_positions=4, n_folds=2).checksum == found[0]


@pytest.mark.slow
def test_long_contexts_and_large_vocabularies() -> None:
    n, vocab_size = 131_072, 262_144
    tokenizer = Tokenizer(models.WordLevel({f"w{i}": i for i in range(vocab_size)}, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ids = [(i * 7919) % vocab_size for i in range(n + 10)]
    long = " ".join(f"w{i}" for i in ids)
    counts = count_texts([long, "w262143 w5", long + " x"], tokenizer, n_positions=n, null_replicates=1)
    assert counts.depth[[0, 1, 2, n - 1]].tolist() == [3, 3, 2, 2]
    assert counts.vocab_size == vocab_size
    at = (counts.position == n - 1).nonzero()[0]
    assert set(counts.token[at].tolist()) == {ids[n - 1]}
    assert counts.count[at].sum() == 2
    assert counts.null[0].n_tokens == counts.n_tokens == 2 * n + 2


def test_tables_and_mappings_are_no_documents() -> None:
    class DataFrame(list[str]):
        columns = ("text",)

    for value in ({"text": ["one two"]}, DataFrame(["text"]), pa.table({"text": ["one two"]})):
        expected = f"is a {type(value).__name__}: expected one column of strings; "
        with pytest.raises(CorpusError, match=f"texts {expected}name one of 'text' with column="):
            count_texts(value)
        with pytest.raises(CorpusError, match=f"groups {expected}pass one of 'text'"):
            count_texts(["one"], groups=value)
        with pytest.raises(CorpusError, match=f"corpus {expected}name one of 'text' with column="):
            count(value)
    for value in (5, b"one two"):
        name = type(value).__name__
        with pytest.raises(CorpusError, match=f"texts is a {name}: expected an iterable of strings"):
            count_texts(value)  # type: ignore[arg-type]
        with pytest.raises(CorpusError, match=f"groups is a {name}: expected an iterable of strings"):
            count_texts(["one"], groups=value)  # type: ignore[arg-type]
        with pytest.raises(CorpusError, match=f"corpus is a {name}: expected names of files; documents in memory"):
            count(value)  # type: ignore[arg-type]
    with pytest.raises(CorpusError, match="texts is None"):
        count_texts(None)  # type: ignore[arg-type]
    with pytest.raises(CorpusError, match="groups is a str"):
        count_texts(["one"], groups="g")
    with pytest.raises(CorpusError, match="corpus holds a list: expected names of files"):
        count([["one two"]])


def test_sequences_are_characters_whatever_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name in ("a.fa", "a.a2m", "noextension"):
        (tmp_path / name).write_text(">a\nACGT\n>b\nACGA\n>c\nAAGA\n")
        counts = count(tmp_path / name, n_positions=4, n_folds=2)
        found.append((counts.tokenizer.name, counts.checksum))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "a.fa").read_bytes())))
    counts = count("-", n_positions=4, n_folds=2)
    found.append((counts.tokenizer.name, counts.checksum))
    assert found[0][0] == "chars"
    assert found == found[:1] * 4
