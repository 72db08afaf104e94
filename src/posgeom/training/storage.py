"""Files of a run that is going on, each replaced as a whole."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import OutputError, RunError
from posgeom.messages import one_line, shown

Row = dict[str, Any]


def start_path(records: Path) -> Path:
    """Where the table that training began with is kept, beside the records."""
    return records.with_name(records.name + ".start.npy")


def write_records(records: Sequence[Row], path: Path) -> None:
    """Write records as Parquet, replacing the file as a whole."""
    import pyarrow as pa
    from pyarrow import parquet

    replace_file(path, lambda place: parquet.write_table(pa.Table.from_pylist(list(records)), place))


def read_records(path: Path) -> list[Row]:
    """Records that were written before; none where there is no such file."""
    import pyarrow as pa
    from pyarrow import parquet

    if not path.exists():
        return []
    try:
        rows: list[Row] = parquet.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise RunError(f"cannot read {shown(path)}: {one_line(error)}") from None
    return rows


def save_array(path: Path, array: NDArray[np.float64] | None) -> None:
    """Write an array as .npy, under the very name that is given."""
    with path.open("wb") as stream:
        np.save(stream, np.asarray(array), allow_pickle=False)


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file in one go: who reads it sees the old one or the new one."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(scratch)
        scratch.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {shown(path)}: {error.strerror or one_line(error)}") from None
    finally:
        scratch.unlink(missing_ok=True)
