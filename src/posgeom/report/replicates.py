"""``replicates.npz``: what standard errors and paired differences of a run are made of, to be compared later."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from posgeom.analysis import Analysis
from posgeom.errors import RunError
from posgeom.geometry.pair_variance import PairVariance
from posgeom.messages import one_line, shown
from posgeom.report.run import Run
from posgeom.scores.comparison import Scored, column_of
from posgeom.scores.halves import MOST_SETS
from posgeom.scores.interval import Leaving
from posgeom.scores.scoring import FIELDS

REPLICATES = "replicates.npz"


def replicate_arrays(analysis: Analysis) -> dict[str, NDArray[Any]]:
    """The arrays of the file.

    Parameters
    ----------
    analysis : Analysis

    Returns
    -------
    dict of str to ndarray
        ``full`` (encoding, score), ``one_out`` (encoding, fold, score), ``terms`` (encoding, pair of folds, score) and
        ``factors`` on their variance (encoding, on noise and on blocks, score), NaN where unknown; ``sets`` of folds
        whose pairs the terms are of (encoding, set, fold); ``parts``, what tells corpora and folds apart. No encodings
        where there are no standard errors.
    """
    replicates, shape = analysis.scorecard.replicates, analysis.geometry
    leaving = () if replicates is None else replicates.leaving
    n, k = analysis.scorecard.n_blocks, len(FIELDS)
    full, one_out = np.empty((len(leaving), k)), np.empty((len(leaving), n, k))
    terms, factors = np.full((len(leaving), n * (n - 1) // 2, k), np.nan), np.full((len(leaving), 2, k), np.nan)
    sets = np.zeros((len(leaving), MOST_SETS, n), bool)
    for row, one in enumerate(leaving):
        full[row], one_out[row] = one.full, one.one_out
        if one.terms is not None and one.variance is not None:
            terms[row] = one.terms
            factors[row] = np.broadcast_arrays(one.variance.on_noise, one.variance.on_blocks, full[row])[:2]
            for number, blocks in enumerate(one.variance.sets):
                sets[row, number, list(blocks)] = True
    parts = f"{analysis.counts.checksum} {shape.positions.tolist()} {shape.blocks} {shape.depth} {shape.metric.name}"
    encoded = np.frombuffer(parts.encode(), np.uint8)
    return {"full": full, "one_out": one_out, "terms": terms, "factors": factors, "sets": sets, "parts": encoded}


def read_scored(directory: Path, run: Run, score: str) -> list[Scored]:
    """One score of every encoding of a stored run.

    Parameters
    ----------
    directory : Path
    run : Run
        Read from there.
    score : str
        Field of `posgeom.EncodingScores`.

    Returns
    -------
    list of Scored
        Without `leaving` where the run has no standard errors.

    Raises
    ------
    RunError
        When the run has no scores, or its replicates are not what posgeom writes.
    """
    if run.scores is None:
        raise RunError(f"{shown(directory)} has no scores: expected a directory that posgeom analyze --out wrote")
    rows = run.scores["encodings"]
    arrays = _read(directory / REPLICATES)
    leaving: list[Leaving | None] = [None] * len(rows)
    parts = b""
    if arrays is not None and len(arrays["full"]):
        if len(arrays["full"]) != len(rows):
            raise RunError(
                f"{shown(directory)}: {REPLICATES} is not of its scores.json: run posgeom analyze --out again"
            )
        leaving = [column_of(_leaving(arrays, k), FIELDS.index(score)) for k in range(len(rows))]
        parts = arrays["parts"].tobytes()
    return [Scored(run.name, row["name"], row[score], one, parts) for row, one in zip(rows, leaving, strict=True)]


def _leaving(arrays: dict[str, NDArray[Any]], k: int) -> Leaving:
    full, one_out, terms, factors = (arrays[name][k] for name in ("full", "one_out", "terms", "factors"))
    sets = tuple(tuple(np.flatnonzero(row).tolist()) for row in arrays["sets"][k] if row.any())
    if np.isnan(factors).any() or not sets:
        return Leaving(full, one_out)
    return Leaving(full, one_out, terms, PairVariance(one_out.shape[0], sets, *factors))


def _read(path: Path) -> dict[str, NDArray[Any]] | None:
    """The arrays, or None where there is no such file."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ("full", "one_out", "terms", "factors", "sets", "parts")}
    except FileNotFoundError:
        return None
    except KeyError:
        raise RunError(f"{shown(path)} is of another version: run posgeom analyze --out again") from None
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise RunError(f"cannot read {shown(path)}: {one_line(error)}") from None
    full, one_out = arrays["full"], arrays["one_out"]
    m, n, k = len(full), one_out.shape[1] if one_out.ndim == 3 else 0, len(FIELDS)
    wanted = {
        "full": (m, k),
        "one_out": (m, n, k),
        "terms": (m, n * (n - 1) // 2, k),
        "factors": (m, 2, k),
        "sets": (m, MOST_SETS, n),
    }
    kinds = {**dict.fromkeys(wanted, "f"), "sets": "b", "parts": "u"}
    shapes_fit = all(arrays[name].shape == shape for name, shape in wanted.items())
    kinds_fit = all(arrays[name].dtype.kind == kind for name, kind in kinds.items())
    if not shapes_fit or not kinds_fit or (m and n < 2) or not _values_fit(arrays):
        raise RunError(f"{shown(path)} is damaged: run posgeom analyze --out again")
    return arrays


def _values_fit(arrays: dict[str, NDArray[Any]]) -> bool:
    """Whether factors are unknown or positive, terms are not infinite, and pairs of blocks can be told in every set."""
    factors, sizes = arrays["factors"], arrays["sets"].sum(axis=2)
    unknown = np.isnan(factors).all(axis=(1, 2))
    with_factors = unknown | ((factors > 0) & np.isfinite(factors)).all(axis=(1, 2))
    with_sets = unknown | (sizes > 0).any(axis=1)
    sets_fit = ((sizes == 0) | (sizes > 2)).all() and not np.isinf(arrays["terms"]).any()
    return bool(with_factors.all() and with_sets.all() and sets_fit)
