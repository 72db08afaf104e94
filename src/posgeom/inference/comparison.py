"""Scores side by side: is one encoding, run or corpus more faithful than another, and how sure is that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import scipy

from posgeom.inference.jackknife import Estimate, Interval, Replicates

BETTER = {
    "alignment": 1,
    "explained": 1,
    "alignment_scale": 0,
    "stress_raw": -1,
    "stress_scaled": -1,
    "scale": 0,
    "stress_1": -1,
    "pearson": 1,
    "spearman": 1,
}
"""Whether a more faithful encoding has a lower score or a higher one; scales say nothing of that."""
DECIDES = "alignment"
"""The score that says which of two encodings is the more faithful: the others rest on roots of noisy numbers."""


@dataclass(frozen=True, eq=False)
class RunScore:
    """One score of one encoding in one run.

    Attributes
    ----------
    run, encoding : str
    value : float or None
    replicates : Replicates or None
        None where there are no standard errors.
    parts : bytes
        What tells whether two scores rest on the same folds of the same corpus, so that their noise is common.
    """

    run: str
    encoding: str
    value: float | None
    replicates: Replicates | None
    parts: bytes = b""

    @property
    def estimate(self) -> Estimate:
        """The score with its error."""
        return Estimate(self.value) if self.replicates is None else self.replicates.estimate


@dataclass(frozen=True, slots=True)
class Difference:
    """How much more faithful one encoding is than another, by one score.

    Attributes
    ----------
    first, second : str
        Encodings, or runs.
    score : str
        Field of `posgeom.EncodingScores`.
    value : float or None
        Score of the first minus that of the second.
    interval : Interval or None
    confidence : float or None
        Confidence that the first is the more faithful one; None for every score but alignment, and without an error.
    paired : bool
        Whether noise that both share cancels: they rest on the same folds of the same corpus.
    """

    first: str
    second: str
    score: str
    value: float | None
    interval: Interval | None
    confidence: float | None
    paired: bool


def difference(
    first: RunScore, second: RunScore, score: str, level: float, names: tuple[str, str] | None = None
) -> Difference:
    """Compare two scores, by default under the names of the encodings.

    Scores of the same folds of the same corpus are paired: the difference is taken without each fold. Others are taken
    as independent, which is too cautious where their corpora overlap.
    """
    paired = first.parts == second.parts and first.replicates is not None and second.replicates is not None
    if paired and first.replicates is not None and second.replicates is not None:
        gap = first.replicates.minus(second.replicates).estimate
    else:
        gap = first.estimate.minus(second.estimate)
    confidence = None
    if score == DECIDES and gap.value is not None and gap.standard_error:
        # One minus the one-sided p-value of the second being as faithful as the first.
        confidence = float(scipy.special.stdtr(gap.degrees_of_freedom, gap.value / gap.standard_error))
    return Difference(
        *(names or (first.encoding, second.encoding)), score, gap.value, gap.interval(level), confidence, paired
    )


def rank_scores(scored: Sequence[RunScore], score: str) -> list[RunScore]:
    """The most faithful first, undefined ones last."""
    sign = -1 if BETTER[score] > 0 else 1
    return sorted(scored, key=lambda one: (one.value is None, sign * (one.value or 0)))
