"""Results as files, all of them or none: written beside their place, then renamed."""

import csv
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np
from safetensors.numpy import save as serialize_tensors

from posgeom.analysis import Analysis
from posgeom.corpus.counts import PositionCounts
from posgeom.corpus.messages import one_line, shown
from posgeom.corpus.storage import write_counts
from posgeom.errors import OutputError
from posgeom.report.document import to_document


@contextmanager
def staged_directory(target: str | Path) -> Iterator[Path]:
    """A scratch directory whose files move into `target` when the block ends well, and vanish when it does not.

    Enter it before long work: an output that cannot be written is reported at once.

    Parameters
    ----------
    target : str or Path
        Created where missing, and removed again on failure.

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    OutputError
        When the target cannot be written.
    """
    target = Path(target)
    missing = [p for p in (target, *target.parents) if not p.exists()]
    try:
        with _os_errors_named(target):
            target.mkdir(parents=True, exist_ok=True)
            stage = Path(tempfile.mkdtemp(prefix=".posgeom-", dir=target))
    except OutputError:
        _remove_created(missing)
        raise
    done = False
    try:
        yield stage
        with _os_errors_named(target):
            for file in sorted(stage.iterdir()):
                file.replace(target / file.name)
        done = True
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if not done:
            _remove_created(missing)


@contextmanager
def staged_file(target: str | Path) -> Iterator[Path]:
    """The same for a single file; its directory must exist.

    Parameters
    ----------
    target : str or Path

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    OutputError
        When the target cannot be written.
    """
    target = Path(target)
    if target.is_dir():
        raise OutputError(f"cannot write {shown(target)}: it is a directory, expected a file name")
    with _os_errors_named(target):
        stage = Path(tempfile.mkdtemp(prefix=".posgeom-", dir=target.parent))
    try:
        yield stage / target.name
        with _os_errors_named(target):
            (stage / target.name).replace(target)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextmanager
def _os_errors_named(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {shown(target)}: {error.strerror or one_line(error)}") from None


def _remove_created(directories: list[Path]) -> None:
    for directory in directories:
        try:
            directory.rmdir()
        except OSError:  # never made, or somebody else put something there
            return


def save(analysis: Analysis, directory: str | Path) -> None:
    """Write the files of an analysis: all of them or none.

    ``scores.json`` and ``scores.csv`` (every score), ``counts.parquet`` (to analyse again without reading the
    corpus), ``distances.npz`` (matrices with their positions), ``mds.safetensors`` (coordinates, eigenvalues).

    Parameters
    ----------
    analysis : Analysis
    directory : str or Path
        Created where missing; files of the same names are replaced.

    Raises
    ------
    OutputError
        When the directory cannot be written, or the disk is full.
    """
    with staged_directory(directory) as stage:
        write_files(analysis, stage)


def write_files(analysis: Analysis, directory: Path) -> None:
    """Write the files of an analysis into a directory, one after the other.

    Parameters
    ----------
    analysis : Analysis
    directory : Path

    Raises
    ------
    OutputError
        When one cannot be written.
    """
    for name, write in _FILES.items():
        with _os_errors_named(directory / name):
            write(analysis, directory / name)


def dump_json(analysis: Analysis) -> str:
    """The text of ``scores.json``.

    Parameters
    ----------
    analysis : Analysis

    Returns
    -------
    str
        ASCII, so that no stream can fail to encode it.
    """
    return json.dumps(to_document(analysis), indent=1, allow_nan=False)


def _write_json(analysis: Analysis, path: Path) -> None:
    path.write_text(dump_json(analysis) + "\n", encoding="ascii")


def _write_csv(analysis: Analysis, path: Path) -> None:
    rows = analysis.scorecard.to_dicts()
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([c for c in rows[0] if c != "min_separation_pair"] + ["min_separation_i", "min_separation_j"])
        for row in rows:
            pair = row.pop("min_separation_pair")
            writer.writerow(["" if v is None else v for v in row.values()] + list(pair))


def _write_distances(analysis: Analysis, path: Path) -> None:
    geometry = analysis.geometry
    arrays = {
        "positions": geometry.positions,
        "depth": geometry.position_depth[geometry.positions],
        "distances": geometry.distances.values,
        "plugin_squared": geometry.plugin.squared,
    }
    if geometry.crossval is not None:
        arrays["crossval_squared"] = geometry.crossval.squared
    np.savez(path, allow_pickle=False, **arrays)


def _write_mds(analysis: Analysis, path: Path) -> None:
    solution, geometry = analysis.geometry.mds(), analysis.geometry
    tensors = {
        "coordinates": np.ascontiguousarray(solution.coordinates),
        "eigenvalues": np.ascontiguousarray(solution.spectrum.eigenvalues),
        "positions": np.ascontiguousarray(solution.positions),
    }
    metadata = {
        "method": "classical MDS",
        "metric": geometry.metric.name,
        "estimator": geometry.estimator,
        "n_positions": geometry.n_positions,
        "rank": solution.spectrum.rank,
        "negative_mass": solution.spectrum.negative_mass,
        "convention": analysis.convention,
        "seed": analysis.seed,
        "posgeom_version": version("posgeom"),
    }
    # One key: the library writes several in no fixed order, and the same result should give the same bytes.
    path.write_bytes(serialize_tensors(tensors, {"posgeom": json.dumps(metadata)}))


def _write_counts(analysis: Analysis, path: Path) -> None:
    write_counts(analysis.counts, path)


def save_counts(counts: PositionCounts, target: str | Path) -> None:
    """Write counts to a Parquet file, atomically.

    Parameters
    ----------
    counts : PositionCounts
    target : str or Path

    Raises
    ------
    OutputError
        When the file cannot be written.
    """
    with staged_file(target) as path, _os_errors_named(Path(target)):
        write_counts(counts, path)


_FILES: dict[str, Callable[[Analysis, Path], None]] = {
    "counts.parquet": _write_counts,
    "distances.npz": _write_distances,
    "mds.safetensors": _write_mds,
    "scores.csv": _write_csv,
    "scores.json": _write_json,
}
