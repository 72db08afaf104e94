"""JSON lines."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posgeom.corpus.documents import DocumentBatch
from posgeom.options import ReadOptions
from tests.corpus.helpers import read_documents

Batches = Callable[..., list[DocumentBatch]]
Refusal = Callable[..., str]
Texts = Callable[..., list[str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_the_only_text_column(path: Path, batches: Batches) -> None:
    (batch,) = batches(write(path, {"id": 1, "sentence": "a"}, {"id": 2, "sentence": "b"}))
    assert (batch.texts, batch.column, batch.groups) == (["a", "b"], "sentence", None)


def test_the_column_named_text(path: Path, batches: Batches) -> None:
    (batch,) = batches(write(path, {"title": "x", "text": "a"}))
    assert (batch.texts, batch.column) == (["a"], "text")


def test_the_column_asked_for(path: Path, batches: Batches) -> None:
    (batch,) = batches(write(path, {"title": "x", "text": "a"}), column="title")
    assert (batch.texts, batch.column) == (["x"], "title")


def test_group_column_is_no_candidate(path: Path, batches: Batches) -> None:
    (batch,) = batches(write(path, {"user": "u", "body": "a"}), fold_by="user")
    assert (batch.texts, batch.groups, batch.column) == (["a"], ["u"], "body")


def test_ambiguous_column_lists_candidates(path: Path, refusal: Refusal) -> None:
    message = refusal(write(path, {"id": 1, "title": "x", "body": "a"}))
    assert "text columns 'title', 'body': expected one; choose it with --column NAME" in message


def test_null_may_be_a_text(path: Path, refusal: Refusal, texts: Texts) -> None:
    """A first record whose text is null does not send the choice to another column in silence."""
    assert "text columns 'id', 'body'" in refusal(write(path, {"id": "x", "body": None}))
    assert texts(write(path, {"id": "x", "text": None}, {"id": "y", "text": "b"})) == ["", "b"]


def test_no_text_column(path: Path, refusal: Refusal) -> None:
    said = refusal(write(path, {"id": 1, "tags": ["a"]}))
    assert "no text column among 'id', 'tags'" in said
    assert "('id' holds a number, 'tags' holds an array)" in said


def test_wrong_column_lists_a_dozen(path: Path, refusal: Refusal) -> None:
    message = refusal(write(path, {f"c{i}": "x" for i in range(20)}), column="\x1btext")
    assert r"no column '\x1btext'" in message
    assert "'c0'" in message
    assert "'c11' and 8 more" in message
    assert "'c12'" not in message


def test_strings_as_lines(path: Path, batches: Batches) -> None:
    (batch,) = batches(write(path, "a", "", "b"))
    assert (batch.texts, batch.column) == (["a", "", "b"], None)


@pytest.mark.parametrize("options", [{"column": "text"}, {"fold_by": "column:text"}])
def test_strings_have_no_columns(path: Path, refusal: Refusal, options: dict[str, str]) -> None:
    assert f"got --{next(iter(options)).replace('_', '-')}" in refusal(write(path, "a"), **options)


def test_mixed_lines(path: Path, refusal: Refusal) -> None:
    assert "line 2: got an object: expected a string" in refusal(write(path, "a", {"text": "b"}))
    assert "line 2: got a string: expected an object" in refusal(write(path, {"text": "b"}, "a"))


def test_empty_and_null_texts_keep_rows_aligned(path: Path, texts: Texts) -> None:
    assert texts(write(path, {"text": "a"}, {"text": ""}, {"text": None}, {"text": "d"})) == [
        "a",
        "",
        "",
        "d",
    ]


def test_blank_lines_hold_no_document_but_count_as_lines(path: Path, batches: Batches, refusal: Refusal) -> None:
    path.write_text('\n \n{"text": "a"}\n\r\n{"text": "b"}\n\n')
    (batch,) = batches(path)
    assert (batch.texts, batch.first_row) == (["a", "b"], 3)
    path.write_text('\n{"text": "a"}\n\n{"text": 1}\n')
    assert "line 4: column 'text' holds a number" in refusal(path)


@pytest.mark.parametrize(
    ("value", "kind"),
    [(1, "a number"), (1.5, "a number"), (True, "a boolean"), ([], "an array"), ({}, "an object")],
)
def test_text_of_another_type(path: Path, refusal: Refusal, value: object, kind: str) -> None:
    message = refusal(write(path, {"text": "a"}, {"text": value}))
    assert f"line 2: column 'text' holds {kind}: expected a string" in message


@pytest.mark.parametrize(("value", "kind"), [(1, "a number"), (None, "null"), (True, "a boolean")])
def test_line_of_another_type(path: Path, refusal: Refusal, value: object, kind: str) -> None:
    assert f"line 1: got {kind}: expected a JSON object" in refusal(write(path, value))


def test_missing_column_in_a_row(path: Path, refusal: Refusal) -> None:
    message = refusal(write(path, {"text": "a"}, {"body": "b", "n": 1}))
    assert "line 2: no column 'text': the columns here are 'body', 'n'" in message


def test_groups(path: Path, groups: Texts, refusal: Refusal) -> None:
    records = [{"text": "a", "g": value} for value in ("u", 3, 2.5, True)]
    assert groups(write(path, *records), fold_by="g", batch_size=3) == ["u", "3", "2.5", "True"]
    assert "line 1: no column 'h': the columns here are 'text', 'g'" in refusal(path, fold_by="h")
    assert "line 2: column 'g' is empty" in refusal(
        write(path, {"text": "a", "g": 1}, {"text": "a", "g": None}), fold_by="g"
    )
    assert "line 1: column 'g' holds a list" in refusal(write(path, {"text": "a", "g": [1]}), fold_by="g")


def test_line_separators_inside_a_string(path: Path, texts: Texts) -> None:
    text = "a\u2028b\u2029c\x85d\x7f"
    path.write_text(json.dumps({"text": text}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert texts(path) == [text]


def test_not_json_names_the_line(path: Path, refusal: Refusal) -> None:
    path.write_text('{"text": "a"}\n{"text": \n"b"}\n')
    assert "a.jsonl', line 2: not JSON at character 10" in refusal(path)
    path.write_text('{"text": "a"}\n{"text": "a"} {"text": "b"}\n')
    assert "line 2: not JSON at character 15 (Extra data)" in refusal(path)


@pytest.mark.parametrize("line", ['{"a": ' + "[" * 200_000, '{"text": "a", "n": ' + "1" * 5000 + "}"])
def test_json_beyond_the_parser(path: Path, refusal: Refusal, line: str) -> None:
    path.write_text(line + "\n")
    assert "line 1: " in refusal(path)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt", "noextension"])
def test_the_elements_of_an_array_are_documents(tmp_path: Path, batches: Batches, texts: Texts, name: str) -> None:
    path = tmp_path / name
    path.write_text('\n [\n  {"text": "a, ]", "n": [1]},\n {"text": null, "n": 2} ]\n')
    [batch] = batches(path)
    assert (batch.texts, batch.first_row, batch.column) == (["a, ]", ""], 3, "text")
    path.write_text('["a", "b"]')
    assert texts(path) == ["a", "b"]


@given(
    records=st.lists(st.fixed_dictionaries({"text": st.text(max_size=9), "n": st.lists(st.integers(), max_size=3)})),
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
    n_bytes=st.integers(1, 40),
)
def test_an_array_read_in_pieces_is_what_the_whole_is(
    records: list[dict[str, object]], indent: int | None, ascii_only: bool, n_bytes: int
) -> None:
    with TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr("posgeom.corpus.streams.PIECE_BYTES", n_bytes)
        path = Path(directory, "a.json")
        path.write_text(json.dumps(records, indent=indent, ensure_ascii=ascii_only), encoding="utf-8")
        read = [t for b in read_documents([path], ReadOptions(column="text", utf8_errors="replace")) for t in b.texts]
        assert read == [str(record["text"]) for record in records]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"text": "a"}', "line 1: not a JSON array (it ends too early)"),
        ('[{"text": "a"},', "line 1: not JSON at character"),
        ('[{"text": "a"},\n{"text": "b', "line 2: not JSON at character"),
        ('[{"text": "a"}\n{"text": "b"}]', "line 2: not a JSON array ('{' where , or ] should be)"),
        ('["a"]\n["b"]\n', "line 2: not a JSON array (data after its end)"),
        ('[{"text": "a"}, 17]', "line 1: got a number"),
        ('[{"text": "a"}, "b"]', "line 1: got a string: expected an object"),
        ('[{"text": "a", "b": nul}]', "line 1: not JSON at character"),
        ('[{"text": ["a", "b"]}]', "no text column"),
        ("[[1, 2]]", "line 1: got an array"),
    ],
)
def test_what_is_wrong_with_an_array(tmp_path: Path, refusal: Refusal, content: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    assert message in refusal(path)


def test_an_array_of_more_than_a_piece(tmp_path: Path, texts: Texts, refusal: Refusal) -> None:
    path = tmp_path / "a.json"
    documents = [f"{i} " + "x" * (i % 7 * 50_000) for i in range(100)] + ["y" * 3_000_000]
    path.write_text(json.dumps([{"text": text} for text in documents]))
    assert texts(path) == documents
    path.write_bytes(path.read_bytes()[:-2_000_000])
    assert "not JSON" in refusal(path)
    path.write_bytes(b'["' + b"a" * 2_000_000 + b"\xff" + b'"]')
    assert "invalid UTF-8 at byte offset 2000002" in refusal(path)


def test_a_list_where_a_text_is_expected_says_how_to_join_it(path: Path, refusal: Refusal) -> None:
    path.write_text('{"paragraphs": ["a", "b"]}\n')
    assert "holds an array: expected a string; choose another with --column NAME, or join" in refusal(
        path, column="paragraphs"
    )


def test_pretty_printed_json(tmp_path: Path, refusal: Refusal) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"text": "a"}, indent=2))
    assert "expected a whole JSON object on each line; jq -c . FILE" in refusal(path)


@pytest.mark.parametrize("record", ['{"text": "ab\\ud800c"}', '"ab\\ud800c"'])
def test_half_a_surrogate_pair(path: Path, refusal: Refusal, texts: Texts, record: str) -> None:
    path.write_text(record + "\n")
    message = refusal(path)
    assert r"line 1: half a surrogate pair, \ud800, at character 3" in message
    assert "--utf8-errors replace" in message
    assert texts(path, utf8_errors="replace") == ["ab\ufffdc"]


def test_whole_surrogate_pair_and_zero_character(path: Path, texts: Texts) -> None:
    path.write_text(r'{"text": "\ud83d\ude00\u0000"}' + "\n")
    assert texts(path) == ["\U0001f600\0"]


def test_half_a_surrogate_pair_in_a_group(path: Path, refusal: Refusal, groups: Texts) -> None:
    path.write_text('{"text": "a", "g": "\\udc00"}\n')
    assert "half a surrogate pair" in refusal(path, fold_by="g")
    assert groups(path, fold_by="g", utf8_errors="replace") == ["\ufffd"]


def test_invalid_utf8(path: Path, refusal: Refusal, texts: Texts) -> None:
    path.write_bytes(b'{"text": "a"}\n{"text": "\xff"}\n')
    assert "line 2: invalid UTF-8 at byte offset 10" in refusal(path)
    assert texts(path, utf8_errors="replace") == ["a", "\ufffd"]
