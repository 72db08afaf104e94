"""Alignment: the cosine between the geometry of an encoding and that of a corpus."""

import numpy as np
from numpy.typing import NDArray

from posgeom.estimation.mds import double_centre


def centred_gram(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """B_P = -1/2 J e^2 J, the centred Gram matrix of an encoding, from its distances e; shapes (m, m)."""
    return double_centre(distances**2)


def alignment_of(product: float, norm: float, other_norm: float) -> float | None:
    """A = <B_P, B> / (|B_P| |B|), linear centred kernel alignment; None where a norm is not positive or not known.

    Its square is the share of |B|^2 that the best scaling of the encoding's squared lengths, <B_P, B> / |B_P|^2,
    explains (Cortes et al. 2012, Kornblith et al. 2019); the normalised strain is 1 less that.
    """
    return product / (norm * other_norm) if norm > 0 and other_norm > 0 else None
