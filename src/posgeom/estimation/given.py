"""The geometry of distributions that are given, rather than estimated from counts of documents."""

from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from posgeom.arrays import as_numpy
from posgeom.errors import GeometryError
from posgeom.estimation.build import Geometry
from posgeom.estimation.depth import Selection
from posgeom.estimation.distance_matrix import DistanceMatrix, check_matrix_fits
from posgeom.estimation.mds import spectrum_of
from posgeom.estimation.metrics import metric_named
from posgeom.estimation.sparse_rows import divide_rows, row_sums


def geometry_of(
    distributions: ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix, *, metric: str = "hellinger"
) -> Geometry:
    """The geometry of distributions as they are: plug-in distances, with no correction for sampling noise.

    Where the rows are frequencies counted in text, their noise sets positions apart: count the documents with `count`
    or `count_texts` and use `geometry`, which can tell that.

    Parameters
    ----------
    distributions : array_like or sparse array, shape (n, V)
        One row per position, of numbers that are not negative; each row is divided by its sum. Also a tensor.
    metric : str
        One of `posgeom.METRICS`.

    Returns
    -------
    Geometry
        Its distances as an array are ``geometry.distances.values``, shape (n, n). Depths are unknown, and stand as 0.

    Raises
    ------
    GeometryError
        When there are fewer than two rows, or one has no sum, a negative number, or one that is not finite.

    Examples
    --------
    >>> geometry_of([[1, 0], [0, 1], [1, 1]]).distances.values.round(3)
    array([[0.   , 1.414, 0.765],
           [1.414, 0.   , 0.765],
           [0.765, 0.765, 0.   ]])
    """
    chosen, rows = metric_named(metric), _as_rows(distributions)
    n = rows.shape[0]
    check_matrix_fits(n)
    positions = np.arange(n)
    plugin = DistanceMatrix(chosen.distances(divide_rows(rows, row_sums(rows))), positions, metric, "plugin")
    nothing = np.empty(0, np.int64)
    return Geometry(
        plugin=plugin,
        crossval=None,
        crossval_full_depth=None,
        estimator="plugin",
        empty="mask",
        metric=chosen,
        selection=Selection(positions, nothing, nothing, 0, chosen_automatically=False),
        depth=None,
        rank=spectrum_of(plugin.squared).rank,
        n_positions=n,
        position_depth=np.zeros(n, np.int64),
        self_affinity=None,
        n_folds=0,
        n_folds_used=0,
        seed=0,
    )


def _as_rows(distributions: Any) -> scipy.sparse.csr_array:
    rows: Any
    if scipy.sparse.issparse(distributions):
        rows = scipy.sparse.csr_array(cast("Any", distributions).tocsr()).astype(np.float64)
        rows.sum_duplicates()
    else:
        try:
            dense: NDArray[np.float64] = as_numpy(distributions).astype(np.float64)
        except (TypeError, ValueError) as error:
            raise GeometryError(f"distributions: {error}: expected numbers of shape (positions, tokens)") from None
        if dense.ndim != 2:
            raise GeometryError(f"distributions have shape {dense.shape}: expected (positions, tokens)")
        rows = scipy.sparse.csr_array(dense)
    if rows.shape[0] < 2:
        raise GeometryError(f"{rows.shape[0]} distributions have no geometry: expected at least 2 rows")
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    bad = np.flatnonzero(~(np.isfinite(rows.data) & (rows.data >= 0)))
    if bad.size:
        raise GeometryError(
            f"distributions: row {row_of[bad[0]]} holds {rows.data[bad[0]]:g}: expected finite numbers from 0"
        )
    empty = np.flatnonzero(np.bincount(row_of, rows.data, minlength=rows.shape[0]) == 0)
    if empty.size:
        raise GeometryError(f"distributions: row {empty[0]} sums to 0: leave positions without data out")
    return cast("scipy.sparse.csr_array", rows)
