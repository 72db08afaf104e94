"""Sequences and treebanks: A2M, FASTQ, Stockholm, Clustal and CoNLL-U, told by content."""

from collections.abc import Callable
from pathlib import Path

import pytest

from posgeom.corpus.documents import DocumentBatch
from posgeom.counts.counting import count
from posgeom.errors import CorpusError

Batches = Callable[..., list[DocumentBatch]]
Refusal = Callable[..., str]
Texts = Callable[..., list[str]]

STOCKHOLM = """# STOCKHOLM 1.0
#=GF ID an example
#=GS s1/1-4 DE first of its kind
s1/1-4  AC-G
s2/1-3  A--C
#=GC SS_cons ....

s1/1-4  T
s2/1-3  G
#=GC SS_cons .
//
"""
CLUSTAL = """CLUSTAL W (1.83) multiple sequence alignment


s1      AC-G
s2      A--C
        *   \n
s1      T
s2      G
        .
"""
FASTQ = "@r1 lane 1\nACGT\n+\n@III\n@r2 lane 2\nNN\nA\n+r2 lane 2\nII\n#\n"
CONLLU = """# newdoc id = d1
# sent_id = 1
# text = du pain
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\tDefinite=Def|Gender=Masc\t3\tdet\t_\t_
3\tpain\tpain\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No

# sent_id = 2
1\t10 000\t10 000\tNUM\t_\t_\t0\troot\t_\t_
1.1\tnodes\tnode\tNOUN\t_\t_\t_\t_\t0:root\t_

# newdoc id = d2
# sent_id = 3
1\tFin\tfin\tNOUN\t_\t_\t0\troot\t_\t_
"""
SEQUENCES = {
    "stockholm": (STOCKHOLM, ["AC-GT", "A--CG"]),
    "clustal": (CLUSTAL, ["AC-GT", "A--CG"]),
    "fastq": (FASTQ, ["ACGT", "NNA"]),
    "conllu": (CONLLU, ["de le pain", "10 000", "Fin"]),
}


