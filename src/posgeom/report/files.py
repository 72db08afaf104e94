"""Results as files, all of them or none: written beside their place, then renamed."""

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np
from safetensors.numpy import save as serialize_tensors

from posgeom.chart_data import chart_data
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import write_counts
from posgeom.errors import OutputError
from posgeom.messages import one_line, shown
from posgeom.report.document import to_document
from posgeom.report.replicates import replicate_arrays
from posgeom.report.scratch import scratch_directory
from posgeom.results import Analysis

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


@contextmanager
def staged_directory(target: str | Path) -> Iterator[Path]:
    """A scratch directory whose files move into `target` when the block ends well, and vanish when it does not.

    Enter it before long work: an output that cannot be written is reported at once. When one file cannot be moved
    into its place, those moved before are taken back, and what they replaced returns.
    """
    _refuse_url(target)
    target = Path(target)
    if target.exists() and not target.is_dir():
        raise OutputError(f"cannot write {shown(target)}: it is a file, expected a directory")
    missing = [p for p in (target, *target.parents) if not p.exists()]
    try:
        with os_errors_named(target):
            target.mkdir(parents=True, exist_ok=True)
            stage, owned = scratch_directory(target)
    except OutputError:
        _remove_created(missing)
        raise
    done = False
    try:
        (stage / "new").mkdir()
        yield stage / "new"
        _move_all(stage, target)
        done = True
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        owned.close()
        if not done:
            _remove_created(missing)


def _move_all(stage: Path, target: Path) -> None:
    """Move every new file into the target, or none."""
    replaced = stage / "replaced"
    replaced.mkdir()
    new = stage / "new"
    files = sorted(path for path in new.rglob("*") if path.is_file())
    names = [file.relative_to(new) for file in files]
    for name in names:
        if (target / name).is_dir():
            raise OutputError(f"cannot write {shown(target / name)}: it is a directory, expected a file")
    for folder in sorted({name.parent for name in names} - {Path()}):
        for directory in (target / folder, replaced / folder):
            with os_errors_named(target / folder):
                directory.mkdir(parents=True, exist_ok=True)
    moved: list[Path] = []
    try:
        for file, name in zip(files, names, strict=True):
            place = target / name
            with os_errors_named(place):
                if place.exists():
                    place.replace(replaced / name)
                moved.append(place)
                file.replace(place)
    except BaseException:
        for place in moved:
            place.unlink(missing_ok=True)
        for old in replaced.rglob("*"):
            if old.is_file():
                old.replace(target / old.relative_to(replaced))
        raise


@contextmanager
def staged_file(target: str | Path) -> Iterator[Path]:
    """The same for a single file; its directory must exist. A link is followed."""
    _refuse_url(target)
    place = Path(target).resolve()
    if place.exists() and not place.is_file():
        kind = "a directory" if place.is_dir() else "no regular file"
        raise OutputError(f"cannot write {shown(target)}: it is {kind}, expected a file name")
    with os_errors_named(Path(target)):
        stage, owned = scratch_directory(place.parent)
    try:
        yield stage / "new"
        with os_errors_named(Path(target)):
            (stage / "new").replace(place)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        owned.close()


@contextmanager
def os_errors_named(target: Path) -> Iterator[None]:
    """Turn what the system refuses into one line that names the file."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {shown(target)}: {error.strerror or one_line(error)}") from None


def _refuse_url(target: str | Path) -> None:
    """A URL would become directories of its parts, of which a `Path` shows one slash."""
    if _URL.match(str(target)):
        raise OutputError(f"cannot write {shown(target)}: it is a URL, expected a file or directory of this machine")


def _remove_created(directories: list[Path]) -> None:
    for directory in directories:
        try:
            directory.rmdir()
        except OSError:  # never made, or somebody else put something there
            return


def save(analysis: Analysis, directory: str | Path) -> None:
    """Write the files of an analysis: all of them or none.

    ``scores.json`` and ``scores.csv`` (every score), ``counts.parquet`` (to analyse again without reading the
    corpus), ``distances.npz`` (matrices with their positions), ``mds.safetensors`` (coordinates, eigenvalues), and
    ``charts.json``, what ``posgeom report`` and ``posgeom plot`` draw.

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
        write_files(analysis, stage, directory)


def write_files(analysis: Analysis, stage: Path, directory: str | Path) -> None:
    """Write the files of an analysis into a scratch directory, one after the other."""
    for name, write in _FILES.items():
        with os_errors_named(Path(directory) / name):
            write(analysis, stage / name)


def dump_json(analysis: Analysis) -> str:
    """The text of ``scores.json``."""
    return json.dumps(to_document(analysis), indent=1, allow_nan=False)


def _write_json(analysis: Analysis, path: Path) -> None:
    path.write_text(dump_json(analysis) + "\n", encoding="ascii")


def _write_charts(analysis: Analysis, path: Path) -> None:
    text = json.dumps(chart_data(analysis), allow_nan=False, separators=(",", ":"))
    path.write_text(text + "\n", encoding="ascii")


def _write_csv(analysis: Analysis, path: Path) -> None:
    rows = analysis.scorecard.to_dicts()
    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as stream:
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


def _write_replicates(analysis: Analysis, path: Path) -> None:
    np.savez(path, allow_pickle=False, **replicate_arrays(analysis))


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
        "bin_edges": None if analysis.counts.bins is None else list(analysis.counts.bins.edges),
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
    with staged_file(target) as path:
        write_counts_file(counts, path, target)


def write_counts_file(counts: PositionCounts, stage: Path, target: str | Path) -> None:
    """Write counts to a scratch file."""
    with os_errors_named(Path(target)):
        write_counts(counts, stage)


_FILES: dict[str, Callable[[Analysis, Path], None]] = {
    "charts.json": _write_charts,
    "counts.parquet": _write_counts,
    "distances.npz": _write_distances,
    "mds.safetensors": _write_mds,
    "replicates.npz": _write_replicates,
    "scores.csv": _write_csv,
    "scores.json": _write_json,
}

FILE_NAMES = tuple(_FILES)
