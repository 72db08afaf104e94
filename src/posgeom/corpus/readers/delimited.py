"""CSV and TSV: fields with or without quotes, with or without a header."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import Lock

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.file_parts import Layout
from posgeom.corpus.messages import located
from posgeom.corpus.readers.tabular import Row, batched, choose_column, group_value, missing_column
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import Stream, decode_utf8
from posgeom.errors import CorpusError
from posgeom.messages import shown
from posgeom.options import ReadOptions

Record = tuple[int, list[str]]
"""Line where a record starts, and its fields."""

_SAMPLE_ROWS = 100
_HEADER_WORDS = 3
_NO_HEADER = "; if the first row is no header, add --no-header"


def read_csv(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read comma-separated values, quoted unless `options.quoting` is ``"none"``."""
    with _FIELD_LIMIT.raised():
        yield from _batches(stream, options, ",", options.quoting != "none")


def read_tsv(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read tab-separated values, a quote being a plain character unless `options.quoting` is ``"csv"``."""
    with _FIELD_LIMIT.raised():
        yield from _batches(stream, options, "\t", options.quoting == "csv")


def _batches(stream: Stream, options: ReadOptions, separator: str, quoted: bool) -> Iterator[DocumentBatch]:
    source = stream.source
    records = (_quoted_records if quoted else _plain_records)(stream, options, separator)
    layout = source.part.layout if source.part else None
    if layout is None:
        decided = _decide(records, stream, options)
        if decided is None:
            return iter(())
        layout, rows = decided
    else:
        rows = _checked(records, len(layout.names), source)
    return batched(_rows(rows, layout, source), source, options, layout.column)


def delimited_layout(stream: Stream, options: ReadOptions, separator: str) -> Layout | None:
    """Decide by the first rows what the reader of a file without quotes decides; None where there is no document."""
    decided = _decide(_plain_records(stream, options, separator), stream, options)
    return None if decided is None else decided[0]


def _check_separator(header: Record, source: Source) -> None:
    """Refuse a header of one field that another separator would split: read so, a row would be one long document."""
    for separator, name, remedy in (
        (";", "semicolons", "convert them to commas"),
        ("|", "bars", "convert them to commas"),
        ("\t", "tabs", "pass --format tsv"),
        (",", "commas", "pass --format csv"),
    ):
        if separator in header[1][0]:
            raise CorpusError(
                f"{located(source.name, header[0])}: got one column, {shown(header[1][0], 40)}, named with {name}:"
                f" expected another separator; {remedy}, or name the column with --column"
            )


def _decide(records: Iterator[Record], stream: Stream, options: ReadOptions) -> tuple[Layout, Iterator[Record]] | None:
    """The columns, from the first rows, and all rows that hold documents; None where there are none."""
    source = stream.source
    blank: list[Record] = []
    for first in records:
        if not _is_blank(first[1]):
            break
        blank.append(first)
    else:
        return None
    start = stream.position if options.header else 0
    width = len(first[1])
    if width == 1 and options.header and options.column is None:
        _check_separator(first, source)
    names = first[1] if options.header else [str(i + 1) for i in range(width)]
    if not options.header:
        records = chain(blank, [first], records)
    rows = _checked(records, width, source)
    group = None if options.fold_column is None else _index(options.fold_column, names, options, source, "--fold-by")
    if options.column is not None:
        column = _index(options.column, names, options, source, "--column")
    else:
        sample = _sample(rows)
        if not sample:
            return None
        rows = chain(sample, rows)
        candidates = [names[i] for i in _text_columns(width, sample) if i != group]
        chosen = choose_column(names, candidates, options, source, _hint(options))
        column = _index(chosen, names, options, source, "--column")
    if options.header and options.column == str(column + 1) and len(names[column].split()) > _HEADER_WORDS:
        # Chosen by number: nothing but the name itself tells that the first row was taken for a header.
        raise CorpusError(
            f"{located(source.name, first[0])}: column {column + 1} is headed {shown(names[column], 60)}, which reads"
            " like a value: add --no-header, or choose the column by that name"
        )
    return Layout(names[column], tuple(names), column, group, start), rows


def _rows(records: Iterator[Record], layout: Layout, source: Source) -> Iterator[Row]:
    names, column, group = layout.names, layout.index, layout.group
    last = max(column, -1 if group is None else group)
    for line, fields in records:
        if len(fields) <= last:
            raise CorpusError(
                f"{located(source.name, line)}: {_fields(len(fields))}: expected at least {last + 1},"
                f" for column {shown(names[last], 60)}; mend or remove the row"
            )
        value = None if group is None else group_value(fields[group], names[group], source, line)
        yield line, fields[column], value


def _checked(records: Iterator[Record], width: int, source: Source) -> Iterator[Record]:
    """Leave out blank lines, but where there is one column they are empty values; refuse surplus fields."""
    for line, fields in records:
        if _is_blank(fields):
            if width == 1:
                yield line, [""]
            continue
        if any(fields[width:]):
            raise CorpusError(
                f"{located(source.name, line)}: {_fields(len(fields))}: expected {width}, as in the first row;"
                " mend the row, since a separator inside a value needs quotes around the value"
            )
        yield line, fields


def _is_blank(fields: list[str]) -> bool:
    return fields in ([], [""])


def _plain_records(stream: Stream, options: ReadOptions, separator: str) -> Iterator[Record]:
    for number, raw in stream.lines():
        yield number, decode_utf8(raw, options, stream.source, number).split(separator)


def _quoted_records(stream: Stream, options: ReadOptions, separator: str) -> Iterator[Record]:
    lines = (decode_utf8(raw, options, stream.source, number) for number, raw in stream.lines(keep_ends=True))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _malformed(error, start, reader.line_num, stream.source) from None
        yield start, fields


def _malformed(error: csv.Error, start: int, line: int, source: Source) -> CorpusError:
    reason = str(error)
    if "unexpected end of data" in reason:
        return CorpusError(
            f"{located(source.name, start)}: a quote opened in this row is never closed:"
            " expected a closing quote; if quotes are plain characters here, add --quoting none"
        )
    if "field larger than field limit" in reason:
        return CorpusError(
            f"{located(source.name, start)}: a field longer than {documents.MAX_DOCUMENT_BYTES:,} characters:"
            " expected shorter documents; if a quote is never closed, mend it or add --quoting none"
        )
    if "new-line character" in reason:
        reason = "a carriage return inside a field without quotes"
    return CorpusError(
        f"{located(source.name, line)}: malformed row ({reason}):"
        " expected quotes around a whole field, doubled inside it;"
        " if quotes are plain characters here, add --quoting none"
    )


def _sample(rows: Iterator[Record]) -> list[Record]:
    sample: list[Record] = []
    n_characters = 0
    for record in rows:
        sample.append(record)
        n_characters += sum(map(len, record[1]))
        if len(sample) >= _SAMPLE_ROWS or n_characters > documents.MAX_BATCH_CHARACTERS:
            break
    return sample


def _text_columns(width: int, sample: Sequence[Record]) -> list[int]:
    return [
        i
        for i in range(width)
        if any(len(fields) > i and fields[i] and not _is_number(fields[i]) for _, fields in sample)
    ]


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _index(name: str, names: Sequence[str], options: ReadOptions, source: Source, option: str) -> int:
    """Find a column by name, else by 1-based number."""
    if names.count(name) > 1:
        raise CorpusError(
            f"{shown(source.name)}: several columns named {shown(name, 60)}: expected one;"
            f" choose it by its number, {option} {names.index(name) + 1}"
        )
    if name in names:
        return names.index(name)
    numbers = [str(i + 1) for i in range(len(names))]
    if name not in numbers:
        raise missing_column(name, names, source, option, f" or its number{_hint(options)}")
    return numbers.index(name)


def _hint(options: ReadOptions) -> str:
    return _NO_HEADER if options.header else ""


def _fields(n: int) -> str:
    return f"{n} field{'' if n == 1 else 's'}"


class _FieldLimit:
    """The csv module's limit on a field is one number for the process: raised only while a file is read."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_users = 0
        self._before = 0

    @contextmanager
    def raised(self) -> Iterator[None]:
        with self._lock:
            if self._n_users == 0:
                self._before = csv.field_size_limit(documents.MAX_DOCUMENT_BYTES)
            self._n_users += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_users -= 1
                if self._n_users == 0:
                    csv.field_size_limit(self._before)


_FIELD_LIMIT = _FieldLimit()
