"""Conjecture 5 of the paper: if distance grows with the lag in the corpus, it does so in the encoding.

Hypothesis and conclusion are measured apart: violations among the triples |i - j| < |i - k|, of the corpus's distances
and of an encoding's. A conclusion says nothing for the conjecture where the hypothesis fails.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from posgeom.encodings.base import Encoding
from posgeom.estimation.build import Geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.mds import classical_mds
from posgeom.inference.alignment import why_undefined
from posgeom.inference.jackknife import Estimate
from posgeom.inference.scoring import statistic_of
from posgeom.policies import LEVEL
from posgeom.scores.monotonicity import Monotonicity, monotonicity
from posgeom.theory.verdict import Cell, Check, Verdict

RANKS = (1, 2, 4, 8, None)


@dataclass(frozen=True, slots=True)
class Violations:
    """Shares of the triples that violate and that tie, of plug-in distances and of cross-validated ones.

    Noise pulls a share of violations towards a half, and its interval holds no correction of that.
    """

    name: str
    plugin: float | None
    plugin_ties: float | None
    sound: Estimate
    sound_ties: float | None


@dataclass(frozen=True, kw_only=True)
class MonotonicityCheck(Check):
    """Hypothesis and conclusion of Conjecture 5: the corpus, and MDS of several ranks and what was given."""

    headers: ClassVar[tuple[str, ...]] = ("geometry", "plug-in", "ties", "cross-validated", "ties, cross-validated")

    hypothesis: Violations
    conclusions: tuple[Violations, ...]
    plugin_triples: int
    triples: int

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """Shares of the triples, the hypothesis first."""
        return [(o.name, o.plugin, o.plugin_ties, o.sound, o.sound_ties) for o in (self.hypothesis, *self.conclusions)]


def monotonicity_check(
    geometry: Geometry, plugin: Geometry | None = None, encodings: Sequence[Encoding] = ()
) -> MonotonicityCheck:
    """Count violations of monotonicity of a corpus, and of encodings.

    Parameters
    ----------
    geometry : Geometry
    plugin : Geometry, optional
        Of the same corpus by another policy, for the plug-in numbers.
    encodings : sequence of Encoding
        Beside MDS of several ranks.

    Returns
    -------
    MonotonicityCheck
        Not testable on a corpus that is not monotone itself, as far as its interval tells; else decided by whole MDS.
    """
    raw = (plugin or geometry).plugin
    sound = geometry if geometry.products is not None else None
    hypothesis = _violations("corpus", raw, sound, lambda d: d)
    fitted = tuple(
        _violations("MDS" if rank is None else f"MDS of rank {rank}", raw, sound, _Mds(rank)) for rank in RANKS
    )
    given = tuple(_violations(one.name, raw, sound, _Given(one)) for one in encodings)
    undefined = why_undefined(geometry)
    verdict, because = _judge(hypothesis, fitted[-1])
    if undefined is not None:
        verdict, because = Verdict.NOT_TESTABLE, f"Nothing here is monotone or not: {undefined}."
    return MonotonicityCheck(
        hypothesis=hypothesis,
        conclusions=(*fitted, *given),
        plugin_triples=_of(raw).triples,
        triples=_of(geometry.distances).triples,
        verdict=verdict,
        because=because,
    )


@dataclass(frozen=True)
class _Mds:
    """Distances of MDS at a rank."""

    rank: int | None

    def __call__(self, distances: DistanceMatrix) -> DistanceMatrix:
        points = classical_mds(distances).coordinates[:, : self.rank]
        return DistanceMatrix(euclidean_distances(points), distances.positions, distances.metric, distances.estimator)


@dataclass(frozen=True)
class _Given:
    """Distances of an encoding, whatever the corpus's."""

    encoding: Encoding

    def __call__(self, distances: DistanceMatrix) -> DistanceMatrix:
        values = self.encoding.distances(distances.positions)
        return DistanceMatrix(values, distances.positions, distances.metric, "given")


def _of(distances: DistanceMatrix) -> Monotonicity:
    return monotonicity(distances.values, distances.positions)


def _violations(
    name: str, raw: DistanceMatrix, sound: Geometry | None, transform: Callable[[DistanceMatrix], DistanceMatrix]
) -> Violations:
    plugin = _of(transform(raw))
    if sound is None:
        return Violations(name, plugin.violation_rate, plugin.tie_rate, Estimate(None), None)
    rate = statistic_of(lambda distances: _of(transform(distances)).violation_rate, sound)
    ties = _of(transform(sound.distances)).tie_rate
    return Violations(name, plugin.violation_rate, plugin.tie_rate, rate, ties)


def _judge(hypothesis: Violations, conclusion: Violations) -> tuple[Verdict, str]:
    """The conjecture is decided by whole MDS, and where the corpus is monotone alone."""
    is_sound = hypothesis.sound.value is not None
    before, after = (one.sound.value if is_sound else one.plugin for one in (hypothesis, conclusion))
    if before is None or after is None:
        return Verdict.NOT_TESTABLE, "There are no triples of positions."
    interval = hypothesis.sound.interval(LEVEL)
    reach = "" if interval is None else f" ({100 * interval.low:.1f} to {100 * interval.high:.1f} %)"
    estimator = "cross-validated" if is_sound else "plug-in"
    told = f"Of the {estimator} distances {100 * before:.1f} %{reach} of the triples violate monotonicity"
    if (before if interval is None else interval.low) > 0:
        return Verdict.NOT_TESTABLE, (
            f"{told}, so the corpus does not meet the hypothesis, and the {100 * after:.1f} % of MDS say nothing for "
            "the conjecture."
        )
    of_mds = conclusion.sound.interval(LEVEL)
    lowest = after if of_mds is None else of_mds.low
    if lowest <= 0:
        return Verdict.HOLDS, f"{told}, and of MDS {100 * after:.1f} %."
    # More than of the corpus itself, beyond the errors of both.
    verdict = Verdict.FALSE if lowest > (before if interval is None else interval.high) else Verdict.NOT_TESTABLE
    return verdict, f"{told}, and of MDS {100 * after:.1f} %, of which at least {100 * lowest:.1f} % are no noise."
