"""Rows of a table at positions between those it has: linear, or by cubic splines."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.checks import check_choice
from posgeom.errors import EncodingError

Interpolation = Literal["linear", "cubic"]
Alignment = Literal["corners", "centers"]


def interpolate_rows(
    rows: NDArray[np.float64], known: NDArray[np.float64], wanted: NDArray[np.float64], kind: Interpolation
) -> NDArray[np.float64]:
    """Rows at some places between known, increasing ones: linear, or by a cubic spline with not-a-knot ends."""
    check_choice("interpolation", kind, ("linear", "cubic"))
    needed = 4 if kind == "cubic" else 1
    if known.size < needed:
        raise EncodingError(f"{kind} interpolation needs at least {needed} rows, got {known.size}")
    outside = wanted[(wanted < known[0]) | (wanted > known[-1])]
    if outside.size:
        raise EncodingError(
            f"position {outside[0]:g} lies outside {known[0]:g} to {known[-1]:g}, the positions with a vector: "
            "interpolation does not extend them"
        )
    if kind == "linear":
        left = np.clip(np.searchsorted(known, wanted, side="right") - 1, 0, max(known.size - 2, 0))
        right = np.minimum(left + 1, known.size - 1)
        gap = np.where(right > left, known[right] - known[left], 1.0)
        share = ((wanted - known[left]) / gap)[:, None]
        return np.asarray((1 - share) * rows[left] + share * rows[right])
    from scipy.interpolate import CubicSpline  # slow to import, and seldom needed

    return np.asarray(CubicSpline(known, rows, axis=0)(wanted))


def stretch_rows(
    rows: NDArray[np.float64],
    length: int,
    kind: Interpolation,
    align: Alignment = "corners",
    *,
    n_first: int | None = None,
) -> NDArray[np.float64]:
    """The first rows of a table of m rows stretched to `length` rows over the same range of positions.

    With corners aligned row i lies at i (m - 1) / (length - 1), so that first and last rows stay; with centers at
    (i + 1/2) m / length - 1/2, clipped to the rows there are, as images are usually resized.
    """
    check_choice("align", align, ("corners", "centers"))
    m = rows.shape[0]
    if length < 1:
        raise EncodingError(f"length {length}: expected at least 1 row")
    wanted = np.arange(length if n_first is None else min(length, n_first))
    places = wanted * (m - 1) / max(length - 1, 1) if align == "corners" else (wanted + 0.5) * m / length - 0.5
    places = np.clip(places, 0, m - 1)
    return interpolate_rows(rows, np.arange(m, dtype=np.float64), places, kind)
