"""JSON lines: an object with a text column, or a string, on each line."""

import json
import re
from collections.abc import Iterator
from itertools import chain

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.file_parts import Layout
from posgeom.corpus.messages import located
from posgeom.corpus.readers.tabular import Row, batched, choose_column, group_value, refuse_option
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import Stream, decode_utf8
from posgeom.errors import CorpusError
from posgeom.messages import shown, shown_list
from posgeom.options import ReadOptions

_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON_TYPES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}

Record = dict[str, object] | str


def read_jsonl(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read JSON lines; the first record decides the text column.

    Blank lines hold no document. A null text is an empty document.
    """
    source = stream.source
    records = _records(stream, options)
    layout = source.part.layout if source.part else None
    if layout is None:
        first = next(records, None)
        if first is None:
            return
        layout = _decide(first[1], source, options)
        records = chain([first], records)
    if layout.column is None:
        yield from batched(_strings(records, stream, options), source, options)
    else:
        yield from batched(_texts(records, layout.column, stream, options), source, options, layout.column)


def jsonl_layout(stream: Stream, options: ReadOptions) -> Layout | None:
    """Decide by the first record what `read_jsonl` decides; None where there is none."""
    first = next(_records(stream, options), None)
    return None if first is None else _decide(first[1], stream.source, options)


def _decide(first: Record, source: Source, options: ReadOptions) -> Layout:
    if isinstance(first, str):
        for option, value in (("--column", options.column), ("--fold-by", options.fold_column)):
            if value is not None:
                raise refuse_option(option, "JSON strings without columns", source)
        return Layout(None)
    # A null may stand for a text: taking it for something else would choose another column in silence.
    text_columns = [name for name, value in first.items() if value is None or isinstance(value, str)]
    return Layout(choose_column(list(first), text_columns, options, source))


def _records(stream: Stream, options: ReadOptions) -> Iterator[tuple[int, Record]]:
    if stream.head.lstrip()[:1] == b"[":
        raise CorpusError(
            f"{shown(stream.source.name)}: a JSON array: expected one JSON object a line;"
            " convert it with jq -c '.[]' FILE > FILE.jsonl"
        )
    for number, raw in stream.lines():
        if not raw.strip():
            continue
        try:
            record = json.loads(decode_utf8(raw, options, stream.source, number))
        except (ValueError, RecursionError) as error:
            raise _not_json(error, located(stream.source.name, number)) from None
        if not isinstance(record, dict | str):
            raise CorpusError(
                f"{located(stream.source.name, number)}: got {_kind(record)}:"
                " expected a JSON object with a text column, or a string"
            )
        yield number, record


def _not_json(error: ValueError | RecursionError, place: str) -> CorpusError:
    if isinstance(error, json.JSONDecodeError):
        return CorpusError(
            f"{place}: not JSON at character {error.pos + 1} ({error.msg}):"
            " expected a whole JSON object on each line; jq -c . FILE puts them so"
        )
    reason = "nested too deeply" if isinstance(error, RecursionError) else "a number too long"
    return CorpusError(f"{place}: JSON that cannot be read ({reason}): expected an object with a text")


def _strings(records: Iterator[tuple[int, Record]], stream: Stream, options: ReadOptions) -> Iterator[Row]:
    for number, record in records:
        if not isinstance(record, str):
            raise _mixed(record, "a string", located(stream.source.name, number))
        yield number, _scalar_values(record, options, stream, number), None


def _texts(records: Iterator[tuple[int, Record]], column: str, stream: Stream, options: ReadOptions) -> Iterator[Row]:
    fold_column = options.fold_column
    for number, record in records:
        if not isinstance(record, dict):
            raise _mixed(record, "an object", located(stream.source.name, number))
        text = _field(record, column, stream, number)
        if not (text is None or isinstance(text, str)):
            raise CorpusError(
                f"{located(stream.source.name, number)}: column {shown(column, 60)} holds {_kind(text)}:"
                " expected a string; choose another with --column NAME"
            )
        group = None
        if fold_column is not None:
            value = _field(record, fold_column, stream, number)
            group = group_value(value, fold_column, stream.source, number)
            group = _scalar_values(group, options, stream, number)
        yield number, _scalar_values(text or "", options, stream, number), group


def _field(record: dict[str, object], column: str, stream: Stream, number: int) -> object:
    try:
        return record[column]
    except KeyError:
        raise CorpusError(
            f"{located(stream.source.name, number)}: no column {shown(column, 60)}:"
            f" the columns here are {shown_list(list(record))};"
            " expected it on every line, null where there is none"
        ) from None


def _scalar_values(text: str, options: ReadOptions, stream: Stream, number: int) -> str:
    r"""Refuse or replace half of a surrogate pair, which an escape such as ``\ud800`` leaves in a string."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        if options.utf8_errors == "replace":
            return _SURROGATE.sub("\ufffd", text)
        raise CorpusError(
            f"{located(stream.source.name, number)}: half a surrogate pair,"
            f" \\u{ord(text[error.start]):04x}, at character {error.start + 1} of a value:"
            " expected Unicode characters; put U+FFFD with --utf8-errors replace"
        ) from None
    return text


def _mixed(record: Record, expected: str, place: str) -> CorpusError:
    return CorpusError(f"{place}: got {_kind(record)}: expected {expected}, as on the first line")


def _kind(value: object) -> str:
    return _JSON_TYPES[type(value)]
