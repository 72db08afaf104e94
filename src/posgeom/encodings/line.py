"""Positions on a line, and along a Brownian motion: the two simplest geometries that a warp can have."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, FunctionEncoding, LagEncoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.bias_encoding import BiasEncoding
from posgeom.encodings.checks import check_choice, check_n_positions, check_offset
from posgeom.encodings.documentation import documented
from posgeom.encodings.warping import at_warped_positions, takes_warp, warped
from posgeom.encodings.warps import Warp


@takes_warp
@documented
def line(n_positions: int, *, offset: int = 0, warp: Warp | None = None) -> Encoding:
    """One coordinate, f(i + offset): d(i, j) = |f(i) - f(j)|.

    Without a warp f(i) = i, the geometry of ALiBi's bias read as a distance.

    Parameters
    ----------
    offset : int
        Added to every position, before the warp.
    """
    check_n_positions("line", n_positions)
    check_offset(offset)

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        return warped(positions, offset, warp)[:, None]

    if warp is not None:
        return FunctionEncoding("line", n_positions, 1, coordinates)
    return LagEncoding("line", n_positions, 1, lambda lags: lags.astype(np.float64), coordinates)


@takes_warp
@documented
def brownian(
    n_positions: int, *, offset: int = 0, warp: Warp | None = None, form: Literal["kernel", "mds"] = "kernel"
) -> Encoding:
    """Points of a Brownian motion at the times f(i + offset): d^2(i, j) = |f(i) - f(j)|.

    Every step is at a right angle to all others. The same is the kernel of the bias -|f(i) - f(j)| / 2, which is
    ALiBi's of slope 1/2 with its positions warped.

    Parameters
    ----------
    offset : int
        Added to every position, before the warp.
    form : {"kernel", "mds"}
        Distances alone, or coordinates too, by classical MDS of the same distances.
    """
    check_choice("brownian form", form, ("kernel", "mds"))
    check_offset(offset)
    bias = Bias(
        1,
        lambda query, key: -np.abs(np.asarray(query - key, np.float64))[None] / 2,
        conditionally_positive=True,
        drop=lambda lags: lags[None] / 2,
    )
    return BiasEncoding("brownian", n_positions, at_warped_positions(bias, warp, offset), form)
