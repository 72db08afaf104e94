"""Relative vectors inside the attention, seen by one query: Shaw, DeBERTa, Transformer-XL; and Swin's bias table."""

from collections.abc import Callable
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.bias_encoding import BiasEncoding, BiasForm
from posgeom.encodings.checks import as_parameters, check_choice, of_head
from posgeom.encodings.documentation import documented
from posgeom.encodings.frequencies import inverse_frequencies
from posgeom.encodings.grids import check_grid, grid_places
from posgeom.encodings.tables import Table, read_table
from posgeom.encodings.warping import at_warped_lags, takes_warp
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError

Positions = NDArray[np.int64]


def log_buckets(relative: Positions, *, n_buckets: int, max_distance: int) -> Positions:
    """DeBERTa's bucket of each query - key: itself up to half of the buckets, then by the logarithm, signed."""
    middle = n_buckets // 2
    if not middle > 1 or not middle + 1 < max_distance <= 1 << 40:
        raise EncodingError(f"deberta buckets {n_buckets}, max_distance {max_distance}: expected 4 or more, and beyond")
    lags = np.abs(np.asarray(relative, np.int64))
    grown = np.log(np.maximum(lags, middle) / middle) / np.log((max_distance - 1) / middle) * (middle - 1)
    far = np.sign(relative) * (np.ceil(grown).astype(np.int64) + middle)
    return np.asarray(np.where(lags <= middle, relative, far), np.int64)


@takes_warp
@documented
def relative(
    n_positions: int,
    *,
    query: Table,
    table: Table | None = None,
    kind: Literal["shaw", "deberta", "transformer-xl"] = "shaw",
    max_distance: int = 0,
    causal: bool = False,
    form: BiasForm = "mds",
    warp: Warp | None = None,
) -> Encoding:
    """What one query makes of relative vectors: b(i, j) = q . a(i - j), content left out.

    These schemes add the product of the query and a vector of the lag, so that each query sees positions of its own; a
    mean query, or Transformer-XL's learned one, stands for all of them.

    Parameters
    ----------
    query : file
        FILE.npy or FILE.safetensors:tensor=NAME, one vector. For transformer-xl W_R' v, of the width of its sines.
    table : file, optional
        The vectors a, one row each, but for transformer-xl, whose vectors are sines and cosines of i - j. shaw: 2K + 1
        rows, j - i from -K to K, clipped. deberta: 2B rows, the bucket of i - j from -B to B - 1.
    kind : {"shaw", "deberta", "transformer-xl"}
        Shaw et al. 2018; He et al. 2021; Dai et al. 2019.
    max_distance : int
        Of deberta's logarithmic buckets (``max_relative_positions``, ``max_position_embeddings``); 0: no buckets.
    causal : bool
        Whether keys after their query are masked.
    warp : Warp, optional
        f(|i - j|) in place of the lag, whose sign stays; to the nearest whole number where there is a table.
    """
    check_choice("relative kind", kind, ("shaw", "deberta", "transformer-xl"))
    name, values = read_table(query)
    vector = as_parameters(f"relative query, {name},", np.squeeze(values), (None,))
    if (table is None) != (kind == "transformer-xl"):
        raise EncodingError(f"relative kind {kind}: {'expected' if table is None else 'it has no'} table")
    if table is None:
        omega = inverse_frequencies(vector.size, 10000.0)

        def by_lag(lags: Positions) -> NDArray[np.float64]:
            angles = lags[..., None] * omega
            return np.asarray(np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)[..., : vector.size] @ vector)
    else:
        name, values = read_table(table)
        seen = as_parameters(f"relative table, {name},", values, (None, vector.size)) @ vector
        index = _index(kind, seen.size, max_distance)

        def by_lag(lags: Positions) -> NDArray[np.float64]:
            return np.asarray(seen[index(lags)])

    def look_up(queries: Positions, keys: Positions) -> NDArray[np.float64]:
        return by_lag(np.asarray(queries - keys))[None]

    bias = at_warped_lags(Bias(1, look_up, causal=causal, even=causal), warp, whole=table is not None)
    return BiasEncoding("relative", n_positions, bias, form)


def _index(kind: str, n_rows: int, max_distance: int) -> Callable[[Positions], Positions]:
    """From query - key to the row of its vector."""
    if kind == "shaw":
        if n_rows % 2 == 0:
            raise EncodingError(f"relative table has {n_rows} rows: expected 2K + 1, for j - i from -K to K")
        reach = n_rows // 2
        return lambda lags: np.clip(-lags, -reach, reach) + reach
    if n_rows % 2:
        raise EncodingError(f"relative table has {n_rows} rows: expected 2B, for buckets from -B to B - 1")
    half = n_rows // 2
    if not max_distance:
        return lambda lags: np.clip(lags + half, 0, n_rows - 1)
    return lambda lags: np.clip(log_buckets(lags, n_buckets=half, max_distance=max_distance) + half, 0, n_rows - 1)


@documented
def swin(
    n_positions: int,
    *,
    table: Table,
    grid: tuple[int, ...],
    form: BiasForm = "mds",
    head: int | None = None,
) -> Encoding:
    """The bias of Swin: a learned number for each head and offset inside a window (Liu et al. 2021).

    Parameters
    ----------
    n_positions : int
        Positions of the window, row by row.
    table : file
        FILE.npy or FILE.safetensors:tensor=NAME, one row per offset, (2 rows - 1)(2 columns - 1), and one column per
        head (``relative_position_bias_table``).
    grid : tuple of int
        Rows and columns of the window.
    """
    check_grid("swin", grid, n_positions)
    spans = tuple(2 * size - 1 for size in grid)
    name, values = read_table(table)
    weights = of_head("swin", as_parameters(f"swin table {name}", values, (prod(spans), None)), head, axis=1)

    def look_up(queries: Positions, keys: Positions) -> NDArray[np.float64]:
        shape = np.broadcast_shapes(queries.shape, keys.shape)
        places = [grid_places(np.broadcast_to(p, shape).reshape(-1), grid) for p in (queries, keys)]
        offsets = places[0] - places[1] + np.array(grid) - 1
        rows = np.ravel_multi_index(tuple(offsets.T), spans)
        return np.moveaxis(weights[rows].reshape(*shape, -1), -1, 0)

    return BiasEncoding("swin", n_positions, Bias(weights.shape[1], look_up, relative=False, even=False), form)
