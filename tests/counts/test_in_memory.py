"""What holds documents in memory is counted as the list of its strings is, and what would be misread is refused."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest

import posgeom as pg
from posgeom.errors import CorpusError, CountsError, PosgeomError

datasets = pytest.importorskip("datasets")

TEXTS = ["hello big world", "a b c d", "", "the cat sat on the mat"] * 5
AUTHORS = [i // 4 for i in range(len(TEXTS))]
COLUMNS = {"text": TEXTS, "author": AUTHORS}

SEQUENCES: dict[str, Callable[[], Any]] = {
    "pandas Series": lambda: pd.Series(TEXTS, index=range(7, 7 + len(TEXTS))),
    "pandas strings": lambda: pd.Series(TEXTS, dtype="string"),
    "pandas categories": lambda: pd.Series(TEXTS, dtype="category"),
    "pandas column": lambda: pd.DataFrame(COLUMNS)["text"],
    "polars Series": lambda: pl.Series(TEXTS),
    "Arrow array": lambda: pa.array(TEXTS),
    "chunked Arrow array": lambda: pa.chunked_array([TEXTS[:3], TEXTS[3:]]),
    "Arrow dictionary": lambda: pa.array(TEXTS).dictionary_encode(),
    "NumPy array": lambda: np.array(TEXTS),
    "column of a Dataset": lambda: datasets.Dataset.from_dict(COLUMNS)["text"],
}
TABLES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "Arrow": lambda: pa.table(COLUMNS),
    "record batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "Dataset": lambda: datasets.Dataset.from_dict(COLUMNS),
    "streamed": lambda: datasets.Dataset.from_dict(COLUMNS).to_iterable_dataset(),
    "streamed, columns unknown": lambda: datasets.IterableDataset.from_generator(rows),
    "columns": lambda: dict(COLUMNS),
    "records": lambda: list(rows()),
}


def rows() -> Any:
    return (dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True))


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_counts_as_the_list_of_its_strings(name: str) -> None:
    expected = pg.count_texts(TEXTS, n_positions=6).checksum
    assert pg.count_texts(SEQUENCES[name](), n_positions=6).checksum == expected
    assert pg.count(SEQUENCES[name](), n_positions=6).checksum == expected
    assert pg.count_texts(iter(SEQUENCES[name]()), n_positions=6).checksum == expected


@pytest.mark.parametrize("name", TABLES)
def test_a_column_of_a_table_counts_as_the_list_of_its_strings(name: str) -> None:
    expected = pg.count_texts(TEXTS, n_positions=6).checksum
    grouped = pg.count_texts(TEXTS, groups=[str(author) for author in AUTHORS], n_positions=6).checksum
    assert pg.count_texts(TABLES[name](), column="text", n_positions=6).checksum == expected
    assert pg.count(TABLES[name](), column="text", n_positions=6).checksum == expected
    assert pg.count(TABLES[name](), column="text", fold_by="author", n_positions=6).checksum == grouped != expected
    with pytest.raises(CorpusError, match=r"without a column 'nope': expected one of 'text'|no column 'nope'"):
        pg.count(TABLES[name](), column="nope")


def test_columns_may_have_numbers_for_names() -> None:
    frame = pd.DataFrame({1: TEXTS, 0: AUTHORS})
    grouped = pg.count_texts(TEXTS, groups=AUTHORS, n_positions=6).checksum
    assert pg.count(frame, column=1, fold_by=0, n_positions=6).checksum == grouped
    assert pg.count(frame[[0, 1]], column=1, n_positions=6).checksum != grouped


@pytest.mark.parametrize("name", [name for name in TABLES if name != "records"])
def test_a_table_needs_a_column(name: str) -> None:
    for function in (pg.count, pg.count_texts, pg.analyze):
        with pytest.raises(CorpusError, match=r"expected one column of strings; name one.* with column="):
            function(TABLES[name]())


def test_a_corpus_in_memory_is_analysed() -> None:
    texts = pd.DataFrame({"text": [f"{'a b c'[: 2 * (i % 3) + 1]} x" for i in range(400)]})
    analysis = pg.analyze(texts, column="text", n_positions=2, n_dims=4, level=None)
    assert analysis.counts.checksum == pg.count_texts(texts["text"], n_positions=2).checksum
    assert analysis.counts.sources == ("DataFrame in memory",)


@pytest.mark.parametrize(
    "with_missing",
    [
        ["a b", None, "c d"],
        ["a b", float("nan"), "c d"],
        pd.Series(["a b", None, "c d"]),
        pd.Series(["a b", pd.NA, "c d"], dtype="string"),
        pd.Series(["a b", pd.NaT, "c d"], dtype=object),
        pl.Series(["a b", None, "c d"]),
        pa.array(["a b", None, "c d"]),
    ],
)
def test_a_missing_text_is_an_empty_document(with_missing: Any) -> None:
    counts = pg.count_texts(with_missing, n_positions=2)
    assert counts.empty_documents == 1
    assert counts.checksum == pg.count_texts(["a b", "", "c d"], n_positions=2).checksum


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_group_is_refused(missing: Any) -> None:
    with pytest.raises(CorpusError, match="row 2: got NoneType"):
        pg.count_texts(["a", "b"], groups=[1, missing])


@pytest.mark.parametrize(
    ("texts", "settings", "message"),
    [
        (pd.DataFrame(COLUMNS)["author"], {}, "row 1: got int, expected text"),
        (np.arange(6).reshape(2, 3), {}, "row 1: got ndarray, expected text; token ids go to count_ids"),
        ([["a", "b"], ["c"]], {}, "row 1: got list, expected text"),
        ({"input_ids": [[1, 2]]}, {"column": "input_ids"}, "row 1: got list, expected text; token ids go to count_ids"),
        ([{"text": "a"}], {}, "row 1: got dict, expected text; name its key with column="),
        (np.array([b"a b"]), {}, "row 1: got bytes_, expected text; decode it first"),
        (["a"], {"column": "text"}, "row 1 is a str: expected a mapping with 'text'"),
        (pl.LazyFrame(COLUMNS), {"column": "text"}, "LazyFrame, which has no rows yet: .* collect"),
        (datasets.DatasetDict(train=datasets.Dataset.from_dict(COLUMNS)), {"column": "train"}, "'train' is a Dataset"),
        (pd.concat([pd.DataFrame(COLUMNS)] * 2, axis=1), {"column": "text"}, "'text' is a DataFrame"),
        (io.StringIO("one\ntwo\n"), {}, "texts is a StringIO: .* the name of a file goes to count"),
    ],
)
def test_what_would_be_misread_is_refused(texts: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        pg.count_texts(texts, **settings)


def test_names_of_files_are_no_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one two\n")
    for function, names in ((pg.count_texts, [str(path)]), (pg.count, pd.Series([str(path)] * 3))):
        with pytest.raises(CorpusError, match=r"holds names of files, such as 'a.txt': expected documents"):
            function(names)
    assert pg.count([str(path)]).n_documents == pg.count(tmp_path.glob("*.txt")).n_documents == 1
    assert pg.count_texts([str(path), "one two"]).n_documents == 2
    with pytest.raises(CorpusError, match=r"no such file or directory: .*; documents in memory go to count_texts"):
        pg.count(["one two", "three"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "dask"}, "dask for documents in memory"),
        ({"options": pg.ReadOptions(format="csv")}, "options of reading files for documents in memory"),
    ],
)
def test_options_of_files_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((CorpusError, CountsError), match=message):
        pg.count(pd.DataFrame(COLUMNS), column="text", **settings)
    with pytest.raises(PosgeomError, match=message):
        pg.analyze(pd.DataFrame(COLUMNS), column="text", **settings)
