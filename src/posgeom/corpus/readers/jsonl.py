"""JSON lines, or one JSON array: objects with a text column, or strings."""

import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import cast

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.file_parts import Layout
from posgeom.corpus.messages import located, too_long
from posgeom.corpus.readers.tabular import Row, batched, choose_column, group_value, refuse_option
from posgeom.corpus.sources import Source
from posgeom.corpus.streams import PIECE_BYTES, Stream, decode_utf8
from posgeom.errors import CorpusError
from posgeom.messages import shown, shown_list
from posgeom.options import ReadOptions

_SURROGATE = re.compile("[\ud800-\udfff]")
_JOIN = """, or join its strings, as with jq -c '.NAME |= join(" ")' FILE"""
_SHOWN_KINDS = 6
_LONGEST_TOKEN = 16  # an escaped pair of surrogates has 12 characters
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
    """Read JSON lines, or the elements of a JSON array, one after the other; the first decides the text column.

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
    """Decide by the first record what `read_jsonl` decides; None where there is none, or an array."""
    if _is_array(stream):
        return None
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
    kinds = [f"{shown(name, 60)} holds {_kind(value)}" for name, value in islice(first.items(), _SHOWN_KINDS)]
    hint = "" if text_columns else f" ({', '.join(kinds)})"
    return Layout(choose_column(list(first), text_columns, options, source, hint))


def _is_array(stream: Stream) -> bool:
    return stream.head.lstrip()[:1] == b"["


def _records(stream: Stream, options: ReadOptions) -> Iterator[tuple[int, Record]]:
    for number, value in _elements(stream, options) if _is_array(stream) else _lines(stream, options):
        if not isinstance(value, dict | str):
            raise CorpusError(
                f"{located(stream.source.name, number)}: got {_kind(value)}:"
                " expected a JSON object with a text column, or a string"
            )
        yield number, value


def _lines(stream: Stream, options: ReadOptions) -> Iterator[tuple[int, object]]:
    for number, raw in stream.lines():
        if not raw.strip():
            continue
        try:
            yield number, json.loads(decode_utf8(raw, options, stream.source, number))
        except (ValueError, RecursionError) as error:
            raise _not_json(error, located(stream.source.name, number)) from None


def _elements(stream: Stream, options: ReadOptions) -> Iterator[tuple[int, object]]:
    """The elements of an array, with the lines they begin on."""
    text = _Text(stream, options)
    text.skip("[", "")
    if text.peek() != "]":
        yield text.line, text.value()
    while text.skip(",", "]"):
        text.peek()
        yield text.line, text.value()
    if text.peek():
        raise text.broken("data after its end")


class _Text:
    """JSON text that is read as it is needed: no more of it is in memory than the value being read, and some 1 MiB."""

    def __init__(self, stream: Stream, options: ReadOptions) -> None:
        self.line = 1
        self._name = stream.source.name
        self._pieces = filter(None, stream.text(options))
        self._text = ""
        self._place = 0

    def peek(self) -> str:
        """The next character that is not white space, empty at the end."""
        while True:
            rest = self._text[self._place :]
            self._advance(len(rest) - len(rest.lstrip(" \t\r\n")))
            if self._place < len(self._text) or not self._more():
                return self._text[self._place : self._place + 1]

    def skip(self, going_on: str, ending: str) -> bool:
        """Step over one character, and say whether it is the one with which it goes on, or that which ends it."""
        character = self.peek()
        if not character or character not in (going_on, ending):
            expected = f"{going_on} or {ending}" if ending else going_on
            raise self.broken(f"{shown(character)} where {expected} should be" if character else "it ends too early")
        self._advance(1)
        return character == going_on

    def value(self) -> object:
        """The value that begins here."""
        while True:
            try:
                value, end = json.JSONDecoder().raw_decode(self._text, self._place)
            except (ValueError, RecursionError) as error:
                if not (self._may_go_on(error) and self._more()):
                    raise _not_json(error, located(self._name, self.line)) from None
            else:
                self._advance(end - self._place)
                return cast("object", value)

    def broken(self, reason: str) -> CorpusError:
        """Make the error for an array that is none."""
        return CorpusError(
            f"{located(self._name, self.line)}: not a JSON array ({reason}): expected objects or strings with commas"
            " between them; mend it, or pass --format text if it is text"
        )

    def _advance(self, n_characters: int) -> None:
        self.line += self._text.count("\n", self._place, self._place + n_characters)
        self._place += n_characters

    def _may_go_on(self, error: ValueError | RecursionError) -> bool:
        """Whether a value could be one if the text went on."""
        if len(self._text) - self._place > documents.MAX_DOCUMENT_BYTES:
            raise too_long(self._name, self.line, "element at line")
        is_at_end = isinstance(error, json.JSONDecodeError) and error.pos > len(self._text) - _LONGEST_TOKEN
        return is_at_end or "Unterminated string" in str(error)

    def _more(self) -> bool:
        """Read on, twice as far each time, so that a long value is not tried too often."""
        rest = self._text[self._place :]
        added = "".join(islice(self._pieces, 1 + len(rest) // PIECE_BYTES))
        self._text, self._place = rest + added, 0
        return bool(added)


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
                f" expected a string; choose another with --column NAME{_JOIN if isinstance(text, list) else ''}"
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
            f" {f'the columns here are {shown_list(list(record))}' if record else 'the object is empty'};"
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
