"""ALiBi, attention with linear biases (Press et al. 2022), as a geometry."""

from math import floor, log2
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, LagEncoding
from posgeom.encodings.bias import Bias, kernel_of_drop
from posgeom.encodings.bias_encoding import BiasEncoding
from posgeom.encodings.checks import check_choice, check_heads, check_n_positions, check_positive, of_head
from posgeom.encodings.documentation import documented
from posgeom.encodings.warping import at_warped_lags, takes_warp
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError


def alibi_slopes(n_heads: int, *, max_bias: float = 8.0) -> NDArray[np.float64]:
    """Slopes of the heads, for any number of them.

    For a power of two H the slopes are 2^(-8/H), 2^(-16/H), ..., 2^-8. Otherwise those of the next lower power of
    two, followed by every other slope of the power after it (Press et al. 2022, Section 3, and their code).

    Parameters
    ----------
    n_heads : int
    max_bias : float
        The exponent 8, which MPT calls ``alibi_bias_max``.

    Returns
    -------
    ndarray of float, shape (n_heads,)

    Raises
    ------
    EncodingError
        When `n_heads` is below 1 or beyond any model, or `max_bias` no exponent.
    """
    check_heads("alibi", n_heads)
    if not 0 < max_bias <= 100:
        raise EncodingError(f"alibi max_bias {max_bias:g}: expected a positive number up to 100")
    power = 2 ** floor(log2(n_heads))
    first = 2.0 ** (-max_bias / power * np.arange(1, power + 1))
    rest = 2.0 ** (-max_bias / 2 / power * np.arange(1, 2 * (n_heads - power) + 1, 2))
    return np.concatenate([first, rest])


@takes_warp
@documented
def alibi(
    n_positions: int,
    *,
    form: Literal["zscore", "linear", "kernel", "mds"] = "zscore",
    heads: int = 12,
    head: int | None = None,
    causal: bool = False,
    max_bias: float = 8.0,
    scale: float = 1.0,
    warp: Warp | None = None,
) -> Encoding:
    """The geometry of ALiBi's bias -m |i - j|, by one of four named routes.

    ``zscore`` is the paper's one-dimensional encoding (i - mean) / std over 0 .. n - 1 (population standard
    deviation). ``linear`` reads the bias of a head as the distance itself, m_h |i - j|. ``kernel`` takes the bias
    as a conditionally positive kernel, which induces d^2 = 2 m_h |i - j|: it grows with the root of the lag; ``mds``
    has coordinates of the same distances.

    Parameters
    ----------
    form : {"zscore", "linear", "kernel", "mds"}
        How the bias becomes distances; zscore is the paper's one-dimensional encoding.
    heads : int
        Number of heads, which decides the slopes of the forms but zscore.
    head : int, optional
        One head, from 0. By default all of them side by side: squared distances add.
    max_bias : float
        Exponent of the smallest slope, 2^-max_bias.
    scale : float
        What slopes are multiplied by; Falcon has 1 / sqrt(head_dim).
    warp : Warp, optional
        f(|i - j|) in place of the lag, in all forms but zscore, which has no lag: `line` takes a warp of positions.
    """
    check_choice("alibi form", form, ("zscore", "linear", "kernel", "mds"))
    check_n_positions("alibi", n_positions)
    check_positive("alibi scale", scale)
    slopes = of_head("alibi", scale * alibi_slopes(heads, max_bias=max_bias), head)
    bias = at_warped_lags(alibi_bias(slopes, causal=causal), warp, is_bernstein=True)
    if warp is not None and form == "zscore":
        raise EncodingError("alibi form=zscore is a line of positions and takes no warp of the lag: use line:warp=...")
    if form != "zscore" and (form == "mds" or warp is not None):
        return BiasEncoding("alibi", n_positions, bias, form)
    encoding = _by_lag(n_positions, form, slopes)
    encoding.bias = bias
    return encoding


def alibi_bias(slopes: NDArray[np.float64], *, causal: bool = False) -> Bias:
    """The bias -m_h |i - j|, from slopes m of shape (heads,).

    Some models add m_h j instead, whatever the query: under a causal softmax the two differ by a constant of the row
    and are equivalent, in an encoder they are not.
    """
    return kernel_of_drop(slopes.size, lambda lags: slopes.reshape(-1, *[1] * lags.ndim) * lags, causal=causal)


def _by_lag(n_positions: int, form: Literal["zscore", "linear", "kernel"], slopes: NDArray[np.float64]) -> LagEncoding:
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
