import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from posgeom.counts.counting import count, count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts, write_counts
from posgeom.errors import CorpusError, CountsError
from posgeom.options import NullKind

TEXTS = ["the cat sat", "", "the \u4e2d\u6587 dog", "</script><b>"]


def assert_equal(a: PositionCounts, b: PositionCounts) -> None:
    for name in ("fold", "position", "token", "count", "documents"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for name in ("n_positions", "tokenizer", "empty_documents", "vocabulary", "sources", "columns", "grouped_by"):
        assert getattr(a, name) == getattr(b, name), name


@pytest.mark.parametrize("tokenizer", ["whitespace", "chars", "bytes"])
def test_round_trip(tmp_path: Path, tokenizer: str) -> None:
    counts = count_texts(TEXTS, tokenizer, n_positions=6, n_folds=4, groups=["a", "b", "a", "c"])
    write_counts(counts, tmp_path / "c.parquet")
    assert_equal(read_counts(tmp_path / "c.parquet"), counts)


@pytest.mark.parametrize(("tokenizer", "kind"), [("whitespace", "rotate"), ("bytes", "permute")])
def test_null_corpora_and_engines_travel_with_the_counts(tmp_path: Path, tokenizer: str, kind: NullKind) -> None:
    counts = count_texts(TEXTS * 3, tokenizer, n_positions=6, n_folds=4, null_replicates=3, seed=7, null_kind=kind)
    counts = replace(counts, engines=("e 1",), engine_notes=("a; b",))
    write_counts(counts, tmp_path / "c.parquet")
    stored = read_counts(tmp_path / "c.parquet")
    assert (len(stored.null), stored.null_seed, stored.engines, stored.engine_notes) == (3, 7, ("e 1",), ("a; b",))
    for a, b in zip((stored, *stored.null), (counts, *counts.null), strict=True):
        assert_equal(a, b)
    assert (stored.null_kind, stored.checksum) == (kind, counts.checksum)
    assert pq.read_table(tmp_path / "c.parquet").column_names[0] == "replicate"
    damage(tmp_path / "c.parquet", null_replicates=2)
    with pytest.raises(CountsError, match="the replicates are not 0 to 2 in order"):
        read_counts(tmp_path / "c.parquet")


def test_the_file_is_a_plain_table_with_readable_tokens(tmp_path: Path) -> None:
    counts = count_texts(TEXTS, n_positions=6)
    write_counts(counts, tmp_path / "c.parquet")
    table = pq.read_table(tmp_path / "c.parquet")
    assert table.column_names == ["fold", "position", "token", "count", "text"]
    words = counts.vocabulary
    assert words is not None
    assert table["text"].to_pylist() == [words[t] for t in counts.token]


def test_the_same_counts_give_the_same_bytes(tmp_path: Path) -> None:
    for name, order in (("a", 1), ("b", -1)):
        write_counts(count_texts(TEXTS[::order], n_positions=6), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def damage(path: Path, **changes: object) -> None:
    table = pq.read_table(path)
    header = json.loads(table.schema.metadata[b"posgeom.counts"]) | changes
    header = {k: v for k, v in header.items() if v != "drop"}
    pq.write_table(table.replace_schema_metadata({b"posgeom.counts": json.dumps(header).encode()}), path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema_version": 99}, "schema 99, this version reads schema 5: count again"),
        ({"schema_version": 3}, "schema 3, this version reads schema 5: count again"),
        ({"copies": {"digests": [1]}}, "is damaged"),
        ({"copies": {"digests": [2, 1], "documents": [1, 1]}}, "is damaged"),
        ({"copies": {"digests": [1], "documents": [0]}}, "is damaged"),
        ({"fold_values": []}, "is damaged"),
        ({"min_length": 99}, "is damaged"),
        ({"min_length": "x"}, "is damaged"),
        ({"short_documents": 3}, "is damaged"),
        ({"bins": {"kind": "uniform"}}, "is damaged"),
        ({"bins": {"kind": "uniform", "edges": [0, 5, 3, 6]}}, "is damaged"),
        ({"bins": {"kind": "uniform", "edges": [0, 3, 6]}}, "is damaged"),
        ({"bins": [0, 3, 6]}, "is damaged"),
        ({"shingles": {"length": 12}}, "is damaged"),
        ({"shingles": {"length": 12, "hashes": [-1], "documents": [1], "folds": [0]}}, "is damaged"),
        ({"shingles": {"length": 12, "hashes": [2**70], "documents": [1], "folds": [0]}}, "is damaged"),
        ({"shingles": {"length": 12, "hashes": [1, 1], "documents": [1, 1], "folds": [0, 0]}}, "is damaged"),
        ({"n_positions": 1}, "position 3 is out of range"),
        ({"documents": "drop"}, "is damaged"),
        ({"documents": "x"}, "is damaged"),
        ({"tokenizer": {"kind": "x"}}, "is damaged"),
        ({"vocabulary_size": 1}, "is damaged"),
        ({"vocabulary_size": None}, "is damaged"),
        ({"documents": [10**30]}, "is damaged"),
        ({"documents": [-5] * 10}, "is damaged"),
        ({"documents": [1.5] * 10}, "is damaged"),
        ({"n_positions": float("inf")}, "is damaged"),
        ({"n_positions": 10**30}, "is damaged"),
        ({"empty_documents": 5}, "is damaged"),
        ({"sources": "abc"}, "is damaged"),
        ({"schema_version": True}, "is damaged"),
    ],
)
def test_damaged_headers(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = tmp_path / "c.parquet"
    write_counts(count_texts(["a b c d"], n_positions=6), path)
    damage(path, **changes)
    with pytest.raises(CountsError, match=message) as caught:
        read_counts(path)
    assert "c.parquet" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_of_the_schema_before(tmp_path: Path) -> None:
    """Their null corpora are permuted, and a column decided their folds, whatever it was called."""
    path = tmp_path / "c.parquet"
    counts = count_texts(TEXTS, n_positions=6, null_replicates=2, null_kind="permute")
    for column, grouped_by in ((None, None), ("g", "g"), ("row", "column:row")):
        write_counts(counts, path)
        damage(
            path,
            schema_version=4,
            grouped_by=column,
            passages=None,
            null_kind="drop",
            copies="drop",
            fold_values="drop",
        )
        found = read_counts(path)
        assert (found.grouped_by, found.null_kind, found.checksum) == (grouped_by, "permute", counts.checksum)
        assert found.copies is None
    write_counts(counts, path)
    damage(path, null_kind="shuffle")
    with pytest.raises(CountsError, match="null corpora of kind 'shuffle': expected permute or rotate"):
        read_counts(path)


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(CountsError, match="cannot read counts from"):
        read_counts(tmp_path / "missing.parquet")
    (tmp_path / "text").write_text("no parquet")
    with pytest.raises(CountsError, match="cannot read counts from"):
        read_counts(tmp_path / "text")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other.parquet")
    with pytest.raises(CountsError, match="holds no position counts"):
        read_counts(tmp_path / "other.parquet")
    write_counts(count_texts(["a b"]), tmp_path / "c.parquet")
    whole = (tmp_path / "c.parquet").read_bytes()
    (tmp_path / "c.parquet").write_bytes(whole[:-20])
    with pytest.raises(CountsError, match="cannot read counts from"):
        read_counts(tmp_path / "c.parquet")


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("count", [1.5, 1.0]),
        ("count", [None, 1]),
        ("count", ["1", "1"]),
        ("text", [None, "b"]),
        ("token", [0, 5]),
    ],
)
def test_damaged_columns(tmp_path: Path, column: str, values: list[object]) -> None:
    path = tmp_path / "c.parquet"
    write_counts(count_texts(["a b"]), path)
    table = pq.read_table(path)
    changed = table.set_column(table.column_names.index(column), column, pa.array(values))
    pq.write_table(changed, path)
    with pytest.raises(CountsError, match="is damaged"):
        read_counts(path)


def test_names_that_are_not_unicode(tmp_path: Path) -> None:
    path = tmp_path / "\udcff.parquet"
    counts = count_texts(TEXTS)
    write_counts(counts, path)
    assert_equal(read_counts(path), counts)


def test_counts_are_not_mistaken_for_documents(tmp_path: Path) -> None:
    write_counts(count_texts(TEXTS), tmp_path / "c.parquet")
    with pytest.raises(CorpusError, match="holds position counts, not documents: name it with --counts"):
        count(tmp_path / "c.parquet")
