"""A corpus in the paper's convention and in the sound one, and what the items measure on either."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from posgeom.analysis import CONVENTIONS as POLICIES
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding
from posgeom.estimation.build import Geometry, geometry
from posgeom.estimation.distance_matrix import DistanceMatrix, upper_pairs
from posgeom.estimation.mds import classical_mds
from posgeom.inference.jackknife import Estimate as Known
from posgeom.inference.scoring import replicates_of, statistic_of
from posgeom.paper.result import Estimate, defined
from posgeom.policies import LEVEL
from posgeom.progress import ProgressHook, silent
from posgeom.scores.correlation import pearson
from posgeom.scores.stress import Stress, paired_distances, stress_of_pairs, stresses_by_rank

MDS = "MDS"
FIXED = {"sinusoidal": "sinusoidal", "RoPE": "rope", "ALiBi": "alibi", "random": "random"}
"""Specs of the encodings that know nothing of the corpus, by their names in the paper."""
SPECS = {MDS: "mds"} | FIXED
"""The paper's five encodings."""
ALIGNMENT, PEARSON = "alignment", "pearson"
Convention = Literal["paper", "sound"]
CONVENTIONS: tuple[Convention, ...] = ("paper", "sound")
"""The paper's has plug-in distances and empty positions uniform; the sound one cross-validated distances, and empty and
shallow positions masked."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A corpus under both conventions."""

    counts: PositionCounts
    seed: int
    progress: ProgressHook = silent

    @cached_property
    def paper(self) -> Geometry:
        """The geometry in the paper's convention."""
        return geometry(self.counts, seed=self.seed, progress=self.progress, **POLICIES["paper"])

    @cached_property
    def sound(self) -> Geometry:
        """The geometry in the sound convention."""
        return geometry(self.counts, seed=self.seed, progress=self.progress, **POLICIES["sound"])

    def under(self, convention: Convention) -> Geometry:
        """The geometry in a convention."""
        return self.paper if convention == "paper" else self.sound

    def build(self, spec: str, n_dims: int, convention: Convention = "paper", seed: int | None = None) -> Encoding:
        """The encoding of a spec over the positions of a geometry."""
        target, chosen = self.under(convention), self.seed if seed is None else seed
        return build_encoding(spec, n_positions=target.n_positions, n_dims=n_dims, geometry=target, seed=chosen)

    @cached_property
    def mds_stresses(self) -> list[Stress]:
        """Stress of classical MDS at rank 1, 2, ... up to all its axes, on plug-in distances, which it is fitted to."""
        distances = self.paper.distances
        return stresses_by_rank(classical_mds(distances).coordinates, distances.pairs)

    def stress(self, spec: str, n_dims: int, seed: int | None = None) -> Stress:
        """Stress of the encoding of a spec, on plug-in distances."""
        if spec == SPECS[MDS]:
            return self.mds_stresses[:n_dims][-1]
        distances, target = paired_distances(self.build(spec, n_dims, seed=seed), self.paper)
        return stress_of_pairs(upper_pairs(distances), target.pairs)

    def raw_stress(self, spec: str, n_dims: int, seed: int | None = None) -> float:
        """Raw stress of the encoding of a spec, on plug-in distances."""
        return defined(self.stress(spec, n_dims, seed).raw)

    def alignment(self, spec: str, n_dims: int, convention: Convention, seed: int | None = None) -> Estimate | None:
        """Alignment of the encoding of a spec; of one seed among several, without an interval."""
        encoding = self.build(spec, n_dims, convention, seed)
        return scores_of([encoding], self.under(convention), intervals=seed is None)[0]

    def pearson(
        self, encoding: Encoding, convention: Convention = "paper", *, intervals: bool = True
    ) -> Estimate | None:
        """Pearson correlation of an encoding's distances with the corpus's."""
        if convention == "sound":
            return scores_of([encoding], self.sound, PEARSON, intervals=intervals)[0]
        value = pearson(upper_pairs(encoding.distances(self.paper.positions)), self.paper.distances.pairs)
        return None if value is None else Estimate(value)


def scores_of(
    encodings: Sequence[Encoding], target: Geometry, score: str = ALIGNMENT, *, intervals: bool = True
) -> list[Estimate | None]:
    """A score of encodings against either geometry; None where it is undefined.

    Against a cross-validated geometry one that is fitted to the corpus is fitted on one half of it and scored on the
    other, and there are intervals; against a plug-in one it is scored on what it is fitted to.
    """
    return [_shown(one[score].estimate) for one in replicates_of(encodings, target, errors=intervals)]


def sound_statistic(statistic: Callable[[DistanceMatrix], float | None], target: Geometry) -> Estimate | None:
    """A number of distances, with its interval where these are cross-validated; None where it is undefined."""
    return _shown(statistic_of(statistic, target))


def _shown(known: Known) -> Estimate | None:
    if known.value is None:
        return None
    interval = known.interval(LEVEL)
    if interval is None:
        return Estimate(known.value)
    return Estimate(known.value, interval.low, interval.high, "jackknife")
