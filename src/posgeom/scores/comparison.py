"""Scores side by side: is one encoding, run or corpus more faithful than another, and how sure is that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from posgeom.scores.interval import Interval, Leaving

_ROUND_OFF = 1e-12
BETTER = {"stress_raw": -1, "stress_scaled": -1, "scale": 0, "stress_1": -1, "pearson": 1, "spearman": 1}
"""Whether a more faithful encoding has a lower score or a higher one; the scale says nothing of that."""


@dataclass(frozen=True, eq=False)
class Scored:
    """One score of one encoding in one run.

    Attributes
    ----------
    run, encoding : str
    value : float or None
    leaving : Leaving or None
        Of this score alone; None where there are no standard errors.
    parts : bytes
        What tells whether two scores rest on the same parts of the same corpus, so that their noise is common.
    """

    run: str
    encoding: str
    value: float | None
    leaving: Leaving | None
    parts: bytes = b""


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
        Confidence that the first is the more faithful one (its stress is lower, or its correlation higher); None for
        the scale, which says nothing of that, and where there is no error.
    paired : bool
        Whether noise that both share cancels: they rest on the same parts of the same corpus.
    """

    first: str
    second: str
    score: str
    value: float | None
    interval: Interval | None
    confidence: float | None
    paired: bool


def difference(
    first: Scored, second: Scored, score: str, level: float, names: tuple[str, str] | None = None
) -> Difference:
    """Compare two scores.

    Scores of the same parts of the same corpus are paired: the difference is taken for each pair of parts. Others are
    taken as independent, which is too cautious where their corpora overlap.

    Parameters
    ----------
    first, second : Scored
    score : str
        Which score they are.
    level : float
        Of the interval.
    names : tuple of str, optional
        What to call them; the encodings by default.

    Returns
    -------
    Difference
    """
    labels = names or (first.encoding, second.encoding)
    paired = first.parts == second.parts and first.leaving is not None and second.leaving is not None
    value = None if first.value is None or second.value is None else first.value - second.value
    if value is None or first.leaving is None or second.leaving is None:
        return Difference(*labels, score, value, None, None, paired)
    if paired:
        leaving = first.leaving.minus(second.leaving)
        error, freedom = float(leaving.standard_errors()[0]), 2 * (leaving.n_blocks - 1)
    else:
        errors = [float(one.standard_errors()[0]) for one in (first.leaving, second.leaving)]
        error = float(np.sqrt(errors[0] ** 2 + errors[1] ** 2))
        freedom = 2 * (min(first.leaving.n_blocks, second.leaving.n_blocks) - 1)
    if error < _ROUND_OFF * max(abs(first.value or 0), abs(second.value or 0)):
        error = 0.0  # encodings that are proportional, say
    if not np.isfinite(error):
        return Difference(*labels, score, value, None, None, paired)
    reach = float(scipy.special.stdtrit(freedom, (1 + level) / 2)) * error
    interval = Interval(value - reach, value + reach, error)
    return Difference(*labels, score, value, interval, _confidence(value, error, freedom, score), paired)


def _confidence(value: float, error: float, freedom: int, score: str) -> float | None:
    """One minus the one-sided p-value of the second being as faithful as the first."""
    if not error or not BETTER[score]:
        return None
    return float(scipy.special.stdtr(freedom, BETTER[score] * value / error))


def rank_scores(scored: Sequence[Scored], score: str) -> list[Scored]:
    """The most faithful first, undefined ones last."""
    sign = -1 if BETTER[score] > 0 else 1
    return sorted(scored, key=lambda one: (one.value is None, sign * (one.value or 0)))


def column_of(leaving: Leaving, column: int) -> Leaving:
    """One of the functions of a `Leaving`."""
    terms = None if leaving.terms is None else leaving.terms[:, [column]]
    variance = None if leaving.variance is None else leaving.variance.column(column)
    return Leaving(leaving.full[[column]], leaving.one_out[:, [column]], terms, variance)
