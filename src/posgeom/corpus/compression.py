"""Decompress gzip, bzip2 and Zstandard, and notice when the data are truncated or corrupt."""

import bz2
import gzip
import io
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, cast

from posgeom.errors import CorpusError
from posgeom.messages import one_line

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER_BYTES = 64 * 1024
_MAGIC = {
    b"\x1f\x8b\x08": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    # "BZh" and a digit could begin a text; the block marker that follows could not.
    **{b"BZh%d1AY&SY" % level: "bz2" for level in range(1, 10)},
}


class ByteLayer(io.RawIOBase):
    """Bytes of another stream, with a look ahead, counted as they are taken; failures become `CorpusError`."""

    def __init__(self, inner: BinaryIO, describe: Callable[[Exception], str], *, close_inner: bool = True) -> None:
        self.consumed = 0
        self._inner = inner
        self._describe = describe
        self._close_inner = close_inner
        self._ahead = b""

    def readable(self) -> bool:
        """Tell `io.BufferedReader` that this can be read."""
        return True

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end, and leave them to be read."""
        while len(self._ahead) < size and (chunk := self._take(size - len(self._ahead))):
            self._ahead += chunk
        return self._ahead[:size]

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read into a buffer, as `io.RawIOBase` wants it."""
        view = memoryview(buffer).cast("B")
        chunk = self._ahead[: len(view)] or self._take(len(view))
        self._ahead = self._ahead[len(chunk) :]
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        """Close this and, unless asked not to, the stream below."""
        if self._close_inner and not self.closed:
            self._inner.close()
        super().close()

    def _take(self, size: int) -> bytes:
        try:
            chunk = self._inner.read(size)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise CorpusError(self._describe(error)) from None
        self.consumed += len(chunk)
        return chunk


class _Bzip2(io.RawIOBase):
    """Decompress bzip2; `bz2.BZ2File` silently ends at a damaged second stream, this does not."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._stream = bz2.BZ2Decompressor()

    def read(self, size: int = -1, /) -> bytes:
        while True:
            stored = b""
            if self._stream.eof:
                stored = self._stream.unused_data or self._file.read(_BUFFER_BYTES)
                if not stored:
                    return b""
                self._stream = bz2.BZ2Decompressor()
            elif self._stream.needs_input:
                stored = self._file.read(_BUFFER_BYTES)
                if not stored:
                    raise EOFError("the data end too early")
            if data := self._stream.decompress(stored, size):
                return data


def _zstd(file: io.BufferedReader) -> BinaryIO:
    import pyarrow as pa  # here, because it is slow to load and seldom needed

    return cast("BinaryIO", pa.CompressedInputStream(file, "zstd"))


_DECOMPRESSORS: dict[str, Callable[[io.BufferedReader], BinaryIO]] = {
    "gzip": lambda file: cast("BinaryIO", gzip.GzipFile(fileobj=file)),
    "bz2": lambda file: cast("BinaryIO", _Bzip2(file)),
    "zstd": _zstd,
}


def sniff_codec(file: ByteLayer) -> str | None:
    """Tell the compression by the first bytes, left to be read: ``"gzip"``, ``"bz2"``, ``"zstd"``, or None."""
    head = file.peek(10)
    return next((codec for magic, codec in _MAGIC.items() if head.startswith(magic)), None)


def decompressed(file: ByteLayer, codec: str, name: str) -> ByteLayer:
    """Decompress a stream, all members in turn; truncated or corrupt data, or none at all, raise `CorpusError`."""
    if not file.peek(1):
        raise CorpusError(f"{name}: an empty file: expected {codec} data; fetch the file again")
    return ByteLayer(
        _DECOMPRESSORS[codec](io.BufferedReader(file)),  # gzip takes a short read for the end of the file
        lambda error: _failure(error, codec, name),
    )


def _failure(error: Exception, codec: str, name: str) -> str:
    if codec == "zstd" and "too much memory" in str(error):
        return (
            f"{name}: a zstd frame with a window above 2^27 bytes (zstd --long): expected a shorter one; decompress it"
            " with zstd -d --long=31, and pipe it in or write it again without --long"
        )
    return (
        f"{name}: truncated or corrupt {codec} data ({one_line(error)}): expected a complete file;"
        " fetch it again, or rename it if it is not compressed"
    )
