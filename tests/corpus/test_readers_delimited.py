"""CSV and TSV."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from posgeom.corpus import documents
from posgeom.corpus.documents import DocumentBatch
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents

Batches = Callable[..., list[DocumentBatch]]
Refusal = Callable[..., str]
Texts = Callable[..., list[str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.csv"


def write(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


def test_the_only_text_column(path: Path, batches: Batches) -> None:
    (batch,) = batches(write(path, "id,sentence,score\n1,a,.5\n2,b,nan\n"))
    assert (batch.texts, batch.column, batch.first_row) == (["a", "b"], "sentence", 2)


def test_the_column_named_text(path: Path, batches: Batches) -> None:
    (batch,) = batches(write(path, "title,text\nx,a\n"))
    assert (batch.texts, batch.column) == (["a"], "text")


@pytest.mark.parametrize(
    ("name", "separator", "remedy"),
    [
        ("a.csv", "|", "convert them to commas"),
        ("a.csv", ";", "convert them to commas"),
        ("a.csv", "\t", "--format tsv"),
        ("a.tsv", ",", "--format csv"),
    ],
)
def test_another_separator(
    tmp_path: Path, refusal: Refusal, texts: Texts, name: str, separator: str, remedy: str
) -> None:
    path = write(tmp_path / name, f"id{separator}text\n1{separator}hello world\n")
    assert remedy in refusal(path)
    assert texts(path, column=f"id{separator}text") == [f"1{separator}hello world"]


def test_ambiguous_column(path: Path, refusal: Refusal) -> None:
    message = refusal(write(path, "id,title,body\n1,x,a\n"))
    assert "text columns 'title', 'body': expected one; choose it with --column NAME" in message
    assert "--no-header" in message
    assert "--no-header" not in refusal(path, header=False)


def test_text_seen_late_and_empty_cells(path: Path, batches: Batches) -> None:
    rows = "".join(f"{i},\n" for i in range(50))
    (batch,) = batches(write(path, f"id,body\n{rows}50,word\n"))
    assert batch.column == "body"
    assert batch.texts == [""] * 50 + ["word"]


def test_no_text_column(path: Path, refusal: Refusal) -> None:
    assert "no text column among 'a', 'b'" in refusal(write(path, "a,b\n1,2\n3,\n"))


def test_column_by_name_or_number(path: Path, texts: Texts, refusal: Refusal) -> None:
    write(path, "x,y,1\na,b,c\n")
    assert texts(path, column="y") == ["b"]
    assert texts(path, column="2") == ["b"]
    assert texts(path, column="1") == ["c"]  # the name comes first
    assert texts(path, column="3", header=False) == ["1", "c"]
    for wrong in ("0", "4", "z", "-1", "٢"):
        assert "the columns are 'x', 'y', '1'" in refusal(path, column=wrong)
    assert "--no-header" in refusal(path, column="z")
    message = refusal(path, column="x", header=False)
    assert "no column 'x': the columns are '1', '2', '3'" in message
    assert "--no-header" not in message


def test_wrong_column_of_a_file_without_rows(path: Path, refusal: Refusal, texts: Texts) -> None:
    write(path, "x,y\n")
    assert "no column 'z'" in refusal(path, column="z")
    assert "no column 'z'" in refusal(path, fold_by="z")
    assert texts(path) == []


def test_repeated_column_name(path: Path, refusal: Refusal, texts: Texts) -> None:
    write(path, "text,n,text\na,1,b\n")
    assert "several columns named 'text': expected one; choose it by its number, --column 1" in refusal(path)
    assert texts(path, column="3") == ["b"]


def test_group(path: Path, batches: Batches, refusal: Refusal) -> None:
    write(path, "user,body\nu,a\nv,b\n")
    for name in ("user", "1"):
        (batch,) = batches(path, fold_by=name)
        assert (batch.texts, batch.groups, batch.column) == (["a", "b"], ["u", "v"], "body")
    assert "choose one with --fold-by NAME" in refusal(path, fold_by="who")
    assert "line 3: column 'user' is empty" in refusal(write(path, "user,body\nu,a\n,b\n"), fold_by="user")


def test_no_header(path: Path, batches: Batches) -> None:
    (batch,) = batches(write(path, "1,a\n2,b\n"), header=False)
    assert (batch.texts, batch.column, batch.first_row) == (["a", "b"], "2", 1)


def test_quotes(path: Path, texts: Texts) -> None:
    write(path, 'n,text\r\n1,"a, ""b"""\r\n2,"two\r\nlines\u2028more\n"\r\n3,5" pipe\r\n4,""\r\n')
    assert texts(path, column="text") == ['a, "b"', "two\r\nlines\u2028more\n", '5" pipe', ""]


