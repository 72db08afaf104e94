"""Position counts on disk: one Parquet file, with what it needs to be merged and analysed later."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from posgeom.corpus.counts import PositionCounts
from posgeom.corpus.messages import one_line, shown
from posgeom.corpus.tokenizers import TokenizerIdentity
from posgeom.errors import CountsError

SCHEMA_VERSION = 1
_METADATA_KEY = b"posgeom.counts"
_COLUMNS = ("fold", "position", "token", "count")


def write_counts(counts: PositionCounts, path: str | Path) -> None:
    """Write counts to a Parquet file: columns fold, position, token, count, and ``text`` for an open vocabulary.

    Parameters
    ----------
    counts : PositionCounts
    path : str or Path
        Overwritten where it exists. Not atomic: write to a temporary name and rename.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
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
    }
    columns: dict[str, pa.Array] = {name: pa.array(getattr(counts, name), pa.int64()) for name in _COLUMNS}
    if counts.vocabulary is not None:
        columns["text"] = pa.DictionaryArray.from_arrays(
            pa.array(counts.token, pa.int32()), pa.array(counts.vocabulary, pa.string())
        )
    table = pa.table(columns).replace_schema_metadata({_METADATA_KEY: json.dumps(header).encode()})
    pq.write_table(table, str(path), compression="zstd")


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
    name = shown(path)
    try:
        table = pq.read_table(str(path), partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise CountsError(f"cannot read counts from {name}: {one_line(error)}") from None
    stored = (table.schema.metadata or {}).get(_METADATA_KEY)
    if stored is None:
        raise CountsError(f"{name} holds no position counts: expected a file that `posgeom count` wrote")
    try:
        header: dict[str, Any] = json.loads(stored)
        if header["schema_version"] == SCHEMA_VERSION:
            return _from_table(table, header)
    except (LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise CountsError(f"{name} is damaged ({one_line(error)}): count again") from None
    except CountsError as error:
        raise CountsError(f"{name}: {error}") from None
    version = header["schema_version"]
    raise CountsError(f"{name} has counts of schema {version!r}, this version reads {SCHEMA_VERSION}: count again")


def _from_table(table: pa.Table, header: dict[str, Any]) -> PositionCounts:
    arrays = {name: np.array(table.column(name).to_numpy(), np.int64) for name in _COLUMNS}
    vocabulary = None
    if header["vocabulary_size"] is not None:
        words = [""] * int(header["vocabulary_size"])
        distinct = table.select(["token", "text"]).group_by(["token", "text"]).aggregate([])
        for token, word in zip(distinct["token"].to_pylist(), distinct["text"].to_pylist(), strict=True):
            words[token] = word
        vocabulary = tuple(words)
    return PositionCounts(
        **arrays,
        n_positions=int(header["n_positions"]),
        tokenizer=TokenizerIdentity(**header["tokenizer"]),
        documents=np.array(header["documents"], np.int64),
        empty_documents=int(header["empty_documents"]),
        vocabulary=vocabulary,
        sources=tuple(header["sources"]),
        columns=tuple(header["columns"]),
        grouped_by=header["grouped_by"],
    )
