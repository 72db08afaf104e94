"""The random encoding: a freshly initialised table."""

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, FunctionEncoding
from posgeom.encodings.frequencies import check_width
from posgeom.errors import EncodingError


def random(n_positions: int, n_dims: int, *, std: float = 0.02, seed: int = 0) -> Encoding:
    """Independent Gaussian entries, N(0, std^2).

    Parameters
    ----------
    n_positions, n_dims : int
        Context length n and width d.
    std : float
        Standard deviation; 0.02 is BERT's initialisation.
    seed : int

    Returns
    -------
    Encoding

    Raises
    ------
    EncodingError
        When `std` is not positive or the width is below 1.
    """
    check_width(n_dims)
    if not std > 0 or not np.isfinite(std):
        raise EncodingError(f"random std {std:g}: expected a positive number")

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        # Rows are drawn in order, so the first ones are the same however many follow.
        n_rows = int(positions.max(initial=-1)) + 1
        return std * np.random.default_rng(seed).standard_normal((n_rows, n_dims))[positions]

    return FunctionEncoding("random", n_positions, n_dims, coordinates)
