"""Random generators from the seeds that users give."""

import numpy as np

from posgeom.errors import PosgeomError


def make_rng(seed: int) -> np.random.Generator:
    """A generator for a seed.

    Parameters
    ----------
    seed : int

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    PosgeomError
        When the seed is negative.
    """
    if seed < 0:
        raise PosgeomError(f"seed {seed}: expected 0 or more")
    return np.random.default_rng(seed)
