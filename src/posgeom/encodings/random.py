"""The random encoding: a freshly initialised table."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, FunctionEncoding
from posgeom.encodings.checks import check_choice, check_positive, check_width
from posgeom.encodings.documentation import documented
from posgeom.seeds import make_rng


@documented
def random(
    n_positions: int,
    n_dims: int,
    *,
    std: float = 0.02,
    distribution: Literal["gaussian", "uniform"] = "gaussian",
    seed: int = 0,
) -> Encoding:
    """Independent entries: Gaussian, N(0, std^2), or uniform with the same deviation.

    Parameters
    ----------
    std : float
        Standard deviation; 0.02 is BERT's initialisation.
    distribution : {"gaussian", "uniform"}
        Uniform entries lie between -std sqrt(3) and std sqrt(3).
    seed : int
        Draws the entries.
    """
    check_width(n_dims)
    check_positive("random std", std)
    check_choice("random distribution", distribution, ("gaussian", "uniform"))

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        # Rows are drawn in order, so the first ones are the same however many follow.
        n_rows = int(positions.max(initial=-1)) + 1
        rng, size = make_rng(seed), (n_rows, n_dims)
        drawn = rng.standard_normal(size) if distribution == "gaussian" else rng.uniform(-np.sqrt(3), np.sqrt(3), size)
        return np.asarray(std * drawn[positions])

    return FunctionEncoding("random", n_positions, n_dims, coordinates)
