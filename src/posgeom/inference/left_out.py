"""Where the shape of a geometry comes from: alignment and size as the first positions are left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.line import line
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.warp_fits import corpus_warp
from posgeom.encodings.warps import FAMILIES
from posgeom.errors import GeometryError
from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.mds import double_centre
from posgeom.inference.alignment import Norm
from posgeom.inference.jackknife import Estimate, jackknife
from posgeom.inference.warp import LINE, SINUSOID, WIDTH, alignments_of
from posgeom.progress import ProgressHook, silent


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is left of a geometry without its first positions.

    Attributes
    ----------
    first : int
        First position that is kept.
    n_positions : int
        Positions that are kept.
    share : Estimate
        |B|^2 of these positions by themselves, as a share of that of all.
    alignments : mapping of str to Estimate
        By family, of the line under its warp, fitted anew; of ``sinusoidal``, and of the ``line`` without a warp.
    """

    first: int
    n_positions: int
    share: Estimate
    alignments: Mapping[str, Estimate]


def leave_out_first(
    geometry: Geometry,
    families: Sequence[str] = tuple(FAMILIES),
    n_left_out: Sequence[int] | None = None,
    *,
    progress: ProgressHook = silent,
) -> tuple[LeftOut, ...]:
    """Alignment, and the share of |B|^2, as the first positions are left out: where the shape comes from.

    Parameters
    ----------
    geometry : Geometry
    families : sequence of str
        Of `fit_warp`; each is fitted anew to the positions that are left.
    n_left_out : sequence of int, optional
        Numbers of positions to leave out; by default 0, 1, 2, 4, 8, ... as long as 8 are left.
    progress : callable
        Called as ``progress("leaving first positions out", done, total)``.

    Returns
    -------
    tuple of LeftOut

    Raises
    ------
    GeometryError
        When fewer than three positions would be left.
    """
    stage, m = "leaving first positions out", geometry.positions.size
    counts = [0, *(2**k for k in range(20) if m - 2**k >= 8)] if n_left_out is None else list(n_left_out)
    if any(not 0 <= k <= m - 3 for k in counts):
        raise GeometryError(f"{max(counts)} positions to leave out of {m}: expected 0 to {m - 3}")
    rows = []
    for done, k in enumerate(counts):
        progress(stage, done, len(counts))
        part = restricted(geometry, geometry.positions[k:])
        lines = [line(part.n_positions, warp=corpus_warp(part, name)) for name in families]
        aligned = alignments_of([*lines, sinusoidal(part.n_positions, WIDTH), line(part.n_positions)], part)
        alignments = {name: one.estimate for name, one in zip((*families, SINUSOID, LINE), aligned, strict=True)}
        rows.append(LeftOut(int(part.positions[0]), int(part.positions.size), _share(part, geometry), alignments))
    progress(stage, len(counts), len(counts))
    return tuple(rows)


def _share(part: Geometry, geometry: Geometry) -> Estimate:
    """|B|^2 of a part of the positions, as a share of that of all."""
    if part.products is None or geometry.products is None:
        squares = [float((double_centre(one.distances.squared) ** 2).sum()) for one in (part, geometry)]
        return Estimate(squares[0] / squares[1] if squares[1] > 0 else None)
    of_part, of_all = Norm(part.products), Norm(geometry.products)

    def share(groups: Sequence[int]) -> float:
        whole = of_all.squared(groups)
        return of_part.squared(groups) / whole if whole > 0 else np.nan

    return jackknife(share, geometry.products.n)[0].estimate


def restricted(geometry: Geometry, positions: NDArray[np.int64]) -> Geometry:
    """The geometry of some of the used positions by themselves, at the depth that all of them have."""
    rows = np.flatnonzero(np.isin(geometry.positions, positions))
    if rows.size < 2:
        raise GeometryError(f"{rows.size} of the used positions are left: a geometry needs 2")

    def part(distances: DistanceMatrix | None) -> Any:
        if distances is None:
            return None
        return DistanceMatrix.from_squared(
            distances.squared[np.ix_(rows, rows)], geometry.positions[rows], distances.metric, distances.estimator
        )

    products = geometry.products
    return replace(
        geometry,
        plugin=part(geometry.plugin),
        crossval=part(geometry.crossval),
        crossval_full_depth=part(geometry.crossval_full_depth),
        selection=replace(geometry.selection, positions=geometry.positions[rows]),
        rank=None,
        products=None if products is None else replace(products, row_of_position=products.row_of_position[rows]),
    )
