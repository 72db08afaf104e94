"""Open a source as bytes: decompressed, with a look ahead, split at line feeds only, decoded by policy."""

import codecs
import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from typing import BinaryIO, cast

from posgeom.corpus import documents
from posgeom.corpus.compression import ByteLayer, decompressed, sniff_codec
from posgeom.corpus.file_parts import FilePart
from posgeom.corpus.messages import located, looks_binary, too_long
from posgeom.corpus.remote import RemoteStream
from posgeom.corpus.sources import Source
from posgeom.errors import CorpusError
from posgeom.messages import one_line, shown
from posgeom.options import ReadOptions

HEAD_BYTES = 64 * 1024
"""How far the look ahead sees."""
PIECE_BYTES = 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = {  # the longer ones first: UTF-32-LE starts like UTF-16-LE
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


class Stream:
    """The decompressed bytes of one source.

    `head` are the first ones, at most 64 KiB, without a byte-order mark, and empty for a part inside the file;
    `position` is how many stand before the next line that `lines` gives, and `notes` are what a reader of the counts
    should know of how the source was read.
    """

    def __init__(self, source: Source, codec: str | None, file_layer: ByteLayer, data_layer: ByteLayer) -> None:
        self.source = source
        self.codec = codec
        self._file_layer = file_layer
        self._reported = 0
        self.position = 0
        self.notes: dict[str, None] = {}
        self._raw_head = b"" if source.part and source.part.is_inner else data_layer.peek(HEAD_BYTES)
        self.head = self._raw_head.removeprefix(_BOM)
        self._reader = io.BufferedReader(data_layer, PIECE_BYTES)

    @property
    def consumed(self) -> int:
        """Bytes of the file, as stored, used so far."""
        return max(self._file_layer.consumed, self._reported)

    def report_consumed(self, n_bytes: int) -> None:
        """Tell how many bytes of the file a reader that opens it by itself has used so far."""
        self._reported = n_bytes

    def note(self, note: str) -> None:
        """Keep a sentence that goes with the counts, once; it names no file, so that many files give one note."""
        self.notes[note] = None

    def lines(self, *, keep_ends: bool = False) -> Iterator[tuple[int, bytes]]:
        r"""Iterate over 1-based numbers and lines, split at ``\n`` only; of a part, the lines that start in it.

        The text after the last ``\n`` is a line unless it is empty. With `keep_ends`, ``\n`` or ``\r\n`` stay.
        """
        part = self.source.part
        first, n_bom_bytes = 1, 0
        if part and part.is_inner:
            self._skip_partial_line(part)
            first = (part.lines_before or 0) + 2  # the line that was skipped, and the one after it
        else:
            n_bom_bytes = self._start_text()
        limit = documents.MAX_DOCUMENT_BYTES
        readline = self._reader.readline
        for number in count(first):
            if part and self.position >= part.stop:
                return
            whole = readline(limit + 2)
            if not whole:
                return
            self.position += len(whole) + n_bom_bytes
            n_bom_bytes = 0
            line = whole.removesuffix(b"\n").removesuffix(b"\r")
            if len(line) > limit:
                raise too_long(self.source.name, number)
            if b"\0" in line:
                raise looks_binary(located(self.source.name, number))
            yield number, whole if keep_ends else line

    def whole(self) -> bytes:
        """Read everything, without a byte-order mark, as the bytes of one document."""
        self._start_text()
        content = bytearray()
        while chunk := self._reader.read(PIECE_BYTES):
            if b"\0" in chunk:
                raise looks_binary(shown(self.source.name))
            content += chunk
            if len(content) > documents.MAX_DOCUMENT_BYTES:
                raise too_long(self.source.name, 1, "document")
        return bytes(content)

    def text(self, options: ReadOptions) -> Iterator[str]:
        """Iterate over all of it as text, in pieces that may end anywhere."""
        decoder = codecs.getincrementaldecoder("utf-8")(options.utf8_errors)
        position = self._start_text()
        while True:
            chunk = self._reader.read(PIECE_BYTES)
            if b"\0" in chunk:
                raise looks_binary(shown(self.source.name))
            try:
                yield decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                place = position - len(decoder.getstate()[0]) + error.start
                raise _not_utf8(f"{shown(self.source.name)}", error, place) from None
            if not chunk:
                return
            position += len(chunk)

    def chunks(self, n_bytes: int) -> Iterator[bytes]:
        """Iterate over the first `n_bytes`, or all there are, in pieces, whatever they hold."""
        while n_bytes > 0 and (chunk := self._reader.read(min(n_bytes, PIECE_BYTES))):
            n_bytes -= len(chunk)
            yield chunk

    def _start_text(self) -> int:
        name = shown(self.source.name)
        for bom, encoding in _WIDE_BOMS.items():
            if self._raw_head.startswith(bom):
                raise CorpusError(
                    f"{name}: encoded in {encoding}: expected UTF-8; convert it with iconv -f {encoding} -t UTF-8"
                )
        if b"\0" in self._raw_head:
            raise looks_binary(name)
        return len(self._reader.read(len(self._raw_head) - len(self.head)))

    def _skip_partial_line(self, part: FilePart) -> None:
        """Leave the line that starts before the part to the part before."""
        self.position = part.start - 1  # where `open_stream` began: a line may start at the part's first byte
        while self.position < part.stop and (piece := self._reader.readline(PIECE_BYTES)):
            self.position += len(piece)
            if piece.endswith(b"\n"):
                return


@contextmanager
def open_stream(source: Source) -> Iterator[Stream]:
    """Open a source, decompressing by extension or first bytes; standard input is left open at the end.

    Failures to open and to read are `CorpusError`, and so is a remote file that is another one at the end.
    """
    name = shown(source.name)
    with ExitStack() as stack:
        file = open_file(source)
        file_layer = stack.enter_context(
            ByteLayer(file, lambda error: _input_failure(name, error), close_inner=not source.is_stdin)
        )
        codec = None if source.part else source.codec or sniff_codec(file_layer)  # parts are of plain files
        data_layer = file_layer if codec is None else stack.enter_context(decompressed(file_layer, codec, name))
        yield Stream(source, codec, file_layer, data_layer)
        if isinstance(file, RemoteStream):
            file.check_unchanged()


def decode_utf8(raw: bytes, options: ReadOptions, source: Source, row: int, unit: str = "line") -> str:
    """Decode one line or value by the policy of `options.utf8_errors`, named in messages by its 1-based row."""
    try:
        return raw.decode("utf-8", options.utf8_errors)
    except UnicodeDecodeError as error:
        raise _not_utf8(located(source.name, row, unit), error, error.start) from None


def _not_utf8(place: str, error: UnicodeDecodeError, offset: int) -> CorpusError:
    return CorpusError(
        f"{place}: invalid UTF-8 at byte offset {offset}"
        f" (0x{error.object[error.start]:02x}, {error.reason}): expected UTF-8;"
        " convert the file, or put U+FFFD with --utf8-errors replace"
    )


def open_file(source: Source, *, seekable: bool = False) -> BinaryIO:
    """Open the stored bytes of a source, unbuffered; a remote one can be read at any place only if `seekable`."""
    begins_inside = source.part is not None and source.part.is_inner
    if source.remote is not None:
        stream = RemoteStream(source.remote, source.size, seekable=seekable or begins_inside)
        if source.part and begins_inside:
            stream.seek(source.part.start - 1)
        return cast("BinaryIO", stream)
    if source.path is not None:
        try:
            file = cast("BinaryIO", source.path.open("rb", buffering=0))
            if source.part and begins_inside:
                file.seek(source.part.start - 1)
        except OSError as error:
            raise CorpusError(_input_failure(shown(source.name), error)) from None
        return file
    binary: BinaryIO | None = getattr(sys.stdin, "buffer", None)  # closed, or replaced by a text object
    if binary is None:
        raise CorpusError("standard input holds no bytes to read: expected a pipe or a file; name a file")
    return binary


def count_line_feeds(source: Source, stop: int) -> int:
    """Count the line feeds in the first `stop` bytes of a plain file."""
    n = 0
    with open_stream(replace(source, part=FilePart(0, stop, "text"))) as stream:
        for chunk in stream.chunks(stop):
            n += chunk.count(b"\n")
    return n


def _input_failure(name: str, error: Exception) -> str:
    return f"{name}: cannot read: {getattr(error, 'strerror', None) or one_line(error)}"
