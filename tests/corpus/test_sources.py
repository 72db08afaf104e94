"""Finding the sources: files, globs, directories, standard input."""

import io
import os
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest

from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import resolve_sources, total_bytes
from posgeom.errors import CorpusError
from posgeom.messages import shown, shown_list
from posgeom.options import ReadOptions

Refusal = Callable[..., str]
Texts = Callable[..., list[str]]


def names(*specs: str | Path, **options: str) -> list[str]:
    return [source.name for source in resolve_sources(specs, ReadOptions(**options))]  # type: ignore[arg-type]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "b.txt",
        "a.csv",
        "sub/c.jsonl.gz",
        "sub/D.TXT.zst",
        "sub/e.json",
        "readme.md",
        ".hidden.txt",
        ".git/f.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_directory_is_recursive_sorted_without_hidden_and_unknown_files(tree: Path) -> None:
    assert names(".") == ["a.csv", "b.txt", "sub/D.TXT.zst", "sub/c.jsonl.gz"]


def test_explicit_format_takes_every_file_that_is_not_hidden(tree: Path) -> None:
    assert names(".", format="text") == [
        "a.csv",
        "b.txt",
        "readme.md",
        "sub/D.TXT.zst",
        "sub/c.jsonl.gz",
        "sub/e.json",
    ]


def test_glob_is_sorted_crosses_directories_and_yields_files_only(tree: Path) -> None:
    assert names("*") == ["a.csv", "b.txt", "readme.md"]
    assert names("**/*.j*") == ["sub/c.jsonl.gz", "sub/e.json"]
    assert names(str(tree / "[ab].*")) == [str(tree / "a.csv"), str(tree / "b.txt")]


def test_order_of_specs_is_kept(tree: Path) -> None:
    assert names("b.txt", "a.csv") == ["b.txt", "a.csv"]


def test_literal_file_wins_over_the_glob(tree: Path) -> None:
    (tree / "[ab].txt").write_text("x\n")
    assert names("[ab].txt") == ["[ab].txt"]


def test_file_reached_twice_is_read_once(tree: Path) -> None:
    (tree / "link.txt").symlink_to("b.txt")
    assert names("*.txt", "./b.txt", tree / "b.txt", ".") == [
        "b.txt",
        "a.csv",
        "sub/D.TXT.zst",
        "sub/c.jsonl.gz",
    ]


def test_linked_directories_are_followed_and_a_loop_ends(tree: Path) -> None:
    (tree / "sub" / "up").symlink_to(tree)
    (tree / "other").mkdir()
    (tree / "other" / "link").symlink_to(tree / "sub")
    assert names("other") == [
        "other/link/D.TXT.zst",
        "other/link/c.jsonl.gz",
        "other/link/up/a.csv",
        "other/link/up/b.txt",
    ]


def test_one_spec_may_come_without_a_list(tree: Path) -> None:
    assert [source.name for source in resolve_sources("b.txt", ReadOptions())] == ["b.txt"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("missing.txt", "'missing.txt': no such file or directory"),
        ("b.txt/x", "'b.txt/x': no such file or directory"),
        ("*.nothing", "nothing matches it as a pattern"),
        ("su*", "'su*': no file of this name, and only directories match"),
        ("", "empty file name"),
        ("x" * 5000, "file name too long"),
        ("nul\0byte", "embedded null"),
        ("bad\x1b]0;\n.txt", r"'bad\x1b]0;\n.txt': no such file"),
    ],
)
def test_what_cannot_be_found_is_named(tree: Path, refusal: Refusal, spec: str, expected: str) -> None:
    message = refusal(spec)
    assert expected in message
    assert "expected" in message


def test_no_input_at_all(refusal: Refusal) -> None:
    assert "no input named" in refusal()


def test_directory_without_data_lists_the_extensions(tmp_path: Path, refusal: Refusal) -> None:
    (tmp_path / "a.md").write_text("x")
    assert ".parquet" in refusal(tmp_path)
    (tmp_path / "a.md").unlink()
    assert "no file in this directory" in refusal(tmp_path, format="text")


def test_socket_and_device_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Refusal) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path is limited to some hundred bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.txt")
        assert "'s.txt': not a regular file" in refusal("s.txt")
    assert "not a regular file" in refusal("/dev/null")


def test_permission_is_asked_before_reading(tree: Path, monkeypatch: pytest.MonkeyPatch, refusal: Refusal) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "'b.txt': permission denied" in refusal("b.txt")


def test_unlistable_directory_is_an_error_not_a_gap(
    tree: Path, monkeypatch: pytest.MonkeyPatch, refusal: Refusal
) -> None:
    listing = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", path)
        return listing(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert "'./sub': cannot list this directory: permission denied" in refusal(".")


def test_file_removed_before_it_is_opened(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = resolve_sources(["b.txt"], ReadOptions())
    (tree / "b.txt").unlink()
    with pytest.raises(CorpusError, match=r"'b.txt': cannot read: No such file"):
        list(read_sources(sources, ReadOptions()))


def test_sizes(tree: Path) -> None:
    sources = resolve_sources(["a.csv", "b.txt"], ReadOptions())
    assert [source.size for source in sources] == [2, 2]
    assert total_bytes(sources) == 4
    assert total_bytes(resolve_sources(["a.csv", "-"], ReadOptions())) is None
    assert total_bytes([]) == 0


def test_suffix_and_codec_by_name(tree: Path) -> None:
    sources = resolve_sources(["sub/D.TXT.zst", "a.csv"], ReadOptions())
    assert [(source.suffix, source.codec) for source in sources] == [(".txt", "zstd"), (".csv", None)]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, texts: Texts) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"one\ntwo\n"), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", stdin)
    assert texts("-", "-") == ["one", "two"]
    assert not stdin.closed
    assert not stdin.buffer.closed
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\n")))
    assert texts(Path("-")) == ["one"]


@pytest.mark.parametrize("stdin", [None, io.StringIO("text")])
def test_standard_input_without_bytes(
    monkeypatch: pytest.MonkeyPatch, refusal: Refusal, stdin: io.StringIO | None
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    assert "standard input" in refusal("-")


def test_pipe_is_read_like_a_file(tmp_path: Path, texts: Texts) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("text,n\nhello,1\n"))
    writer.start()
    assert texts(pipe) == ["hello"]
    writer.join()
    assert total_bytes(resolve_sources([pipe], ReadOptions())) is None


def test_names_in_messages_are_short_and_printable() -> None:
    assert shown("a\x1b\u202e\n") == r"'a\x1b\u202e\n'"
    assert shown("é" * 500, 10) == repr("é" * 10) + "..."
    assert shown_list("abc", 2) == "'a', 'b' and 1 more"
    assert shown_list(["a"]) == "'a'"


def test_what_spark_leaves_beside_its_files_is_no_data(tmp_path: Path) -> None:
    for name in ("_temporary/0/part-0.jsonl", "_SUCCESS", "_metadata.parquet", ".part-0.jsonl.crc", "part-0.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"text": "a"}\n')
    fsspec.filesystem("memory").put(str(tmp_path), "/spark", recursive=True)
    for options in (ReadOptions(), ReadOptions(format="jsonl")):
        for spec in (str(tmp_path), "memory://spark"):
            [source] = resolve_sources([spec], options)
            assert source.name.endswith("part-0.jsonl")
