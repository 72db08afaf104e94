"""Plain text, FASTA, the choice of format, batches and progress."""

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.reading import READERS
from posgeom.corpus.sources import resolve_sources, total_bytes
from posgeom.errors import CorpusError
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents

Batches = Callable[..., list[DocumentBatch]]
Refusal = Callable[..., str]
Texts = Callable[..., list[str]]


def write(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


def test_empty_lines_are_documents(tmp_path: Path, batches: Batches) -> None:
    (batch,) = batches(write(tmp_path / "a.txt", "\none\n\n two \n"))
    assert batch.texts == ["", "one", "", " two "]
    assert (batch.groups, batch.column, batch.first_row) == (None, None, 1)
    assert batch.source == str(tmp_path / "a.txt")


@pytest.mark.parametrize("content", ["", "one", "\ufeffone\r\n\ntwo\n"])
def test_whole_files(tmp_path: Path, texts: Texts, content: str) -> None:
    assert texts(write(tmp_path / "a.txt", content), whole_files=True) == [content.removeprefix("\ufeff")]


def test_whole_file_by_utf8_policy(tmp_path: Path, texts: Texts, refusal: Refusal) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\nb\xff")
    assert "invalid UTF-8 at byte offset 3" in refusal(path, whole_files=True)
    assert texts(path, whole_files=True, utf8_errors="replace") == ["a\nb\ufffd"]


@pytest.mark.parametrize("name", ["a.txt", "a.fa"])
def test_column_means_nothing_without_columns(tmp_path: Path, refusal: Refusal, name: str) -> None:
    assert "got --column" in refusal(write(tmp_path / name, ">a\nb\n"), column="text")


def test_group_means_nothing_for_text(tmp_path: Path, refusal: Refusal) -> None:
    assert "got --fold-by" in refusal(write(tmp_path / "a.txt", "a\n"), fold_by="column:text")


def test_whole_files_means_nothing_for_columns(tmp_path: Path, refusal: Refusal) -> None:
    assert "got --whole-files" in refusal(write(tmp_path / "a.csv", "text\na\n"), whole_files=True)


def test_fasta(tmp_path: Path, batches: Batches) -> None:
    path = write(tmp_path / "a.fa", "\n>seq1 human\r\nACGT ac\r\n\n  GG\t\n>seq2\n>seq3 x\nNN")
    (batch,) = batches(path)
    assert batch.texts == ["ACGTacGG", "", "NN"]
    assert batch.column is None
    assert batch.first_row == 2


def test_fasta_comments_are_no_sequence(tmp_path: Path, texts: Texts) -> None:
    assert texts(write(tmp_path / "a.fa", ">a\nAC\n; of its own\n# too\nGT\n")) == ["ACGT"]
    assert texts(write(tmp_path / "a.fa", "; before the first\n>a\nAC\n")) == ["AC"]


def test_fasta_groups(tmp_path: Path, groups: Texts, refusal: Refusal) -> None:
    path = write(tmp_path / "a.fasta", ">seq1 human x\nA\n> seq1 mouse\nC\n")
    assert groups(path, fold_by="name") == ["seq1", "seq1"]
    assert groups(path, fold_by="description") == ["seq1 human x", "seq1 mouse"]
    assert "the columns are 'name', 'description'" in refusal(path, fold_by="species")
    assert "line 3: column 'name' is empty" in refusal(write(tmp_path / "b.fa", ">a\nA\n>\nC\n"), fold_by="name")


def test_fasta_without_header(tmp_path: Path, refusal: Refusal) -> None:
    message = refusal(write(tmp_path / "a.faa", "\n\nACGT\n"))
    assert "a.faa', line 3: got 'ACGT': expected a FASTA header" in message


def test_fasta_invalid_utf8_and_length(
    tmp_path: Path, refusal: Refusal, texts: Texts, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.fna"
    path.write_bytes(b">a\nAC\nG\xffT\n")
    assert "line 3: invalid UTF-8 at byte offset 1" in refusal(path)
    assert texts(path, utf8_errors="replace") == ["ACG\ufffdT"]
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 5)
    assert texts(write(path, ">a\nACG\nTA\n")) == ["ACGTA"]
    assert "record at line 1: a document longer than 5 bytes" in refusal(write(path, ">a\nACG\nTAC\n"))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.unknown", '{"text": "a"}\n', ["a"]),
        ("a.a2m", ">a\nA-C\n.GT\n>b\nAC\n", ["A-C.GT", "AC"]),
        ("a.fas", ">a\nAC\n", ["AC"]),
        ("a.txt", '{"text": "a"}\n', ["a"]),
        ("a.log", ">a\nAC\n", ["AC"]),
        ("a.csv", '{"text": "a, b"}\n', ["a, b"]),
        ("a.ndjson", '{"text": "a"}\n', ["a"]),
        ("a.JSONL", '{"text": "a"}\n', ["a"]),
        ("a.json", '\n {"text": "a"}\n', ["a"]),
        ("noextension", '{"text": "a"}\n', ["a"]),
        ("noextension", ">a b\nAC\nGT\n", ["ACGT"]),
        ("noextension", "> a quoted mail\nhas several words\n", ["> a quoted mail", "has several words"]),
        ("noextension", "{braces} only\n", ["{braces} only"]),
        ("noextension", "text,n\na,1\n", ["text,n", "a,1"]),
        ("noextension", "", []),
    ],
)
def test_format_by_name_and_first_bytes(
    tmp_path: Path, texts: Texts, name: str, content: str, expected: list[str]
) -> None:
    assert texts(write(tmp_path / name, content)) == expected
    compressed = tmp_path / f"{name}.gz"
    compressed.write_bytes(gzip.compress(content.encode()))
    assert texts(compressed) == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "%PDF-1.7\nstream\n", "starts like a PDF"),
        ("a.csv", "%PDF-1.7\nstream\n", "starts like a PDF"),
        ("a.htm", "<!DOCTYPE html>\n<p>a\n", "starts like a web page"),
        ("a.xml", '<?xml version="1.0"?>\n<a/>\n', "starts like an XML file"),
        ("a.nex", "#NEXUS\nbegin data;\n", "starts like a NEXUS alignment"),
        ("a.gb", "LOCUS       AB000001\n", "starts like a GenBank file"),
        ("a.rtf", "{\\rtf1 a}\n", "starts like a rich text file"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,500\nhello\n", "starts like subtitles"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:04.000\nhello\n", "starts like subtitles"),
        ("a.embl", "ID   X56734; SV 1; linear; mRNA; STD; PLN; 1859 BP.\nXX\n", "starts like an EMBL or UniProt file"),
        ("u.dat", "ID   001R_FRG3G   Reviewed;   256 AA.\nAC   Q6GZX4;\n", "starts like an EMBL or UniProt file"),
        ("mbox", "From a@b.org Mon Jan  1 00:00:00 2024\nSubject: x\n", "starts like a mailbox"),
        ("a.ipynb", '{\n "cells": [\n  {}\n ]\n}\n', "starts like a Jupyter notebook"),
        ("a.gff", "##gff-version 3\n", "starts like a GFF file"),
        ("a.sam", "@HD\tVN:1.6\tSO:coordinate\n", "starts like a SAM file"),
        ("a.pdb", f"HEADER    {'OXYGEN TRANSPORT':40}07-MAR-84   4HHB\n", "starts like a PDB structure"),
    ],
)
def test_files_of_another_kind(
    tmp_path: Path, refusal: Refusal, texts: Texts, name: str, content: str, message: str
) -> None:
    path = write(tmp_path / name, content)
    assert message in refusal(path)
    assert texts(path, format="text") == content.rstrip("\n").split("\n")


