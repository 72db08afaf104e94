"""The scores of one encoding, and those that it has by itself."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.estimation.build import Geometry
from posgeom.inference.fields import FIELDS
from posgeom.inference.jackknife import Interval
from posgeom.policies import ENOUGH_FOLDS
from posgeom.scores.effective_rank import encoding_effective_rank
from posgeom.scores.monotonicity import monotonicity, monotonicity_by_lag
from posgeom.scores.separation import minimum_separation


@dataclass(frozen=True, slots=True)
class EncodingScores:
    """Scores of one encoding; None where a score is undefined.

    Attributes
    ----------
    name : str
    n_dims : int or None
        Width d, where the scheme has one.
    alignment : float or None
        Cosine between its centred Gram matrix B_P and the corpus's B, free of the bias of noise: 1 is the same geometry
        up to scale, rotation and translation, near 0 nothing shared. An estimate can exceed 1 by chance.
    alignment_scale, explained : float or None
        The factor on its squared lengths that attains it, and the share of |B|^2 that is explained then.
    stress_raw, stress_scaled, scale, stress_1 : float or None
        See `posgeom.scores.stress.Stress`.
    pearson, spearman : float or None
        Correlation of its distances with the corpus's over pairs of positions.
    violation_rate, tie_rate : float or None
        See `posgeom.scores.monotonicity.Monotonicity`; of the encoding's own distances.
    n_triples : int
    min_separation : float
    min_separation_pair : tuple of int
    effective_rank : float or None
    negative_mass : float or None
        Share of the spectrum of a bias that classical MDS had to leave out; None where that is not its form.
    sample : {"exact", "out", "in"}
        ``"exact"``: the encoding does not depend on the corpus. ``"out"``: it is fitted on one half of it, and its
        alignment, stress and correlation are those against the other half. ``"in"``: it is scored on what it is fitted
        to.
    intervals : dict of str to Interval
        By field, of the scores that rest on the corpus, where standard errors are to be had.
    """

    name: str
    n_dims: int | None
    alignment: float | None
    alignment_scale: float | None
    explained: float | None
    stress_raw: float | None
    stress_scaled: float | None
    scale: float | None
    stress_1: float | None
    pearson: float | None
    spearman: float | None
    violation_rate: float | None
    tie_rate: float | None
    n_triples: int
    min_separation: float
    min_separation_pair: tuple[int, int]
    effective_rank: float | None
    negative_mass: float | None
    sample: Literal["exact", "out", "in"] = "exact"
    intervals: dict[str, Interval] = field(default_factory=dict)


_UNDEFINED: dict[str, Any] = dict.fromkeys(FIELDS)


def scores_without_corpus(encoding: Encoding, geometry: Geometry, distances: NDArray[np.float64]) -> EncodingScores:
    """The scores that an encoding has by itself; those that rest on the corpus are undefined yet."""
    positions = geometry.positions
    by_lag = encoding.lag_distances()
    if by_lag is not None and (np.diff(positions) == 1).all():
        order = monotonicity_by_lag(by_lag, positions.size)
    else:
        order = monotonicity(distances, positions)
    closest = minimum_separation(distances, positions)
    sample: Literal["exact", "out", "in"] = "exact"
    if encoding.is_fitted_to(geometry):
        is_split = geometry.products is not None and geometry.products.n >= ENOUGH_FOLDS
        sample = "out" if is_split else "in"
    return EncodingScores(
        name=encoding.name,
        n_dims=encoding.n_dims,
        **_UNDEFINED,
        violation_rate=order.violation_rate,
        tie_rate=order.tie_rate,
        n_triples=order.triples,
        min_separation=closest.distance,
        min_separation_pair=closest.pair,
        effective_rank=encoding_effective_rank(encoding, distances, positions),
        negative_mass=encoding.negative_mass,
        sample=sample,
    )
