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
    """Write records as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    replace_file(path, lambda scratch: parquet.write_table(pa.Table.from_pylist(list(records)), scratch))


def read_start_and_records(path: Path) -> tuple[NDArray[np.float64], list[Row]] | None:
    """The table that training began with, and the records written since; None where there is no table."""
    import pyarrow as pa
    from pyarrow import parquet

    place = start_path(path)
    if not place.exists():
        return None
    try:
        start: NDArray[np.float64] = np.load(place, allow_pickle=False)
        place = path
        return start, parquet.read_table(path).to_pylist() if path.exists() else []
    except (OSError, ValueError, pa.ArrowException) as error:
        raise RunError(f"cannot read {shown(place)}: {one_line(error)}") from None


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file in one go: who reads it sees the old one or the new one."""
    scratch = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(scratch)
        scratch.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {shown(path)}: {error.strerror or one_line(error)}") from None
    finally:
        scratch.unlink(missing_ok=True)
