"""Parts of files: together they are the file, with its own line numbers."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posgeom.corpus.file_parts import FilePart
from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import Source, resolve_sources
from posgeom.corpus.streams import count_line_feeds, open_stream
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents

Lines = list[tuple[int, bytes]]

LINE = st.one_of(
    st.binary(max_size=12).map(lambda b: b.replace(b"\0", b"")),
    st.sampled_from([b"", b"\r", b"\xef\xbb\xbf", b"\xc3\xa9" * 40, b"x" * 300]),
)
CONTENT = st.builds(
    lambda bom, lines, last: bom + b"\n".join(lines) + last,
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(LINE, max_size=12),
    st.sampled_from([b"", b"\n", b"\r\n"]),
).filter(lambda content: not content.startswith((b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"PAR1")))


@contextmanager
def file_of(content: bytes) -> Iterator[Source]:
    with TemporaryDirectory() as directory:
        path = Path(directory, "file.txt")
        path.write_bytes(content)
        yield Source("file.txt", path, len(content))


def lines_of(source: Source) -> Lines:
    with open_stream(source) as stream:
        return list(stream.lines())


def cut(source: Source, cuts: list[int]) -> list[Source]:
    size = source.size or 0
    bounds = [0, *sorted(c for c in cuts if c < size), size]
    return [replace(source, part=FilePart(a, b, "text")) for a, b in itertools.pairwise(bounds)]


def numbered(source: Source) -> Source:
    assert source.part
    if not source.part.is_inner:
        return source
    return replace(source, part=replace(source.part, lines_before=count_line_feeds(source, source.part.start - 1)))


@settings(deadline=None)
@given(CONTENT, st.lists(st.integers(0, 600), max_size=6))
def test_parts_give_the_lines_of_the_file_with_their_numbers(content: bytes, cuts: list[int]) -> None:
    with file_of(content) as source:
        parts = [lines_of(numbered(part)) for part in cut(source, cuts)]
        assert list(itertools.chain(*parts)) == lines_of(source)


@settings(deadline=None)
@given(CONTENT, st.integers(0, 400))
def test_a_line_belongs_to_the_part_in_which_it_starts(content: bytes, where: int) -> None:
    with file_of(content) as source:
        lines = lines_of(replace(source, part=FilePart(0, where, "text")))
        starts = [0, *(i + 1 for i, byte in enumerate(content) if byte == ord("\n"))]
        n_bom_bytes = 3 if content.startswith(b"\xef\xbb\xbf") else 0
        assert len(lines) == sum(s < where and max(s, n_bom_bytes) < len(content) for s in starts)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_row_groups_give_the_rows_of_the_file(tmp_path: Path, size: int) -> None:
    path = tmp_path / "rows.parquet"
    rows = [f"row {i}" for i in range(100)]
    pq.write_table(pa.table({"text": rows}), path, row_group_size=9)
    (source,) = resolve_sources([path], ReadOptions())
    parts = [replace(source, part=FilePart(a, min(a + size, 12), "parquet")) for a in range(0, 12, size)]
    batches = list(read_sources(parts, ReadOptions(batch_size=4)))
    assert [text for batch in batches for text in batch.texts] == rows
    assert [rows[batch.first_row - 1] for batch in batches] == [batch.texts[0] for batch in batches]
    whole = list(read_documents([path], ReadOptions()))
    assert {batch.column for batch in batches} == {batch.column for batch in whole} == {"text"}