def test_line_separators_do_not_split(path: Path, texts: Texts) -> None:
    kept = "a\u2028b\x0bc\x0cd\x85e"
    assert texts(write(path, f"text\n{kept}\n")) == [kept]
    assert texts(write(path.with_suffix(".tsv"), f"text\n{kept}\n")) == [kept]


def test_quotes_are_plain_in_tsv(tmp_path: Path, texts: Texts) -> None:
    path = write(tmp_path / "a.tsv", 'n\ttext\n1\t"open\n2\ta "b" c"\n')
    assert texts(path) == ['"open', 'a "b" c"']


def test_quoting_by_option(tmp_path: Path, texts: Texts) -> None:
    path = write(tmp_path / "a.tsv", 'n\ttext\n1\t"a\tb"\n')
    assert texts(path, quoting="csv") == ["a\tb"]
    path = write(tmp_path / "a.csv", 'n,text\n1,"a"\n')
    assert texts(path, quoting="none") == ['"a"']
    assert texts(path) == ["a"]


def test_unclosed_quote_names_its_row(path: Path, refusal: Refusal) -> None:
    message = refusal(write(path, 'n,text\n1,"a\nb"\n2,"open\n3,c\n4,d\n'))
    assert "a.csv', line 4: a quote opened in this row is never closed" in message
    assert "--quoting none" in message


def test_malformed_quotes(path: Path, refusal: Refusal) -> None:
    message = refusal(write(path, 'n,text\n1,a\n2,"b" c\n'))
    assert "line 3: malformed row" in message
    assert "--quoting none" in message


def test_bare_carriage_return(path: Path, refusal: Refusal, texts: Texts) -> None:
    write(path, "n,text\n1,a\rb\n")
    assert "line 2: malformed row (a carriage return" in refusal(path)
    assert texts(path, quoting="none") == ["a\rb"]


def test_too_few_fields(path: Path, refusal: Refusal) -> None:
    message = refusal(write(path, 'n,text\n1,"a\nb"\n2\n'), column="text")
    assert "a.csv', line 4: 1 field: expected at least 2, for column 'text'" in message


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_surplus_fields_are_not_dropped_in_silence(tmp_path: Path, refusal: Refusal, texts: Texts, suffix: str) -> None:
    separator = "," if suffix == ".csv" else "\t"
    path = write(tmp_path / f"a{suffix}", "n,text\n1,Hello, world\n".replace(",", separator))
    assert "line 2: 3 fields: expected 2" in refusal(path)
    assert texts(write(path, "n,text\n1,Hello,\n".replace(",", separator))) == ["Hello"]


def test_blank_lines(path: Path, batches: Batches, refusal: Refusal) -> None:
    (batch,) = batches(write(path, "\nn,text\n\n1,a\n\n2,b\n\n"))
    assert (batch.texts, batch.first_row) == (["a", "b"], 4)
    assert "line 5: column 'text' is empty" in refusal(
        write(path, "n,text\n1,a\n\n2,b\n3,\n"), fold_by="column:text", column="n"
    )