def write(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("suffix", ["", ".txt", ".sto", ".aln", ".fastq", ".conllu", ".fa", ".a2m", ".csv", ".jsonl"])
@pytest.mark.parametrize("kind", SEQUENCES)
def test_read_by_content_whatever_the_name(tmp_path: Path, texts: Texts, kind: str, suffix: str) -> None:
    content, expected = SEQUENCES[kind]
    assert texts(write(tmp_path / f"a{suffix}", content)) == expected
    assert texts(write(tmp_path / f"b{suffix}", content.replace("\n", "\r\n"))) == expected


@pytest.mark.parametrize("kind", SEQUENCES)
def test_a_package_that_is_not_installed(
    tmp_path: Path, refusal: Refusal, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("posgeom.corpus.readers.tabular.find_spec", lambda _: None)
    extra = "conllu" if kind == "conllu" else "bio"
    assert f"which is not installed: pip install 'posgeom[{extra}]'" in refusal(
        write(tmp_path / "a", SEQUENCES[kind][0])
    )


@pytest.mark.parametrize("kind", SEQUENCES)
def test_a_file_cut_anywhere_is_an_error_or_a_beginning(tmp_path: Path, texts: Texts, kind: str) -> None:
    content, expected = SEQUENCES[kind]
    for n_bytes in range(len(content.rstrip())):
        path = write(tmp_path / "a", content[:n_bytes])
        try:
            read = texts(path, format=kind)
        except CorpusError:
            continue
        # Neither Clustal nor CoNLL-U marks its end: the last documents may be short, but none is another.
        whole = len(read) - {"clustal": len(read), "conllu": 1}.get(kind, 0)
        assert read[: max(whole, 0)] == expected[: max(whole, 0)], content[:n_bytes]
        assert all(map(str.startswith, expected, read)), content[:n_bytes]


def test_sequences_are_characters_and_their_gaps_are_noted(tmp_path: Path) -> None:
    counts = count(write(tmp_path / "a.sto", STOCKHOLM), n_positions=5)
    assert (counts.tokenizer.kind, counts.n_documents, counts.n_tokens) == ("chars", 2, 10)
    [note] = counts.reading_notes
    assert "sequences hold gaps" in note
    counts = count(write(tmp_path / "a.fa", ">a\nACgt\n>b\nACGT\n"), n_positions=4)
    [note] = counts.reading_notes
    assert "upper-case and lower-case" in note
    assert not count(write(tmp_path / "a.fa", ">a\nacgt\n>b\naggt\n"), n_positions=4).reading_notes


@pytest.mark.parametrize("suffix", [".a2m", ".a3m"])
def test_insertions_are_refused_or_dropped(tmp_path: Path, texts: Texts, refusal: Refusal, suffix: str) -> None:
    path = write(tmp_path / f"a{suffix}", ">a\nAC.G-\n>b\nACtGA\n>c\nA-aaGA\n")
    assert (
        "line 3: insertions (lower-case letters), after which columns are not aligned: expected match columns; drop"
        " insertions with --format a2m, or count every character as it stands with --format fasta"
    ) in refusal(path)
    assert texts(path, format="a2m") == ["ACG-", "ACGA", "A-GA"]
    assert texts(path, format="fasta") == ["AC.G-", "ACtGA", "A-aaGA"]


@pytest.mark.parametrize("kind", ["stockholm", "clustal", "fastq"])
def test_groups_of_sequences(tmp_path: Path, groups: Texts, refusal: Refusal, kind: str) -> None:
    path = write(tmp_path / "a", SEQUENCES[kind][0])
    names = {"stockholm": ["s1/1-4", "s2/1-3"], "clustal": ["s1", "s2"], "fastq": ["r1", "r2"]}[kind]
    assert groups(path, fold_by="name") == names
    assert "the columns are 'name', 'description'" in refusal(path, fold_by="species")
    assert "got --column" in refusal(path, column="text")


def test_columns_and_groups_of_a_treebank(tmp_path: Path, texts: Texts, groups: Texts, refusal: Refusal) -> None:
    path = write(tmp_path / "a.conllu", CONLLU)
    assert texts(path, column="upos") == ["ADP DET NOUN", "NUM", "NOUN"]
    assert texts(path, column="feats") == ["_ Definite=Def|Gender=Masc _", "_", "_"]
    assert groups(path, fold_by="newdoc id") == ["d1", "d1", "d2"]
    assert groups(path, fold_by="sent_id") == ["1", "2", "3"]
    assert "no column 'word': the columns are 'id', 'form'" in refusal(path, column="word")
    assert "no column 'author': the columns are 'newdoc id', 'sent_id'" in refusal(path, fold_by="author")


def test_words_with_spaces_are_noted(tmp_path: Path, batches: Batches) -> None:
    [batch] = batches(write(tmp_path / "a.conllu", CONLLU))
    assert batch.column == "form"
    assert batch.notes == ("some values of a CoNLL-U column hold spaces, and are several words to a tokenizer",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.fastq", "@r1\nACGT\n+\nIII\n", "line 4: truncated, damaged or not FASTQ"),
        ("a.fq", "words\n", "line 1: truncated, damaged or not FASTQ"),
        ("a.sto", STOCKHOLM.replace("//\n", ""), "truncated, damaged or not Stockholm (the data end without //)"),
        ("a.sto", "words\n", "not Stockholm"),
        ("a.aln", "words\n", "not Clustal"),
        ("a.conllu", "words only\n", "damaged or not CoNLL-U"),
        ("a.conllu", CONLLU[: CONLLU.index("NOUN")], "damaged or not CoNLL-U (3 columns)"),
    ],
)
def test_damaged_files(tmp_path: Path, refusal: Refusal, name: str, content: str, message: str) -> None:
    assert message in refusal(write(tmp_path / name, content))


def test_invalid_utf8_by_policy(tmp_path: Path, texts: Texts, refusal: Refusal) -> None:
    path = tmp_path / "a.fastq"
    path.write_bytes(b"@r1 \xff\nACGT\n+\nIIII\n")
    assert "line 1: invalid UTF-8 at byte offset 4" in refusal(path)
    assert texts(path, utf8_errors="replace") == ["ACGT"]
