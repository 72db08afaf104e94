"""The scores of encodings that rest on the corpus, all at once, against one estimate of its geometry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.estimation.crossval import squared_distances
from posgeom.estimation.distance_matrix import clipped_roots, upper_pairs
from posgeom.scores.alignment import alignment_of, centred_gram
from posgeom.scores.correlation import is_constant, pearson, tied_ranks
from posgeom.scores.stress import stress_of_pairs

FIELDS = (
    "alignment",
    "alignment_scale",
    "explained",
    "stress_raw",
    "stress_scaled",
    "scale",
    "stress_1",
    "pearson",
    "spearman",
)
"""Fields of `EncodingScores` that rest on the corpus."""


@dataclass(frozen=True, eq=False)
class Target:
    """One estimate of the geometry of a corpus, over its pairs of positions i < j.

    Attributes
    ----------
    products : ndarray of float, shape (n_pairs,)
        B_ij, the double-centred squared distances.
    norm : float
        |B|, free of noise; NaN where it is not known.
    distances, ranks : ndarray of float, shape (n_pairs,)
        Roots of the squared distances, 0 for those that are estimated to be negative, and their ranks.
    """

    products: NDArray[np.float64]
    norm: float
    distances: NDArray[np.float64]
    ranks: NDArray[np.float64]

    @classmethod
    def of(cls, centred: NDArray[np.float64], norm: float, distances: NDArray[np.float64] | None = None) -> Target:
        """From B, shape (m, m), its norm, and its distances where those are known more exactly than B tells them."""
        if distances is None:
            distances = clipped_roots(upper_pairs(squared_distances(centred)))
        return cls(upper_pairs(centred), norm, distances, tied_ranks(distances))


@dataclass(frozen=True, eq=False)
class EncodingPairs:
    """What scores need of an encoding.

    Attributes
    ----------
    distances : ndarray of float, shape (n_pairs,)
        Of the pairs of positions i < j.
    ranks : ndarray of float or None, shape (n_pairs,)
        None where all distances are equal.
    norm : float
        |B_P|.
    """

    distances: NDArray[np.float64]
    ranks: NDArray[np.float64] | None
    norm: float

    @classmethod
    def of(cls, distances: NDArray[np.float64]) -> EncodingPairs:
        """From distances, shape (m, m)."""
        # In units of the largest distance, so that fourth powers stay inside double precision.
        pairs, unit = upper_pairs(distances), float(distances.max(initial=0)) or 1.0
        norm = float(np.linalg.norm(centred_gram(distances / unit))) * unit**2
        return cls(pairs, None if is_constant(pairs) else tied_ranks(pairs), norm)

    def against(self, target: Target) -> NDArray[np.float64]:
        """The scores `FIELDS`, shape (n_fields,); NaN where undefined."""
        # B is centred, so that <B_P, B> = -1/2 <e^2, B>, without B_P itself.
        product = -float(self.distances**2 @ target.products)
        alignment = alignment_of(product, self.norm, target.norm)
        stress = stress_of_pairs(self.distances, target.distances)
        values = (
            alignment,
            None if alignment is None else product / self.norm / self.norm,
            None if alignment is None else alignment**2,
            stress.raw,
            stress.scaled,
            stress.scale,
            stress.stress_1,
            pearson(self.distances, target.distances),
            None if self.ranks is None else pearson(self.ranks, target.ranks),
        )
        return np.array([np.nan if value is None else value for value in values])
