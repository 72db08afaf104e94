"""Position counts on disk: one Parquet file, with what it needs to be merged and analysed later."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.documents import COUNTS_KEY
from posgeom.counts.bins import Bins
from posgeom.counts.count_entries import CountEntries
from posgeom.counts.key_sample import KeySample
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.shingles import Shingles
from posgeom.errors import CountsError
from posgeom.messages import one_line, shown
from posgeom.options import column_spec
from posgeom.tokenize.tokenizers import TokenizerIdentity

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION, _BEFORE = 5, 4
"""Files of other schemas are not read: their documents may be in other folds, and adding them up would mix these."""
_NEWER: dict[str, Any] = {"reading_notes": [], "cut_documents": None}
"""What the first files of this schema lack."""
_COLUMNS = ("fold", "position", "token", "count")


def write_counts(counts: PositionCounts, path: str | Path) -> None:
    """Write counts to a Parquet file: columns fold, position, token, count, and ``text`` for an open vocabulary.

    A column ``replicate`` comes first where there are null corpora: 0 for the corpus, then 1, 2, ... for them. Not
    atomic: write to a temporary name and rename.
    """
    # A stream, not a name: Arrow takes only names that are valid Unicode.
    with Path(path).open("wb") as stream:
        write_counts_to(stream, counts)


def write_counts_to(stream: BinaryIO, counts: PositionCounts, metadata: Mapping[bytes, bytes] | None = None) -> None:
    """Write the same to an open stream, with more metadata beside the counts."""
    import pyarrow as pa  # in functions, because it is slow to load
    import pyarrow.parquet as pq

    header = {
        "schema_version": SCHEMA_VERSION,
        "n_positions": counts.n_positions,
        "documents": counts.documents.tolist(),
        "empty_documents": counts.empty_documents,
        "tokenizer": asdict(counts.tokenizer),
        "vocabulary_size": None if counts.vocabulary is None else len(counts.vocabulary),
        "sources": list(counts.sources),
        "columns": list(counts.columns),
        "grouped_by": counts.grouped_by,
        "engines": list(counts.engines),
        "engine_notes": list(counts.engine_notes),
        "reading_notes": list(counts.reading_notes),
        "null_replicates": len(counts.null),
        "null_seed": counts.null_seed,
        "null_kind": counts.null_kind if counts.null else None,
        "min_length": counts.min_length,
        "short_documents": counts.short_documents,
        "cut_documents": counts.cut_documents,
        "bins": None if counts.bins is None else asdict(counts.bins),
        "shingles": _sample_header(counts.shingles),
        "copies": _sample_header(counts.copies),
        "fold_values": _sample_header(counts.fold_values),
    }
    parts = (counts, *counts.null)
    columns: dict[str, Any] = {}
    if counts.null:
        columns["replicate"] = pa.array(np.repeat(np.arange(len(parts)), [part.count.size for part in parts]))
    for name in _COLUMNS:
        columns[name] = pa.array(np.concatenate([getattr(part, name) for part in parts]), pa.int64())
    if counts.vocabulary is not None:
        columns["text"] = pa.DictionaryArray.from_arrays(
            columns["token"].cast(pa.int32()), pa.array(counts.vocabulary, pa.string())
        )
    table = pa.table(columns).replace_schema_metadata({**(metadata or {}), COUNTS_KEY: json.dumps(header).encode()})
    pq.write_table(table, stream, compression="zstd")


def read_counts(path: str | Path) -> PositionCounts:
    """Read counts that `write_counts` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    PositionCounts

    Raises
    ------
    CountsError
        When the file is missing, damaged, or holds something else.
    """
    try:
        stream = Path(path).open("rb")  # noqa: SIM115
    except OSError as error:
        raise CountsError(f"cannot read counts from {shown(path)}: {error.strerror or one_line(error)}") from None
    with stream:
        return read_counts_from(stream, str(path))[0]


def read_counts_from(stream: BinaryIO, name: str) -> tuple[PositionCounts, dict[bytes, bytes]]:
    """Read counts, and all the metadata stored beside them, from an open stream; `name` is for messages."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = shown(name)
    try:
        table = pq.read_table(stream)
    except OSError as error:
        raise CountsError(f"cannot read counts from {name}: {error.strerror or one_line(error)}") from None
    except pa.ArrowException as error:
        raise CountsError(f"cannot read counts from {name}: {one_line(error)}") from None
    metadata: dict[bytes, bytes] = table.schema.metadata or {}
    stored = metadata.get(COUNTS_KEY)
    if stored is None:
        raise CountsError(f"{name} holds no position counts: expected a file that `posgeom count` wrote")
    try:
        header = _NEWER | json.loads(stored)
        version = _field(header, "schema_version", int)
        if version == _BEFORE:
            header = _updated(header)
        if version in (_BEFORE, SCHEMA_VERSION):
            return _from_table(table, header), metadata
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError, pa.ArrowException) as error:
        raise CountsError(f"{name} is damaged ({one_line(error)}): count again") from None
    except CountsError as error:
        raise CountsError(f"{name} is damaged ({error}): count again") from None
    raise CountsError(f"{name} has counts of schema {version}, this version reads schema {SCHEMA_VERSION}: count again")


