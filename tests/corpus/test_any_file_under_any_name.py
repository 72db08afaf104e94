"""A file of each format under each suffix, and damaged ones: read as what it is, or one line of error."""

import gzip
import io
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from posgeom.corpus.sources import FORMAT_BY_SUFFIX
from posgeom.errors import CorpusError
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents
from tests.corpus.test_readers_sequences import SEQUENCES

WORDS = ["one two three", "vier, fünf; sechs", "a\u2028b", "last"]
TABLE = pa.table({"text": WORDS, "n": [1, 2, 3, 4]})


def parquet() -> bytes:
    pq.write_table(TABLE, stream := io.BytesIO(), row_group_size=2)
    return stream.getvalue()


def arrow(new: Callable[..., Any]) -> bytes:
    with new(stream := io.BytesIO(), TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)
    return stream.getvalue()


RECORDS = [{"text": text, "n": n} for n, text in enumerate(WORDS)]
OWN_START = {
    "parquet": (parquet(), WORDS),
    "arrow file": (arrow(pa.ipc.new_file), WORDS),
    "arrow stream": (arrow(pa.ipc.new_stream), WORDS),
    "jsonl": ("".join(json.dumps(record) + "\n" for record in RECORDS).encode(), WORDS),
    "json array": (json.dumps(RECORDS, indent=1, ensure_ascii=False).encode(), WORDS),
    "strings": ("".join(json.dumps(text) + "\n" for text in WORDS).encode(), None),
    "fasta": (b">a one\nACGT\nAC\n; a comment\n>b\nNNNN\n", ["ACGTAC", "NNNN"]),
    **{name: (content.encode(), texts) for name, (content, texts) in SEQUENCES.items()},
}
"""Formats that say by their first bytes what they are, and their documents; None where they do not."""
LINES = {
    "text": "\n".join(WORDS).encode(),
    "csv": b'text,n\n"one, two",1\nthree,2\n',
    "tsv": b"text\tn\none two\t1\n",
    "semicolons": b"id;text\n1;hello big world\n",
    "quoted mail": b"> are you there?\nyes I am\n",
    "pdf": b"%PDF-1.7\n\xe2\xe3\n",
    "binary": bytes(range(256)),
    "empty": b"",
    "blank": b"\n \n\r\n",
    "bom": b"\xef\xbb\xbftext\na\n",
    "utf-16": "text\na\n".encode("utf-16"),
    "deep json": b"[" * 100_000,
    "old mac": b">a\rACGT\r",
}
SUFFIXES = ["", ".unknown", *FORMAT_BY_SUFFIX]


def read(path: Path | str) -> list[str] | None:
    """The documents; None where the file is refused, in one line."""
    try:
        return [text for batch in read_documents([path], ReadOptions()) for text in batch.texts]
    except CorpusError as error:
        message = str(error)
    assert message.isprintable(), message
    assert ": " in message
    return None


@pytest.mark.parametrize("kind", OWN_START)
def test_a_format_with_a_start_of_its_own_is_read_whatever_the_name(tmp_path: Path, kind: str) -> None:
    content, expected = OWN_START[kind]
    for suffix in SUFFIXES:
        (tmp_path / f"a{suffix}").write_bytes(content)
        if expected is not None:
            assert read(tmp_path / f"a{suffix}") == expected, suffix
        if not kind.startswith(("parquet", "arrow")):
            (tmp_path / f"a{suffix}.gz").write_bytes(gzip.compress(content))
            assert read(tmp_path / f"a{suffix}.gz") == read(tmp_path / f"a{suffix}"), suffix


@pytest.mark.parametrize("kind", OWN_START)
def test_standard_input_is_read_by_its_first_bytes(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    content, expected = OWN_START[kind]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert expected is None or read("-") == (None if kind.startswith(("parquet", "arrow")) else expected)


@pytest.mark.parametrize("kind", LINES)
def test_a_file_without_a_start_of_its_own_is_what_its_name_says_or_refused(tmp_path: Path, kind: str) -> None:
    content = LINES[kind]
    for suffix in SUFFIXES:
        path = tmp_path / f"a{suffix}"
        path.write_bytes(content)
        documents = read(path)
        named = FORMAT_BY_SUFFIX.get(suffix, "text")
        if kind in ("pdf", "binary", "utf-16", "old mac"):
            assert documents is None, suffix
        elif kind == "empty" and named not in ("parquet", "arrow"):
            assert documents == [], suffix
        elif named == "text" and kind != "deep json":
            lines = content.decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n").split("\n")
            assert documents == lines, suffix
        elif kind == "csv":
            assert documents == (["one, two", "three"] if named == "csv" else None), suffix
        elif kind == "tsv":
            assert documents == (["one two"] if named == "tsv" else None), suffix
        elif kind in ("semicolons", "quoted mail") and named in ("parquet", "arrow", "jsonl", "conllu", "clustal"):
            assert documents is None, suffix


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    contents = [content for content, _ in OWN_START.values()] + [*LINES.values()]
    for i in range(400):
        content = bytearray(rng.choice(contents)[:20_000] or rng.randbytes(rng.randrange(200)))
        for _ in range(rng.randrange(1, 6)):
            place = rng.randrange(len(content) + 1)
            match rng.randrange(4):
                case 0:
                    content[place : place + 1] = rng.choice([b"\0", b"\xff", b"\n", b"\r", b'"', b"{", b">", b"\t"])
                case 1:
                    del content[place : place + rng.randrange(40)]
                case 2:
                    content[place:place] = rng.randbytes(rng.randrange(9))
                case _:
                    content[place:place] = content[rng.randrange(len(content) + 1) :][:50]
        path = tmp_path / f"{i}{rng.choice(SUFFIXES)}"
        path.write_bytes(content)
        read(path)
