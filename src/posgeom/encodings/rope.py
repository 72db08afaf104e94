"""Rotary position embedding (Su et al. 2021), through a reference vector."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, LagEncoding, check_width
from posgeom.encodings.frequencies import (
    check_base,
    check_offset,
    inverse_frequencies,
    rotation_lag_distances,
)
from posgeom.errors import EncodingError
from posgeom.seeds import make_rng


def rope(
    n_positions: int,
    n_dims: int,
    *,
    base: float = 10000.0,
    reference: Literal["unit", "gaussian"] = "unit",
    offset: int = 0,
    seed: int = 0,
) -> Encoding:
    """The orbit of a reference vector x under the rotations of RoPE: p_i = R(i + offset) x.

    RoPE rotates queries and keys instead of adding a vector; rotating one fixed vector makes it comparable with
    absolute encodings. d^2(i, j) = sum_k |x_k|^2 4 sin^2(omega_k (i - j) / 2), x_k the k-th pair of channels.

    Parameters
    ----------
    n_positions, n_dims : int
        Context length n and even width d.
    base : float
        ``rope_theta``.
    reference : {"unit", "gaussian"}
        Every pair (1, 0), which has the distances of the sinusoidal encoding; or one Gaussian vector scaled to
        the same squared norm d/2.
    offset : int
        Added to every position; distances do not depend on it.
    seed : int
        Draws the Gaussian reference.

    Returns
    -------
    Encoding

    Raises
    ------
    EncodingError
        When the width is odd or an option is out of range.
    """
    check_width(n_dims)
    check_base(base)
    check_offset(offset)
    if n_dims % 2:
        raise EncodingError(f"rope needs an even width, got d = {n_dims}: use -d {n_dims - 1} or {n_dims + 1}")
    if reference not in ("unit", "gaussian"):
        raise EncodingError(f"rope reference {reference!r}: expected unit or gaussian")
    omega = inverse_frequencies(n_dims, base)
    vector = np.zeros((omega.size, 2))
    if reference == "unit":
        vector[:, 0] = 1
    else:
        vector = make_rng(seed).standard_normal(vector.shape)
        vector *= np.sqrt(omega.size / (vector**2).sum())

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        angles = (positions[:, None] + offset) * omega
        sines, cosines = np.sin(angles), np.cos(angles)
        x, y = vector[:, 0], vector[:, 1]
        return np.stack([x * cosines - y * sines, x * sines + y * cosines], axis=2).reshape(positions.size, n_dims)

    def by_lag(lags: NDArray[np.int64]) -> NDArray[np.float64]:
        return rotation_lag_distances(lags, omega, (vector**2).sum(axis=1))

    return LagEncoding("rope", n_positions, n_dims, by_lag, coordinates)
