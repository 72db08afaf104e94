"""Bytes: decompression, line splitting, encodings, limits."""

import bz2
import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from posgeom.corpus import documents
from posgeom.corpus.sources import Source, resolve_sources
from posgeom.corpus.streams import open_stream
from posgeom.errors import CorpusError
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents

Refusal = Callable[..., str]
Texts = Callable[..., list[str]]


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstd}
CODEC_NAMES = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
LINES = [f"line {i} {i * 7919 % 1_000_003}" for i in range(30_000)]
CONTENT = "".join(line + "\n" for line in LINES).encode()

each_codec = pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])


@each_codec
def test_compressed_by_extension(tmp_path: Path, texts: Texts, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSORS[suffix](CONTENT))
    assert texts(path) == LINES


@each_codec
def test_compressed_by_first_bytes(tmp_path: Path, texts: Texts, suffix: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(COMPRESSORS[suffix](CONTENT))
    assert texts(path) == LINES


@each_codec
def test_all_members_are_read(tmp_path: Path, texts: Texts, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSORS[suffix](b"one\ntw") + COMPRESSORS[suffix](b"") + COMPRESSORS[suffix](b"o\nthree\n"))
    assert texts(path) == ["one", "two", "three"]


@each_codec
@pytest.mark.parametrize("keep", ["nothing", "1 byte", "4 bytes", "10 bytes", "half", "all but 1"])
def test_truncated_compressed_file_is_named(tmp_path: Path, refusal: Refusal, suffix: str, keep: str) -> None:
    whole = COMPRESSORS[suffix](CONTENT)
    n = {"nothing": 0, "1 byte": 1, "4 bytes": 4, "10 bytes": 10, "half": len(whole) // 2}.get(keep, len(whole) - 1)
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(whole[:n])
    message = refusal(path)
    assert f"a.txt{suffix}'" in message
    assert f"{CODEC_NAMES[suffix]} data" in message


@each_codec
def test_truncated_second_member(tmp_path: Path, refusal: Refusal, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSORS[suffix](CONTENT) + COMPRESSORS[suffix](CONTENT)[:-20])
    assert "truncated or corrupt" in refusal(path)


@each_codec
def test_damaged_second_member_is_not_taken_for_the_end(tmp_path: Path, refusal: Refusal, suffix: str) -> None:
    damaged = bytearray(COMPRESSORS[suffix](CONTENT))
    damaged[:3] = b"\x01\x02\x03"
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSORS[suffix](CONTENT) + damaged)
    assert "truncated or corrupt" in refusal(path)


@each_codec
def test_corrupt_data(tmp_path: Path, refusal: Refusal, suffix: str) -> None:
    whole = bytearray(COMPRESSORS[suffix](CONTENT))
    for i in range(len(whole) // 2, len(whole) // 2 + 8):
        whole[i] ^= 0xFF
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(whole)
    assert f"a.txt{suffix}'" in refusal(path)  # garbage may come out before the checksum does not fit


@each_codec
def test_uncompressed_content_under_a_compressed_name(tmp_path: Path, refusal: Refusal, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(CONTENT)
    assert "rename it if it is not compressed" in refusal(path)


def test_text_that_begins_like_bzip2_is_text(tmp_path: Path, texts: Texts) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"BZh9 is how bzip2 begins\n")
    assert texts(path) == ["BZh9 is how bzip2 begins"]


def test_only_line_feeds_end_a_line(tmp_path: Path, texts: Texts) -> None:
    kept = "a\u2028b\u2029c\x0bd\x0ce\x85f\x1cg\rh"
    path = tmp_path / "a.txt"
    path.write_bytes(f"{kept}\r\n\nlast".encode())
    assert texts(path) == [kept, "", "last"]


@pytest.mark.parametrize(
    ("content", "expected"), [(b"", []), (b"\n", [""]), (b"a", ["a"]), (b"a\n", ["a"]), (b"a\n\n", ["a", ""])]
)
def test_final_newline_makes_no_document(tmp_path: Path, texts: Texts, content: bytes, expected: list[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert texts(path) == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"word\n"),
        ("a.jsonl", b'{"text": "word"}\n'),
        ("a.csv", b"text\nword\n"),
        ("a.csv", b'"text"\nword\n'),
        ("a.tsv", b"text\tn\nword\t1\n"),
        ("a.fa", b">x\nword\n"),
    ],
)
def test_byte_order_mark_changes_nothing(tmp_path: Path, texts: Texts, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbf" + content)
    assert texts(path) == ["word"]
    path.with_suffix(path.suffix + ".gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + content))
    assert texts(path.with_suffix(path.suffix + ".gz")) == ["word"]


def test_byte_order_mark_alone_and_in_the_middle(tmp_path: Path, texts: Texts) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbf")
    assert texts(path) == []
    path.write_bytes("a\n\ufeffb\n".encode())
    assert texts(path) == ["a", "\ufeffb"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("policy", ["strict", "replace"])
def test_wide_encodings_are_named(tmp_path: Path, refusal: Refusal, encoding: str, policy: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        ("" if encoding in ("utf-16", "utf-32") else "\ufeff").encode(encoding) + "text\nword".encode(encoding)
    )
    assert f"encoded in {encoding[:6].upper()}: expected UTF-8" in refusal(path, utf8_errors=policy)


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.tsv", "a.fa", "a.bin"])
@pytest.mark.parametrize("whole_files", [False, True])
def test_binary_file_is_refused(tmp_path: Path, refusal: Refusal, name: str, whole_files: bool) -> None:
    path = tmp_path / name
    path.write_bytes(b"some text\nand\0zero\n")
    format_ = "text" if whole_files else "auto"
    message = refusal(path, whole_files=whole_files, format=format_)
    assert f"{name}'" in message
    assert "looks binary" in message


def test_zero_byte_far_into_the_file(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"some text\n" * 20_000 + b"\0\n")
    assert "line 20001: looks binary" in refusal(path)
    assert "looks binary" in refusal(path, whole_files=True)


def test_longest_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: Texts, refusal: Refusal) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 10)
    path = tmp_path / "a.txt"
    for end in (b"\n", b"\r\n", b""):
        path.write_bytes(b"ok\n" + b"x" * 10 + end)
        assert texts(path) == ["ok", "x" * 10]
        path.write_bytes(b"ok\n" + b"x" * 11 + end)
        assert "line 2: a document longer than 10 bytes" in refusal(path)
    path.write_bytes(b"x" * 10)
    assert texts(path, whole_files=True) == ["x" * 10]
    path.write_bytes(b"x" * 11)
    assert "a document longer than 10 bytes" in refusal(path, whole_files=True)


def test_document_of_more_than_a_million_characters(tmp_path: Path, texts: Texts) -> None:
    path = tmp_path / "a.txt"
    path.write_text("é" * 1_300_000 + "\nb\n", encoding="utf-8")
    assert [len(text) for text in texts(path)] == [1_300_000, 1]


def test_invalid_utf8_names_line_and_offset(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\n\ncaf\xe9 au lait\n")
    message = refusal(path)
    assert "a.txt', line 3: invalid UTF-8 at byte offset 3 (0xe9" in message
    assert "--utf8-errors replace" in message


def test_invalid_utf8_replaced(tmp_path: Path, texts: Texts) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\ncaf\xe9\n\xed\xa0\x80\n")
    assert texts(path, utf8_errors="replace") == ["fine", "caf\ufffd", "\ufffd\ufffd\ufffd"]


def test_read_error_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: object, /) -> int:
            raise OSError(5, "Input/output error")

    for name in ("a.txt", "a.txt.gz", "a.txt.bz2", "a.txt.zst"):
        path = tmp_path / name
        path.write_bytes(b"x")
        monkeypatch.setattr(Path, "open", lambda *args, **kwargs: Broken())
        with (
            pytest.raises(CorpusError, match=rf"{name}': cannot read: Input/output error"),
            open_stream(Source(str(path), path, 1)),
        ):
            pass
        monkeypatch.undo()


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".zst"])
def test_read_error_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Refusal, suffix: str
) -> None:
    content = COMPRESSORS.get(suffix, bytes)(CONTENT)

    class BreaksLater(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() >= 20:
                raise OSError(116, "Stale file handle")
            return super().read(20)

    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(content)
    monkeypatch.setattr(Path, "open", lambda *args, **kwargs: BreaksLater(content))
    assert "cannot read: Stale file handle" in refusal(path)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".zst"])
