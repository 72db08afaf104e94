"""The sinusoidal encoding (Vaswani et al. 2017)."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, FunctionEncoding, LagEncoding, check_width
from posgeom.encodings.frequencies import (
    check_base,
    check_offset,
    inverse_frequencies,
    rotation_lag_distances,
    tensor2tensor_frequencies,
)
from posgeom.errors import EncodingError

_FREQUENCIES = {"paper": inverse_frequencies, "tensor2tensor": tensor2tensor_frequencies}


def sinusoidal(
    n_positions: int,
    n_dims: int,
    *,
    base: float = 10000.0,
    frequencies: Literal["paper", "tensor2tensor"] = "paper",
    layout: Literal["interleaved", "halves"] = "interleaved",
    offset: int = 0,
) -> Encoding:
    """Sines and cosines at geometric frequencies.

    Column 2k is sin(omega_k (i + offset)), column 2k + 1 its cosine (Vaswani et al. 2017, Section 3.5); an odd
    width drops the last cosine. The distance depends on the lag alone for even widths.

    Parameters
    ----------
    n_positions, n_dims : int
        Context length n and width d.
    base : float
        Ratio of the lowest to the highest frequency, roughly.
    frequencies : {"paper", "tensor2tensor"}
        omega_k = base^(-2k/d), or base^(-k/(d/2 - 1)) as in the tensor2tensor code.
    layout : {"interleaved", "halves"}
        Order of the columns: sine and cosine in turn, or all sines first. Distances do not depend on it.
    offset : int
        Added to every position.

    Returns
    -------
    Encoding

    Raises
    ------
    EncodingError
        When an option is out of range.
    """
    check_width(n_dims)
    check_base(base)
    check_offset(offset)
    if frequencies not in _FREQUENCIES:
        raise EncodingError(f"sinusoidal frequencies {frequencies!r}: expected one of {', '.join(_FREQUENCIES)}")
    if layout not in ("interleaved", "halves"):
        raise EncodingError(f"sinusoidal layout {layout!r}: expected interleaved or halves")
    omega = _FREQUENCIES[frequencies](n_dims, base)

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        angles = (positions[:, None] + offset) * omega
        sines, cosines = np.sin(angles), np.cos(angles)
        if layout == "halves":
            return np.concatenate([sines, cosines], axis=1)[:, :n_dims]
        return np.stack([sines, cosines], axis=2).reshape(positions.size, 2 * omega.size)[:, :n_dims]

    if n_dims % 2:
        return FunctionEncoding("sinusoidal", n_positions, n_dims, coordinates)

    def by_lag(lags: NDArray[np.int64]) -> NDArray[np.float64]:
        return rotation_lag_distances(lags, omega, np.ones(omega.size))

    return LagEncoding("sinusoidal", n_positions, n_dims, by_lag, coordinates)
