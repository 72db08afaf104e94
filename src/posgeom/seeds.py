"""Random generators from the seeds that users give."""

import numpy as np

from posgeom.errors import PosgeomError


def make_rng(seed: int) -> np.random.Generator:
    """A generator for a seed, which must not be negative."""
    if seed < 0:
        raise PosgeomError(f"seed {seed}: expected 0 or more")
    return np.random.default_rng(seed)
