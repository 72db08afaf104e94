"""Warps fitted to a geometry: those under which a line is aligned with it best.

A line with coordinates x has the centred Gram matrix x x' (x centred), so that its alignment with B is
x' B x / (|x|^2 |B|): the Rayleigh quotient of B, which no x takes higher than MDS of rank 1 does, to the largest
eigenvalue. A family of one parameter is searched along it; the monotone warp is the best x that never falls, and the
smooth one a monotone cubic through the centres of its steps (Fritsch and Carlson 1980).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.warps import FAMILIES, SHAPES, FamilyWarp, TableWarp, Warp
from posgeom.errors import EncodingError
from posgeom.estimation.build import Geometry
from posgeom.estimation.mds import double_centre

MONOTONE, SMOOTH = SHAPES
NAMES = (*FAMILIES, *SHAPES)
"""Families that can be fitted, by name."""
EXPONENTS = (1 / 64, 16.0)
"""Exponents that are searched: from one that sets the first position apart to one that does so with the last."""
RANGE = 1024.0
"""Lengths c are searched from 1 / RANGE of a position to RANGE times all positions: from the same to no warp."""
_GRID, _STEPS, _SMALL = 96, 500, 1e-12


def corpus_warp(geometry: Geometry, family: str = MONOTONE) -> Warp:
    """The warp of a family that fits a geometry best, which knows how to be fitted again to another one."""
    check_family(family)
    positions = geometry.positions
    warp = best_warp(double_centre(geometry.distances.squared), positions, family)
    return replace(warp, refit=lambda shape: corpus_warp(shape, family), fitted_to=geometry)


def best_warp(centred: NDArray[np.float64], positions: NDArray[np.int64], family: str) -> FamilyWarp | TableWarp:
    """The warp of a family whose line is aligned best with B, shape (m, m), over some positions, shape (m,)."""
    if family in SHAPES:
        values = _best_monotone(centred)
        beyond = max(
            (best_warp(centred, positions, name) for name in FAMILIES),
            key=lambda warp: rayleigh(centred, warp.at(positions)),
        )
        curve = _smoothed(values, positions) if family == SMOOTH else values
        # A quotient has no scale, and a sinusoid under a warp has one: that of the family which it goes on as.
        scale, shift = np.polyfit(curve, beyond.at(positions), 1)
        t = (positions - positions[0]).astype(np.float64)
        return TableWarp(shift + scale * curve, t, f"corpus:{family}", beyond, int(positions[0]))
    origin, kind = int(positions[0]), FAMILIES[family]
    t = positions.astype(np.float64) - origin

    def quotient(exponent: float) -> float:
        return rayleigh(centred, kind(float(np.exp(exponent))).apply(t))

    return kind(float(np.exp(_maximum(quotient, *np.log(limits(family, positions))))), origin)


def limits(family: str, positions: NDArray[np.int64]) -> tuple[float, float]:
    """The smallest and largest parameter that is searched."""
    return EXPONENTS if family == "power" else (1 / RANGE, RANGE * float(np.ptp(positions)))


def check_family(family: str) -> None:
    """Refuse what is no family."""
    if family not in NAMES:
        raise EncodingError(f"warp family {family!r}: expected one of {', '.join(NAMES)}")


def rayleigh(centred: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """The quotient x' B x / |x|^2 of the centred values x: alignment of their line with B, times |B|."""
    x = values - values.mean()
    return float(x @ centred @ x / (x @ x))


def _maximum(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a smooth function is largest: the best of a grid, refined between its neighbours."""
    from scipy.optimize import minimize_scalar  # slow to import, and seldom needed

    grid = np.linspace(low, high, _GRID)
    best = int(np.argmax([function(float(x)) for x in grid]))
    if best in (0, _GRID - 1):
        return float(grid[best])
    inside = (float(grid[best - 1]), float(grid[best + 1]))
    return float(minimize_scalar(lambda x: -function(x), bounds=inside, method="bounded", options={"xatol": 1e-7}).x)


def _best_monotone(centred: NDArray[np.float64]) -> NDArray[np.float64]:
    """The best x that never falls: power iteration on B, made positive, with an isotonic regression in each step.

    With B positive the quotient never falls from step to step; it may end in a local maximum, so that the best of
    several starts is taken: the leading axis in both directions, and lines of each family.
    """
    from scipy.optimize import isotonic_regression

    m = len(centred)
    eigenvalues, vectors = np.linalg.eigh(centred)
    positive = centred + np.eye(m) * max(0.0, -float(eigenvalues[0]))
    t = np.arange(m, dtype=np.float64)
    starts = [vectors[:, -1], -vectors[:, -1], t, np.log1p(t), t / (1 + t)]
    maxima = []
    for start in starts:
        x = np.asarray(isotonic_regression(start).x)
        x -= x.mean()
        if not np.abs(x).max() > _SMALL:  # the leading axis falls all along: this direction is the other one
            continue
        x /= np.linalg.norm(x)
        for _ in range(_STEPS):
            step = np.asarray(isotonic_regression(positive @ x).x)
            step -= step.mean()
            norm = float(np.linalg.norm(step))
            if not norm > 0:
                break
            former, x = x, step / norm
            if float(np.abs(x - former).max()) < _SMALL**0.75:
                break
        maxima.append((rayleigh(centred, x), x))
    best = max(maxima, key=lambda one: one[0])[1]
    return np.asarray(best - best[0])


def _smoothed(values: NDArray[np.float64], positions: NDArray[np.int64]) -> NDArray[np.float64]:
    """A monotone curve through the centres of steps, flat before the first and after the last of these."""
    from scipy.interpolate import PchipInterpolator  # as above

    step = np.concatenate([[0], np.cumsum(np.diff(values) > 0)])
    centres = np.bincount(step, positions) / np.bincount(step)
    curve = PchipInterpolator(centres, np.bincount(step, values) / np.bincount(step))
    return np.maximum.accumulate(np.asarray(curve(np.clip(positions, centres[0], centres[-1]))))
