"""The random encoding: a freshly initialised table."""

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, FunctionEncoding, check_width
from posgeom.errors import EncodingError
from posgeom.seeds import make_rng


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
        When `std` or the width is out of range.
    """
    check_width(n_dims)
    if not 1e-90 <= std <= 1e90:
        raise EncodingError(f"random std {std:g}: expected a positive number, from 1e-90 to 1e90")

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        # Rows are drawn in order, so the first ones are the same however many follow.
        n_rows = int(positions.max(initial=-1)) + 1
        return std * make_rng(seed).standard_normal((n_rows, n_dims))[positions]

    return FunctionEncoding("random", n_positions, n_dims, coordinates)
