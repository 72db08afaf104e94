"""Monotonicity of a corpus's own distances: how much of their disorder is noise."""

from dataclasses import dataclass

from posgeom.estimation.build import Geometry
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.inference.significance import Significance
from posgeom.scores.monotonicity import monotonicity


@dataclass(frozen=True, slots=True)
class CorpusOrder:
    """Share of triples that violate monotonicity, for the corpus's own distances over the used positions.

    Attributes
    ----------
    plugin : float or None
        For observed frequencies.
    crossval : float or None
        Cross-validated; None for the plug-in estimator.
    significant : float or None
        For the significant axes alone; None where they are not known, or there are none.
    """

    plugin: float | None
    crossval: float | None
    significant: float | None


def corpus_order(geometry: Geometry, tested: Significance | None) -> CorpusOrder:
    """Violations of monotonicity before and after noise is taken out (Conjecture 5 and Figure 6 of the paper)."""
    positions = geometry.positions
    crossval = significant = None
    if geometry.crossval is not None:
        crossval = monotonicity(geometry.crossval.values, positions).violation_rate
        if tested is not None and tested.rank:
            points = geometry.mds(tested.rank).coordinates
            significant = monotonicity(euclidean_distances(points), positions).violation_rate
    return CorpusOrder(monotonicity(geometry.plugin.values, positions).violation_rate, crossval, significant)