def test_text_that_looks_like_another_kind_of_file(tmp_path: Path, texts: Texts) -> None:
    for content in (
        "@anna said\nyes\n",
        "# text\nof mine\n",
        "[INFO] started\n",
        "[1] a note\n",
        "# sent_id\n",
        '["Hello," she said]\n',
        '{"a": 1} is an example\n',
        "{\nint x;\n}\n",
        "> quoted mail\nan answer\n",
        "CLUSTAL is a program\n",
        "1\ta\tb\n",
    ):
        assert texts(write(tmp_path / "a.txt", content)) == content.rstrip("\n").split("\n")


def test_content_that_overrules_a_name_is_noted(tmp_path: Path, batches: Batches) -> None:
    [batch] = batches(write(tmp_path / "a.txt", '{"text": "a"}\n'))
    assert batch.notes == (
        "files named .txt that start like jsonl are read so; --format text reads them as their name says",
    )
    [batch] = batches(write(tmp_path / "a", '{"text": "a"}\n'))
    assert batch.notes == ()


def test_documents_of_one_file_each_are_text_whatever_they_hold(tmp_path: Path, texts: Texts) -> None:
    assert texts(write(tmp_path / "a.txt", '{"text": "a"}\n'), whole_files=True) == ['{"text": "a"}\n']