def test_file_is_closed_at_the_end_and_when_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSORS.get(suffix, bytes)(CONTENT))
    opened: list[io.IOBase] = []
    real_open = Path.open

    def spy(self: Path, *args: object, **kwargs: object) -> io.IOBase:
        opened.append(real_open(self, *args, **kwargs))  # type: ignore[call-overload]
        return opened[-1]

    monkeypatch.setattr(Path, "open", spy)
    reading = read_documents([path], ReadOptions(batch_size=10))
    next(reading)
    closed = [opened[0].closed]
    reading.close()  # type: ignore[attr-defined]
    assert [*closed, opened[0].closed] == [False, True]
    assert sum(len(batch.texts) for batch in read_documents([path], ReadOptions())) == len(LINES)
    assert [file.closed for file in opened] == [True, True]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".zst"])
def test_consumed_counts_stored_bytes(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESSORS.get(suffix, bytes)(CONTENT))
    (source,) = resolve_sources([path], ReadOptions())
    with open_stream(source) as stream:
        for _ in stream.lines():
            pass
        assert stream.consumed == source.size == path.stat().st_size


def test_process_substitution_and_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    script = (
        "import sys; from posgeom.corpus.reading import read_sources;"
        "from posgeom.corpus.sources import resolve_sources;"
        "from posgeom.options import ReadOptions;"
        "o = ReadOptions(); print([b.texts for b in read_sources(resolve_sources(sys.argv[1:], o), o)])"
    )
    for command in (
        'cat "$1" | "$0" -c "$2" -',
        '"$0" -c "$2" <(cat "$1")',
        '"$0" -c "$2" /dev/stdin < "$1"',
    ):
        done = subprocess.run(
            ["bash", "-c", command, sys.executable, str(path), script],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "[['one', 'two']]\n"


def test_a_zstd_frame_with_a_long_window_says_so(tmp_path: Path, texts: Callable[..., list[str]]) -> None:
    for exponent in (27, 28, 31):
        # Magic, a header with a window and nothing else, and one raw block of three bytes, the last.
        frame = b"\x28\xb5\x2f\xfd\0" + bytes([(exponent - 10) << 3]) + (1 | 3 << 3).to_bytes(3, "little") + b"ab\n"
        path = tmp_path / "a.txt.zst"
        path.write_bytes(frame)
        if exponent == 27:
            assert texts(path) == ["ab"]
        else:
            with pytest.raises(CorpusError, match=r"window above 2\^27 bytes \(zstd --long\).* zstd -d --long=31"):
                texts(path)
