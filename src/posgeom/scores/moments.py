"""Stress and Pearson correlation from sums over pairs, for many encodings and estimates of a geometry at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

SCORES = ("raw", "scaled", "scale", "stress_1", "pearson")
_CONSTANT = 1e-12


@dataclass(frozen=True, eq=False)
class Moments:
    """Means over pairs of positions, e being distances of encodings and D those of a geometry.

    Attributes
    ----------
    e, e2 : ndarray of float, shape (n_encodings,)
        Means of e and of e^2.
    ed : ndarray of float, shape (n_encodings,)
        Means of e D.
    d, d2 : ndarray of float, shape (n_encodings,)
        Means of D and of D^2; the second may be negative when it is an estimate.
    """

    e: NDArray[np.float64]
    e2: NDArray[np.float64]
    ed: NDArray[np.float64]
    d: NDArray[np.float64]
    d2: NDArray[np.float64]

    @classmethod
    def of_pairs(
        cls, encodings: NDArray[np.float64], roots: NDArray[np.float64], squared: NDArray[np.float64]
    ) -> Moments:
        """Moments of encodings, shape (n_encodings, n_pairs), with distances and squared distances of the pairs."""
        return cls.of_encodings(encodings).against(encodings, roots, squared)

    @classmethod
    def of_encodings(cls, encodings: NDArray[np.float64]) -> Moments:
        """What does not depend on a geometry; the rest is 0."""
        mean, mean_squared = encodings.mean(axis=1), np.array([row @ row for row in encodings]) / encodings.shape[1]
        return cls(mean, mean_squared, *np.zeros((3, mean.size)))

    def against(
        self, encodings: NDArray[np.float64], roots: NDArray[np.float64], squared: NDArray[np.float64]
    ) -> Moments:
        """The same encodings with distances and squared distances of the pairs of a geometry."""
        # Row by row: in a product of matrices, the last digit of a score would depend on what else is scored.
        products = np.array([row @ roots for row in encodings]) / roots.size
        d, d2 = (np.full(self.e.shape, values.mean()) for values in (roots, squared))
        return replace(self, ed=products, d=d, d2=d2)

    @classmethod
    def pooled(cls, parts: Sequence[Moments]) -> Moments:
        """Moments over the pairs of several geometries together, equally many of each."""
        return cls(*(np.mean([getattr(part, f.name) for part in parts], axis=0) for f in fields(cls)))


def stress_of_moments(moments: Moments) -> dict[str, NDArray[np.float64]]:
    """Raw and scaled stress, scale and stress-1, each of shape (n_encodings,); NaN where undefined."""
    e2, ed, d2 = moments.e2, moments.ed, moments.d2
    residual = e2 - 2 * ed + d2
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = np.where(d2 > 0, residual / d2, np.nan)
        scale = np.where((ed > 0) & (d2 > 0), ed / e2, np.nan)
        # Without a positive product the best scale is 0, where the stress is 1.
        scaled = np.where((e2 > 0) & (d2 > 0), 1 - np.maximum(ed, 0) ** 2 / (e2 * d2), np.nan)
        stress_1 = np.where((e2 > 0) & (residual >= 0), np.sqrt(np.maximum(residual, 0) / e2), np.nan)
    return {"raw": raw, "scaled": scaled, "scale": scale, "stress_1": stress_1}


def pearson_of_moments(moments: Moments) -> NDArray[np.float64]:
    """Pearson correlation, shape (n_encodings,); NaN where it is undefined.

    Noise in D lowers a correlation of noisy distances; here it does not, since the moments are free of its bias. An
    estimate can therefore exceed 1 by chance.
    """
    spread_e = moments.e2 - moments.e**2
    spread_d = moments.d2 - moments.d**2
    covariance = moments.ed - moments.e * moments.d
    defined = (spread_e > _CONSTANT * moments.e2) & (spread_d > _CONSTANT * abs(moments.d2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, covariance / np.sqrt(np.where(defined, spread_e * spread_d, 1)), np.nan)


def scores_of_moments(moments: Moments) -> NDArray[np.float64]:
    """The scores `SCORES`, shape (n_scores, n_encodings); NaN where undefined."""
    stress = stress_of_moments(moments)
    return np.stack([*(stress[name] for name in SCORES[:4]), pearson_of_moments(moments)])


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of the scores `SCORES` by moments, each of shape (n_scores, n_encodings); NaN where undefined."""

    by_ed: NDArray[np.float64]
    by_d: NDArray[np.float64]
    by_d2: NDArray[np.float64]


def slopes_of_moments(moments: Moments) -> Slopes:
    """How the scores of `scores_of_moments` change with the moments of a geometry; NaN too where they have a kink."""
    e, e2, ed, d, d2 = moments.e, moments.e2, moments.ed, moments.d, moments.d2
    scores = dict(zip(SCORES, scores_of_moments(moments), strict=True))
    zero = np.where(np.isnan(scores["scale"]), np.nan, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        in_stress_1 = np.where(scores["stress_1"] > 0, 1 / (e2 * scores["stress_1"]), np.nan)
        in_pearson = 1 / np.sqrt((e2 - e**2) * (d2 - d**2))
        pearson_by_d2 = -scores["pearson"] / (2 * (d2 - d**2))
        rows = {
            "raw": (-2 / d2, zero, (2 * ed - e2) / d2**2),
            "scaled": (-2 * ed / (e2 * d2), zero, ed**2 / (e2 * d2**2)),
            "scale": (1 / e2, zero, zero),
            "stress_1": (-in_stress_1, zero, in_stress_1 / 2),
            "pearson": (in_pearson, -e * in_pearson - 2 * d * pearson_by_d2, pearson_by_d2),
        }
    by_ed, by_d, by_d2 = (
        np.stack([np.where(np.isnan(scores[name] + zero), np.nan, rows[name][k]) for name in SCORES]) for k in range(3)
    )
    return Slopes(by_ed, by_d, by_d2)