def _updated(header: dict[str, Any]) -> dict[str, Any]:
    """What a file of the schema before holds, in this one: null corpora were permuted, folds by text or by a column."""
    column = _field(header, "grouped_by", str | None)
    added = {"null_kind": "permute", "copies": None, "fold_values": None, "shingles": header["passages"]}
    return {**added, **header, "grouped_by": None if column is None else column_spec(column)}


def _field(header: dict[str, Any], key: str, kind: type | UnionType) -> Any:
    """A value of the header, which must be of the right type."""
    value = header[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{key} is {type(value).__name__}")
    return value


def _list(header: dict[str, Any], key: str, kind: type) -> list[Any]:
    """A list of the header, whose items must be of the right type."""
    values: list[Any] = _field(header, key, list)
    return [_field({key: value}, key, kind) for value in values]


def _from_table(table: "pa.Table", header: dict[str, Any]) -> PositionCounts:
    identity = _field(header, "tokenizer", dict)
    tokenizer = TokenizerIdentity(
        kind=_field(identity, "kind", str),
        name=_field(identity, "name", str),
        sha256=_field(identity, "sha256", str | None),
        vocab_size=_field(identity, "vocab_size", int | None),
        n_special_tokens=_field(identity, "n_special_tokens", int),
    )
    vocabulary_size = _field(header, "vocabulary_size", int | None)
    n_null = _field(header, "null_replicates", int)
    vocabulary = None if vocabulary_size is None else _vocabulary(table, vocabulary_size)
    first, *null = _parts(table, n_null)
    counts = PositionCounts(
        *first,
        n_positions=_field(header, "n_positions", int),
        tokenizer=tokenizer,
        documents=np.array(_list(header, "documents", int), np.int64),
        empty_documents=_field(header, "empty_documents", int),
        vocabulary=vocabulary,
        sources=tuple(_list(header, "sources", str)),
        columns=tuple(_list(header, "columns", str)),
        grouped_by=_field(header, "grouped_by", str | None),
        engines=tuple(_list(header, "engines", str)),
        engine_notes=tuple(_list(header, "engine_notes", str)),
        reading_notes=tuple(_list(header, "reading_notes", str)),
        min_length=_field(header, "min_length", int | None),
        short_documents=_field(header, "short_documents", int),
        cut_documents=_field(header, "cut_documents", int | None),
        bins=_bins(_field(header, "bins", dict | None)),
        shingles=_shingles(_field(header, "shingles", dict | None)),
        copies=_key_sample(_field(header, "copies", dict | None)),
        fold_values=_key_sample(_field(header, "fold_values", dict | None)),
    )
    if not n_null:
        return counts
    return counts.with_null(null, _field(header, "null_seed", int), kind=_field(header, "null_kind", str))


def _bins(header: dict[str, Any] | None) -> Bins | None:
    if header is None:
        return None
    return Bins(_field(header, "kind", str), tuple(_list(header, "edges", int)))


def _sample_header(sample: Shingles | KeySample | None) -> dict[str, Any] | None:
    if sample is None:
        return None
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(sample).items()}


def _shingles(header: dict[str, Any] | None) -> Shingles | None:
    if header is None:
        return None
    return Shingles(
        _field(header, "length", int),
        *_sorted_keys(header, "hashes"),
        np.array(_list(header, "folds", int), np.int64),
    )


def _key_sample(header: dict[str, Any] | None) -> KeySample | None:
    return None if header is None else KeySample(*_sorted_keys(header, "digests"))


def _sorted_keys(header: dict[str, Any], name: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    return np.array(_list(header, name, int), np.uint64), np.array(_list(header, "documents", int), np.int64)


def _parts(table: "pa.Table", n_null: int) -> list[CountEntries]:
    """CountEntries of the corpus, then of each null corpus."""
    fold, position, token, count = (_integers(table, name) for name in _COLUMNS)
    if not n_null:
        return [(fold, position, token, count)]
    replicate = _integers(table, "replicate")
    bounds = np.searchsorted(replicate, np.arange(n_null + 2))
    if (np.diff(replicate) < 0).any() or bounds[0] != 0 or bounds[-1] != replicate.size:
        raise ValueError(f"the replicates are not 0 to {n_null} in order")
    return [(fold[a:b], position[a:b], token[a:b], count[a:b]) for a, b in pairwise(bounds)]


def _integers(table: "pa.Table", name: str) -> NDArray[np.int64]:
    column = table.column(name)
    if str(column.type) != "int64" or column.null_count:
        raise TypeError(f"column {name} is {column.type} with {column.null_count} nulls")
    return np.array(column.to_numpy(), np.int64)


def _vocabulary(table: "pa.Table", size: int) -> tuple[str, ...]:
    distinct = table.select(["token", "text"]).group_by(["token", "text"]).aggregate([]).sort_by("token")
    words = distinct["text"].to_pylist()
    if distinct["token"].to_pylist() != list(range(size)) or not all(isinstance(word, str) for word in words):
        raise ValueError("the token texts do not match the vocabulary")
    return tuple(words)
