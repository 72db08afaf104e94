"""Planning: what is divided and what is not, and that the counts do not depend on it."""

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posgeom.corpus.sources import resolve_sources
from posgeom.counts.cluster.partitions import Partition, plan
from posgeom.counts.counting import count
from posgeom.errors import CorpusError
from posgeom.options import ReadOptions
from tests.counts.cluster.helpers import assert_identical, count_here, words

ROWS = [line for line in words(200).splitlines() if line]


def planned(path: Path, size: int | None = None, **options: Any) -> list[Partition]:
    read_options = ReadOptions(**options)
    return plan(resolve_sources([path], read_options), read_options, size)


def write_text(path: Path) -> None:
    path.write_text("".join(f"{row}\n\n" for row in ROWS))


def write_windows_text(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(ROWS).encode())


def write_objects(path: Path) -> None:
    lines = [json.dumps({"id": i, "body": row, "by": i % 7}) for i, row in enumerate(ROWS)]
    path.write_text("\n\n".join(lines) + "\n")


def write_strings(path: Path) -> None:
    path.write_text("\n".join(map(json.dumps, ROWS)))


def write_rows(path: Path) -> None:
    path.write_text("\n\nid\tbody\tby\n" + "".join(f"{i}\t{row}\t{i % 7}\n\n" for i, row in enumerate(ROWS)))


def write_headless(path: Path) -> None:
    path.write_text("\n" + "".join(f"{i},{row}\n" for i, row in enumerate(ROWS)))


def write_groups(path: Path) -> None:
    table = pa.table({"id": range(len(ROWS)), "body": ROWS, "by": [i % 7 for i in range(len(ROWS))]})
    pq.write_table(table, path, row_group_size=13)


DIVIDED: list[tuple[str, Any, dict[str, Any]]] = [
    ("a.txt", write_text, {}),
    ("b.txt", write_windows_text, {}),
    ("c.jsonl", write_objects, {"fold_by": "by"}),
    ("d.jsonl", write_strings, {}),
    ("e.tsv", write_rows, {"fold_by": "by"}),
    ("f.tsv", write_rows, {"column": "2"}),
    ("g.csv", write_headless, {"header": False, "quoting": "none"}),
    ("h.parquet", write_groups, {"fold_by": "by"}),
]


@pytest.mark.parametrize(("name", "write", "options"), DIVIDED, ids=[name for name, _, _ in DIVIDED])
@pytest.mark.parametrize("size", [331, 1000, 10**6])
def test_the_counts_do_not_depend_on_the_partitions(
    tmp_path: Path, name: str, write: Any, options: dict[str, Any], size: int
) -> None:
    path = tmp_path / name
    write(path)
    assert (len(planned(path, size, **options)) > 1) == (size < 10**6)
    found = count_here([path], size, tmp_path / "run", **options)
    whole = count(path, n_positions=8, n_folds=3, options=ReadOptions(**options))
    assert found.columns == whole.columns
    assert found.n_documents == whole.n_documents > 100
    for name in ("fold", "position", "token", "count", "documents"):
        assert getattr(found, name).tobytes() == getattr(whole, name).tobytes()
    assert found.vocabulary == whole.vocabulary


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text("ab \r\u00e9", max_size=9), max_size=30), st.integers(1, 60), st.integers(1, 60))
def test_any_text_in_any_partitions(lines: list[str], size: int, other: int) -> None:
    with TemporaryDirectory() as directory:
        path = Path(directory, "corpus.txt")
        path.write_text("a\n" + "\n".join(lines), newline="")
        one = count_here([path], size, Path(directory, "one"), tokenizer="chars")
        assert_identical(one, count_here([path], other, Path(directory, "other"), tokenizer="chars"))


def test_what_cannot_be_divided_stays_in_one_piece(tmp_path: Path) -> None:
    text = words(100).encode()
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text))
    (tmp_path / "b.txt").write_bytes(gzip.compress(text))
    (tmp_path / "c.csv").write_text('text\n"one\ntwo"\nthree\n' * 20)
    (tmp_path / "d.fasta").write_text(">a\nACGT\nACGT\n" * 20)
    for name in ("a.txt.gz", "b.txt", "c.csv", "d.fasta"):
        assert len(planned(tmp_path / name, 10)) == 1, name
    together = [(tmp_path / name) for name in ("a.txt.gz", "b.txt")]
    assert len(plan(resolve_sources(together, ReadOptions()), ReadOptions(), 10)) == 2
    (tmp_path / "whole.txt").write_bytes(text)
    assert len(planned(tmp_path / "whole.txt", 10, whole_files=True)) == 1
    assert len(planned(tmp_path / "whole.txt", 10)) > 100


def test_small_files_share_a_partition_and_a_change_moves_few(tmp_path: Path) -> None:
    for i in range(300):
        (tmp_path / f"{i:03}.txt").write_text(words(20, seed=i))
    before = planned(tmp_path, 2_000_000)
    assert 8 < len(before) < 15
    assert sum(len(p.sources) for p in before) == 300
    assert str(before[0]).endswith("more files")
    (tmp_path / "000.txt").write_text("another size")
    after = planned(tmp_path, 2_000_000)
    assert len({p.key("") for p in before} & {p.key("") for p in after}) >= len(before) - 3


def test_a_file_that_grows_while_it_is_planned_is_noticed(corpus: Path) -> None:
    sources = resolve_sources([corpus], ReadOptions())
    with (corpus / "2.txt").open("a") as stream:
        stream.write("more\n")
    with pytest.raises(CorpusError, match=r"2\.txt': changed just now"):
        plan(sources, ReadOptions())


def test_a_small_corpus_is_one_partition_by_default(corpus: Path) -> None:
    assert len(planned(corpus)) == 1


def test_the_column_is_the_one_that_the_whole_file_decides(tmp_path: Path) -> None:
    path = tmp_path / "late.tsv"  # numbers only at first: the second half alone would see two columns of text
    path.write_text("a\tb\n" + "text\t1\n" * 200 + "text\tword\n" * 200)
    found = count_here([path], 300, tmp_path / "run")
    assert found.columns == count(path, n_positions=8).columns == ("a",)
    path = tmp_path / "late.jsonl"
    path.write_text('"a text"\n' * 100 + '{"text": "an object"}\n' * 100)
    with pytest.raises(CorpusError, match="line 101: got an object: expected a string, as on the first line"):
        count_here([path], 300, tmp_path / "mixed")


def test_options_that_do_not_fit_are_refused_at_planning(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(words(50))
    with pytest.raises(CorpusError, match="got --column"):
        planned(tmp_path / "a.txt", 100, column="body")
    (tmp_path / "b.jsonl").write_text('{"a": "x"}\n' * 50)
    with pytest.raises(CorpusError, match="no column 'body'"):
        planned(tmp_path / "b.jsonl", 100, column="body")
    with pytest.raises(CorpusError, match="'standard input': cannot be divided"):
        planned(Path("-"))
