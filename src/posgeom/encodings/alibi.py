"""ALiBi, attention with linear biases (Press et al. 2022), as a geometry."""

from math import floor, log2
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, LagEncoding, check_n_positions
from posgeom.errors import EncodingError

MAX_HEADS = 1 << 16


def alibi_slopes(n_heads: int) -> NDArray[np.float64]:
    """Slopes of the heads, for any number of them.

    For a power of two H the slopes are 2^(-8/H), 2^(-16/H), ..., 2^-8. Otherwise those of the next lower power of
    two, followed by every other slope of the power after it (Press et al. 2022, Section 3, and their code).

    Parameters
    ----------
    n_heads : int

    Returns
    -------
    ndarray of float, shape (n_heads,)

    Raises
    ------
    EncodingError
        When `n_heads` is below 1 or beyond any model.
    """
    if not 1 <= n_heads <= MAX_HEADS:
        raise EncodingError(f"alibi heads {n_heads}: expected 1 to {MAX_HEADS:,}")
    power = 2 ** floor(log2(n_heads))
    first = 2.0 ** (-8 / power * np.arange(1, power + 1))
    rest = 2.0 ** (-4 / power * np.arange(1, 2 * (n_heads - power) + 1, 2))
    return np.concatenate([first, rest])


def alibi(
    n_positions: int,
    *,
    form: Literal["zscore", "linear", "kernel"] = "zscore",
    heads: int = 12,
    head: int | None = None,
) -> Encoding:
    """The geometry of ALiBi's bias -m |i - j|, by one of three named routes.

    ``zscore`` is the paper's one-dimensional encoding (i - mean) / std over 0 .. n - 1 (population standard
    deviation). ``linear`` reads the bias of a head as the distance itself, m_h |i - j|. ``kernel`` takes the bias
    as a conditionally positive kernel, which induces d^2 = 2 m_h |i - j|: it grows with the root of the lag.

    Parameters
    ----------
    n_positions : int
        Context length n.
    form : {"zscore", "linear", "kernel"}
    heads : int
        Number of heads, which decides the slopes of the last two forms.
    head : int, optional
        One head, from 0. By default all of them side by side: squared distances add.

    Returns
    -------
    Encoding

    Raises
    ------
    EncodingError
        When an option is out of range.
    """
    if form not in ("zscore", "linear", "kernel"):
        raise EncodingError(f"alibi form {form!r}: expected zscore, linear or kernel")
    check_n_positions("alibi", n_positions)
    slopes = alibi_slopes(heads)
    if head is not None and not 0 <= head < heads:
        raise EncodingError(f"alibi head {head}: expected 0 to {heads - 1}")
    if head is not None:
        slopes = slopes[[head]]
    if form == "kernel":

        def root(lags: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.asarray(np.sqrt(2 * float(slopes.sum()) * lags), np.float64)

        return LagEncoding("alibi", n_positions, None, root)
    # Mean and population variance of 0 .. n - 1 in closed form.
    mean, std = (n_positions - 1) / 2, np.sqrt((n_positions**2 - 1) / 12)
    weights = slopes if form == "linear" else np.array([1 / std])
    origin = 0.0 if form == "linear" else mean
    slope = float(np.sqrt((weights**2).sum()))

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        return (positions[:, None] - origin) * weights

    def linear(lags: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(slope * lags, np.float64)

    return LagEncoding("alibi", n_positions, weights.size, linear, coordinates)
