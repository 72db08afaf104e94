"""Terms of any function of squared distances: what changes as each pair of blocks moves their mean a little."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

_STEP = 0.6
"""Standard deviations of a mean by which each of its pairs of blocks moves it in turn: where there is little but noise,
functions are far from linear within less."""


def move_away(mean: NDArray[np.float64], term: NDArray[np.float64], n_terms: int) -> tuple[NDArray[np.float64], float]:
    """A mean over pairs of blocks in which one of them has less weight.

    Parameters
    ----------
    mean, term : ndarray of float, shape (n_pairs,)
        Squared distances from all of the pairs of blocks, and from this one.
    n_terms : int
        Pairs of blocks that the mean is over.

    Returns
    -------
    ndarray of float, shape (n_pairs,)
        The mean a step away.
    float
        By what the change of a function over that step is multiplied to be what this pair of blocks changes.
    """
    step = _STEP / sqrt(n_terms)
    return mean - step * (term - mean), 1 / (step * n_terms)