@pytest.mark.parametrize("quoting", ["csv", "none"])
def test_blank_line_of_a_single_column_is_an_empty_document(path: Path, texts: Texts, quoting: str) -> None:
    write(path, "text\na\n\nb\n")
    assert texts(path, quoting=quoting) == ["a", "", "b"]
    assert texts(write(path, "\na\n\nb\n"), quoting=quoting, header=False) == ["", "a", "", "b"]


def test_blank_file(path: Path, texts: Texts) -> None:
    assert texts(write(path, "\n\n")) == []


def test_long_field_loads_and_the_limit_is_restored(path: Path, texts: Texts) -> None:
    before = csv.field_size_limit()
    write(path, f'n,text\n1,{"x" * 200_000}\n2,"{"y" * 200_000}"\n')
    assert [len(text) for text in texts(path)] == [200_000, 200_000]
    assert csv.field_size_limit() == before


def test_limit_is_restored_only_when_no_reader_is_left(path: Path) -> None:
    before = csv.field_size_limit()
    write(path, "n,text\n" + f"1,{'x' * 200_000}\n" * 10)
    one = read_documents([path], ReadOptions(batch_size=1, column="text"))
    other = read_documents([path], ReadOptions(batch_size=1, column="text"))
    next(one)
    next(other)
    one.close()  # type: ignore[attr-defined]
    assert sum(len(batch.texts) for batch in other) == 9
    assert csv.field_size_limit() == before


def test_field_beyond_the_limit(path: Path, refusal: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 20)
    message = refusal(write(path, 'n,text\n1,a\n2,"' + "0123456789\n" * 3 + '"\n'))
    assert "line 3: a field longer than 20 characters" in message


def test_invalid_utf8(path: Path, refusal: Refusal, texts: Texts) -> None:
    path.write_bytes(b'n,text\n1,"a\n\xe9"\n')
    assert "a.csv', line 3: invalid UTF-8 at byte offset 0" in refusal(path)
    assert texts(path, utf8_errors="replace") == ["a\n\ufffd"]


def test_cola(data_dir: Path, batches: Batches) -> None:
    found = batches(data_dir / "cola_train.tsv", header=False, column="4", fold_by="1")
    texts = [text for batch in found for text in batch.texts]
    assert len(texts) == 8551
    assert texts[0] == "Our friends won't buy this analysis, let alone the next one we propose."
    raw = (data_dir / "cola_train.tsv").read_text(encoding="utf-8").split("\n")
    assert texts == [line.split("\t")[3] for line in raw if line]
    assert {group for batch in found for group in batch.groups or []} >= {"gj04"}


def test_splice(data_dir: Path, batches: Batches, refusal: Refusal) -> None:
    found = batches(data_dir / "uci_splice.csv", column="sequence", fold_by="label")
    assert {len(text) for batch in found for text in batch.texts} == {60}
    assert sum(len(batch.texts) for batch in found) == 3190
    assert {group for batch in found for group in batch.groups or []} == {"EI", "IE", "N"}
    assert "'label', 'name', 'sequence'" in refusal(data_dir / "uci_splice.csv")


def test_a_first_row_taken_for_a_header_by_mistake(tmp_path: Path, texts: Texts, refusal: Refusal) -> None:
    (tmp_path / "a.tsv").write_text("x\tThis is a whole sentence.\ny\tAnother one.\n")
    assert "which reads like a value: add --no-header" in refusal(tmp_path / "a.tsv", column="2")
    assert texts(tmp_path / "a.tsv", column="2", header=False) == ["This is a whole sentence.", "Another one."]
    assert texts(tmp_path / "a.tsv", column="This is a whole sentence.") == ["Another one."]
    (tmp_path / "b.tsv").write_text("x\tthe text column\ny\tAnother one.\n")
    assert texts(tmp_path / "b.tsv", column="2") == ["Another one."]