@pytest.mark.parametrize("name", ["a.txt", "a.fa", "a.csv", "a.jsonl"])
def test_lines_that_end_in_carriage_returns_alone(tmp_path: Path, refusal: Refusal, texts: Texts, name: str) -> None:
    path = write(tmp_path / name, ">a\rAC\rGT\r")
    assert r"its lines end in carriage returns alone: expected line feeds; convert it with tr '\r' '\n'" in refusal(
        path
    )
    assert texts(write(tmp_path / "b.txt", "10 %\r20 %\nb\r\n")) == ["10 %\r20 %", "b"]


def test_a_carriage_return_hides_no_sequence(tmp_path: Path, refusal: Refusal) -> None:
    path = write(tmp_path / "a.fa", ">a\nAC\n>b\rGT\n")
    assert "line 3: a carriage return inside a header, which hides what follows" in refusal(path)


def test_json_lines_on_standard_input_longer_than_the_look_ahead(monkeypatch: pytest.MonkeyPatch, texts: Texts) -> None:
    long = "x" * 200_000
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f'{{"text": "{long}"}}\n'.encode())))
    assert texts("-") == [long]


def test_explicit_format_wins(tmp_path: Path, texts: Texts) -> None:
    path = write(tmp_path / "a.txt", "text\tn\na\t1\n")
    assert texts(path, format="tsv") == ["a"]
    assert texts(write(tmp_path / "a.csv", "a,b\n"), format="text") == ["a,b"]


def test_impossible_options(tmp_path: Path, refusal: Refusal) -> None:
    path = write(tmp_path / "a.txt", "a\n")
    assert "unknown format 'xml'" in refusal(path, format="xml")
    assert "batch size of 0" in refusal(path, batch_size=0)


@pytest.mark.parametrize("format_", [f for f in READERS if f not in ("parquet", "arrow")])
def test_empty_file_has_no_documents(tmp_path: Path, batches: Batches, format_: str) -> None:
    assert batches(write(tmp_path / "a", ""), format=format_) == []
    assert batches(write(tmp_path / "b", "\ufeff"), format=format_) == []


def test_batches_are_bounded_by_documents(tmp_path: Path, batches: Batches) -> None:
    found = batches(write(tmp_path / "a.txt", "a\nb\nc\nd\ne\n"), batch_size=2)
    assert [(batch.first_row, batch.texts) for batch in found] == [
        (1, ["a", "b"]),
        (3, ["c", "d"]),
        (5, ["e"]),
    ]


def test_batches_are_bounded_by_characters(tmp_path: Path, batches: Batches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_BATCH_CHARACTERS", 5)
    found = batches(write(tmp_path / "a.txt", "aaa\nbb\nc\n" + "d" * 9 + "\n\ne\n"))
    assert [batch.texts for batch in found] == [["aaa", "bb"], ["c"], ["d" * 9], ["", "e"]]


def test_batches_do_not_span_files(tmp_path: Path, batches: Batches) -> None:
    for name in ("a.txt", "b.txt"):
        write(tmp_path / name, f"{name}\n")
    assert [batch.texts for batch in batches(tmp_path)] == [["a.txt"], ["b.txt"]]


@pytest.mark.slow
def test_progress_rises_to_the_total_over_files(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "word\n" * 500_000)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"".join(b"%d\n" % i for i in range(500_000))))
    write(tmp_path / "c.txt", "")
    sources = resolve_sources([tmp_path], ReadOptions())
    calls: list[int] = []
    for _ in read_documents([tmp_path], ReadOptions(), on_progress=calls.append):
        pass
    assert calls == sorted(calls)
    assert len(set(calls)) > 4
    assert calls[-1] == total_bytes(sources)


def test_missing_source_is_an_error_before_iterating(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such file"):
        read_documents([tmp_path / "missing"], ReadOptions())


def test_log_lines(data_dir: Path, texts: Texts) -> None:
    lines = texts(data_dir / "HDFS_2k.log")
    assert len(lines) == 2000
    assert lines[0].startswith("081109 203615 148 INFO dfs.DataNode$PacketResponder")
