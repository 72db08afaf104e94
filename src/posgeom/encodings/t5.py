"""T5's relative position bias: a learned number for each head and bucket of lags (Raffel et al. 2020)."""

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.bias_encoding import BiasEncoding, BiasForm
from posgeom.encodings.checks import as_parameters, of_head
from posgeom.encodings.documentation import documented
from posgeom.encodings.tables import Table, read_table
from posgeom.encodings.warping import at_warped_lags, takes_warp
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError

_MAX_BUCKETS = 1 << 12


def t5_buckets(
    relative: NDArray[np.int64], *, n_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
) -> NDArray[np.int64]:
    """Bucket of each key - query.

    Half of the buckets hold one lag each; the others grow by a constant ratio up to `max_distance`, and what is
    farther shares the last one. Bidirectional buckets are split between past and future; otherwise the future is in
    bucket 0. Edges are computed in whole numbers, so none is decided by round-off.

    Parameters
    ----------
    relative : ndarray of int
        key - query, any shape.
    n_buckets, max_distance : int
        32 and 128 in T5.
    bidirectional : bool
        As in T5's encoder; its decoder is not.

    Returns
    -------
    ndarray of int, the shape of `relative`

    Raises
    ------
    EncodingError
        When there are too few buckets, or `max_distance` does not exceed those of one lag.
    """
    own = n_buckets // 2 if bidirectional else n_buckets
    exact = own // 2
    if not 2 <= own <= _MAX_BUCKETS or (bidirectional and n_buckets % 2):
        least = 4 if bidirectional else 2
        raise EncodingError(
            f"t5 buckets {n_buckets}: expected {'an even number, ' if bidirectional else ''}{least} to {_MAX_BUCKETS:,}"
        )
    if not exact < max_distance <= 1 << 40:
        raise EncodingError(f"t5 max_distance {max_distance}: expected more than {exact}, the buckets of one lag each")
    relative = np.asarray(relative, np.int64)
    lags = np.abs(relative) if bidirectional else np.maximum(-relative, 0)
    edges = np.array(_edges(exact, own - exact, max_distance), np.int64)
    buckets = np.where(lags < exact, lags, exact + np.searchsorted(edges, lags, side="right"))
    return np.asarray(buckets + np.where(relative > 0, own, 0) if bidirectional else buckets)


def _edges(exact: int, n_grown: int, max_distance: int) -> list[int]:
    """Smallest lag of each grown bucket but the first: lag >= exact (max_distance / exact)^(k / n_grown)."""
    edges = []
    for k in range(1, n_grown):
        # lag^n >= max_distance^k exact^(n - k), by bisection in whole numbers
        wanted = max_distance**k * exact ** (n_grown - k)
        low, high = exact, max_distance
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if middle**n_grown >= wanted else (middle + 1, high)
        edges.append(low)
    return edges


@takes_warp
@documented
def t5(
    n_positions: int,
    *,
    table: Table,
    max_distance: int = 128,
    causal: bool = False,
    form: BiasForm = "mds",
    head: int | None = None,
    warp: Warp | None = None,
) -> Encoding:
    """The bias of T5: a learned table looked up by buckets of the lag.

    Parameters
    ----------
    table : file
        FILE.npy or FILE.safetensors:tensor=NAME, one row per bucket and one column per head
        (``relative_attention_bias.weight``).
    max_distance : int
        Lag from which all share the last bucket.
    causal : bool
        Decoder: buckets of the past alone. Otherwise half of them are the future's, and distances use the mean of both
        directions.
    form : {"linear", "kernel", "mds"}
        How the bias becomes distances; a learned bias need be no kernel.
    warp : Warp, optional
        f(|i - j|) in place of the lag, to the nearest whole number, since the table has rows for these alone.
    """
    name, values = read_table(table)
    weights = of_head("t5", as_parameters(f"t5 table {name}", values, (None, None)), head, axis=1)
    buckets = {"n_buckets": weights.shape[0], "max_distance": max_distance, "bidirectional": not causal}
    t5_buckets(np.zeros(1, np.int64), **buckets)  # refuses impossible options before any work

    def look_up(query: NDArray[np.int64], key: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.moveaxis(weights[t5_buckets(np.asarray(key - query), **buckets)], -1, 0)

    bias = Bias(weights.shape[1], look_up, causal=causal, even=causal)
    return BiasEncoding("t5", n_positions, at_warped_lags(bias, warp, whole=True), form)
