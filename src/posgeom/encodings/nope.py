"""NoPE: no positional encoding at all (Haviv et al. 2022; Kazemnejad et al. 2023)."""

import numpy as np

from posgeom.encodings.base import Encoding, LagEncoding
from posgeom.encodings.checks import check_width
from posgeom.encodings.documentation import documented


@documented
def nope(n_positions: int, n_dims: int) -> Encoding:
    """The zero encoding: all distances are 0, so no rescaling, correlation or rank of it is defined."""
    check_width(n_dims)
    return LagEncoding(
        "nope", n_positions, n_dims, lambda lags: np.zeros(lags.size), lambda chosen: np.zeros((chosen.size, n_dims))
    )
