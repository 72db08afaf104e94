"""The sinusoidal encoding (Vaswani et al. 2017)."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, FunctionEncoding, LagEncoding
from posgeom.encodings.checks import check_base, check_choice, check_offset, check_width
from posgeom.encodings.documentation import documented
from posgeom.encodings.frequencies import inverse_frequencies, rotation_lag_distances, tensor2tensor_frequencies
from posgeom.encodings.grids import check_grid, grid_places
from posgeom.encodings.warping import takes_warp, warped
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError

LAYOUTS: tuple[Literal["interleaved", "halves"], ...] = ("interleaved", "halves")
FREQUENCIES: tuple[Literal["paper", "tensor2tensor"], ...] = ("paper", "tensor2tensor")
_FREQUENCIES = {"paper": inverse_frequencies, "tensor2tensor": tensor2tensor_frequencies}


@takes_warp
@documented
def sinusoidal(
    n_positions: int,
    n_dims: int,
    *,
    base: float = 10000.0,
    frequencies: Literal["paper", "tensor2tensor"] = "paper",
    layout: Literal["interleaved", "halves"] = "interleaved",
    offset: int = 0,
    grid: tuple[int, ...] | None = None,
    warp: Warp | None = None,
) -> Encoding:
    """Sines and cosines at geometric frequencies.

    Column 2k is sin(omega_k (i + offset)), column 2k + 1 its cosine (Vaswani et al. 2017, Section 3.5); an odd
    width drops the last cosine. The distance depends on the lag alone for even widths. On a grid of k axes each axis
    has d/k columns of its own, in the order of the axes; squared distances of the axes add.

    Parameters
    ----------
    base : float
        Ratio of the lowest to the highest frequency, roughly.
    frequencies : {"paper", "tensor2tensor"}
        omega_k = base^(-2k/d), or base^(-k/(d/2 - 1)) as in the tensor2tensor code.
    layout : {"interleaved", "halves"}
        Order of the columns: sine and cosine in turn, or all sines first. Distances do not depend on it.
    offset : int
        Added to every position, on a grid to every coordinate.
    grid : tuple of int, optional
        Sizes of the axes of an image or a volume, such as (14, 14): positions run over it row by row, the last axis
        fastest.
    """
    check_width(n_dims)
    check_base(base)
    check_offset(offset)
    check_choice("sinusoidal frequencies", frequencies, _FREQUENCIES)
    check_choice("sinusoidal layout", layout, LAYOUTS)
    if grid is not None:
        check_grid("sinusoidal", grid, n_positions)
        if n_dims % len(grid):
            text = "x".join(map(str, grid))
            raise EncodingError(
                f"sinusoidal grid {text}: expected a width that {len(grid)} axes share, got d = {n_dims}"
            )
    width = n_dims if grid is None else n_dims // len(grid)
    omega = _FREQUENCIES[frequencies](width, base)

    def along(places: NDArray[np.int64]) -> NDArray[np.float64]:
        angles = warped(places, offset, warp)[:, None] * omega
        sines, cosines = np.sin(angles), np.cos(angles)
        if layout == "halves":
            return np.concatenate([sines, cosines], axis=1)[:, :width]
        return np.stack([sines, cosines], axis=2).reshape(places.size, 2 * omega.size)[:, :width]

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        if grid is None:
            return along(positions)
        return np.concatenate([along(places) for places in grid_places(positions, grid).T], axis=1)

    if grid is not None or n_dims % 2 or warp is not None:
        return FunctionEncoding("sinusoidal", n_positions, n_dims, coordinates)

    def by_lag(lags: NDArray[np.int64]) -> NDArray[np.float64]:
        return rotation_lag_distances(lags, omega, np.ones(omega.size))

    return LagEncoding("sinusoidal", n_positions, n_dims, by_lag, coordinates)
