"""``replicates.npz``: what standard errors and paired differences of a run are made of, to be compared later."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import RunError
from posgeom.inference.comparison import RunScore
from posgeom.inference.fields import FIELDS
from posgeom.inference.jackknife import Replicates
from posgeom.messages import one_line, shown
from posgeom.report.run import Run
from posgeom.results import Analysis

REPLICATES = "replicates.npz"


def replicate_arrays(analysis: Analysis) -> dict[str, NDArray[Any]]:
    """The arrays of the file: ``value`` (encoding, score), ``left_out`` (encoding, fold, score) and ``parts``.

    The last tells corpora and folds apart. There are no encodings where there are no standard errors.
    """
    replicates, geometry, k = analysis.scorecard.replicates, analysis.geometry, len(FIELDS)
    value = np.array([[one.value for one in row] for row in replicates]).reshape(-1, k)
    left_out = np.array([[one.left_out for one in row] for row in replicates])
    left_out = np.moveaxis(left_out, 1, 2) if len(replicates) else np.empty((0, 0, k))
    what = (geometry.positions.tolist(), geometry.fold_groups, geometry.depth, geometry.metric.name)
    parts = " ".join(map(str, (analysis.counts.checksum, *what)))
    return {"value": value, "left_out": left_out, "parts": np.frombuffer(parts.encode(), np.uint8)}


def read_scored(directory: Path, run: Run, score: str) -> list[RunScore]:
    """One score of every encoding of a stored run, without `replicates` where the run has no standard errors."""
    if run.scores is None:
        raise RunError(f"{shown(directory)} has no scores: expected a directory that posgeom analyze --out wrote")
    rows, column = run.scores["encodings"], FIELDS.index(score)
    arrays = _read(directory / REPLICATES)
    replicates: list[Replicates | None] = [None] * len(rows)
    parts = b""
    if arrays is not None and len(arrays["value"]):
        if len(arrays["value"]) != len(rows):
            raise RunError(
                f"{shown(directory)}: {REPLICATES} is not of its scores.json: run posgeom analyze --out again"
            )
        of_score = zip(arrays["value"][:, column], arrays["left_out"][:, :, column], strict=True)
        replicates = [Replicates(float(value), left_out) for value, left_out in of_score]
        parts = arrays["parts"].tobytes()
    return [RunScore(run.name, row["name"], row[score], one, parts) for row, one in zip(rows, replicates, strict=True)]


def _read(path: Path) -> dict[str, NDArray[Any]] | None:
    """The arrays, or None where there is no such file."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ("value", "left_out", "parts")}
    except FileNotFoundError:
        return None
    except KeyError:
        raise RunError(f"{shown(path)} is of another version: run posgeom analyze --out again") from None
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise RunError(f"cannot read {shown(path)}: {one_line(error)}") from None
    value, left_out, k = arrays["value"], arrays["left_out"], len(FIELDS)
    m, n = len(value), left_out.shape[1] if left_out.ndim == 3 else 0
    shapes_fit = value.shape == (m, k) and left_out.shape == (m, n, k)
    kinds_fit = (value.dtype.kind, left_out.dtype.kind, arrays["parts"].dtype.kind) == ("f", "f", "u")
    if not shapes_fit or not kinds_fit or (m and n < 2) or np.isinf(left_out).any():
        raise RunError(f"{shown(path)} is damaged: run posgeom analyze --out again")
    return arrays
