"""The paper's information-optimal encoding: classical MDS of a geometry, in a model's width."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, PointEncoding
from posgeom.encodings.checks import check_choice, check_width
from posgeom.encodings.documentation import documented
from posgeom.encodings.interpolation import interpolate_rows
from posgeom.errors import EncodingError
from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.mds import MDS, classical_mds
from posgeom.seeds import make_rng


@documented
def mds(
    geometry: Geometry | DistanceMatrix,
    n_dims: int | None = None,
    *,
    rank: int | None = None,
    columns: Literal["first", "mixed"] = "first",
    missing: Literal["none", "linear", "cubic"] = "none",
    beyond: Geometry | DistanceMatrix | None = None,
    seed: int = 0,
) -> Encoding:
    """Coordinates that reproduce a geometry, from its leading axes (Algorithm 1 of the paper).

    It is fitted to the geometry that scores refer to. Against a cross-validated geometry, scores fit it on one half of
    the corpus and score it on the other; against a plug-in one they are in-sample. Masked positions have no
    vector, unless `missing` or `beyond` give them one.

    Parameters
    ----------
    geometry : Geometry or DistanceMatrix
        Of any metric.
    n_dims : int, optional
        Width d. Axes beyond it are dropped.
    rank : int, optional
        Leading axes r to keep. By default all, or as many as fit in `n_dims`.
    columns : {"first", "mixed"}
        How r axes are embedded in width d: in the first r columns, the others zero; or in all of them by a d x r
        matrix with orthonormal columns. Distances are the same.
    missing : {"none", "linear", "cubic"}
        How masked positions are filled in: by interpolation along the sequence between used ones, and with the vector
        of the nearest used one before the first and after the last.
    beyond : Geometry or DistanceMatrix, optional
        Distances that take in further positions beside all the fitted ones: those are placed by Gower's formula,
        without a new fit.
    seed : int
        Draws the map of the mixed columns.

    Raises
    ------
    EncodingError
        When `rank` is below 1 or above `n_dims`, or `beyond` lacks a fitted position.
    """
    check_choice("mds columns", columns, ("first", "mixed"))
    check_choice("mds missing", missing, ("none", "linear", "cubic"))
    solution = geometry.mds() if isinstance(geometry, Geometry) else classical_mds(geometry)
    available = max(solution.coordinates.shape[1], 1)
    if n_dims is not None:
        check_width(n_dims)
    if rank is not None and (rank < 1 or (n_dims is not None and rank > n_dims)):
        raise EncodingError(f"mds rank {rank}: expected 1 to the width d{'' if n_dims is None else f' = {n_dims}'}")
    kept = min(limit for limit in (rank, n_dims, available) if limit is not None)
    solution = solution.truncate(kept)
    positions, axes = solution.positions, solution.embed(kept, kept)
    n = geometry.n_positions if isinstance(geometry, Geometry) else int(positions[-1]) + 1
    if beyond is not None:
        distances = beyond.distances if isinstance(beyond, Geometry) else beyond
        positions, axes = _extended(solution, axes, distances)
        n = max(n, beyond.n_positions if isinstance(beyond, Geometry) else int(positions[-1]) + 1)
    if missing != "none":
        places = np.clip(np.arange(n), positions[0], positions[-1]).astype(np.float64)
        axes, positions = interpolate_rows(axes, positions.astype(np.float64), places, missing), np.arange(n)
    width = n_dims or kept
    encoding = PointEncoding("mds", _COLUMNS[columns](axes, width, seed), positions, n)
    encoding.fitted_to = geometry
    most = min((limit for limit in (rank, n_dims) if limit is not None), default=None)
    encoding.refit = lambda shape: mds(shape, rank=most)  # distances do not depend on the columns, nor on zero ones
    return encoding


def _extended(
    solution: MDS, axes: NDArray[np.float64], distances: DistanceMatrix
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The fitted positions where they were fitted, and further ones by Gower's formula."""
    lacking = np.setdiff1d(solution.positions, distances.positions)
    if lacking.size:
        raise EncodingError(f"mds: the distances beyond the fit lack position {int(lacking[0])}, which was fitted")
    is_fitted = np.isin(distances.positions, solution.positions)
    out = np.empty((len(distances), axes.shape[1]))
    out[is_fitted] = axes
    placed = solution.extend(distances.squared[np.ix_(~is_fitted, is_fitted)])
    out[~is_fitted] = np.pad(placed, ((0, 0), (0, axes.shape[1] - placed.shape[1])))
    return distances.positions, out


def _first(axes: NDArray[np.float64], width: int, seed: int) -> NDArray[np.float64]:  # noqa: ARG001
    return np.pad(axes, ((0, 0), (0, width - axes.shape[1])))


def _mixed(axes: NDArray[np.float64], width: int, seed: int) -> NDArray[np.float64]:
    return np.asarray(axes @ orthonormal_columns(width, axes.shape[1], seed).T)


def orthonormal_columns(width: int, n_columns: int, seed: int) -> NDArray[np.float64]:
    """A matrix with orthonormal columns, every such one as likely as another; shape (width, n_columns)."""
    q, r = np.linalg.qr(make_rng(seed).standard_normal((width, n_columns)))
    return np.asarray(q * np.where(np.diagonal(r) < 0, -1.0, 1.0))


_COLUMNS = {"first": _first, "mixed": _mixed}
