"""What can be chosen about a run on a cluster."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Where a run computes, and where it keeps what it has done.

    Attributes
    ----------
    scheduler : str, optional
        Address of a Dask scheduler, as in ``tcp://10.0.0.1:8786``. By default worker processes on this machine.
    run_dir : str or Path, optional
        Directory, or fsspec URL, that the client and all workers reach. It is kept, and what is in it is not
        counted again. By default a temporary directory.
    partition_size : int or str, optional
        Bytes of a partition, as stored: a number, or as in ``"64MiB"``. By default a 64th of the corpus,
        within 4 MiB and 128 MiB.
    recount_changed : bool
        Count files again that have changed since the run directory was made, instead of refusing them.
    """

    scheduler: str | None = None
    run_dir: str | Path | None = None
    partition_size: int | str | None = None
    recount_changed: bool = False
