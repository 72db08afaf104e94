"""From counts to a geometry: plug-in and cross-validated distances over the same positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import GeometryError, check_type
from posgeom.estimation.choices import Depth, check_choices, chosen_positions
from posgeom.estimation.crossval import Split, balanced_splits, crossval_gram, squared_distances
from posgeom.estimation.depth import Selection, looked_at
from posgeom.estimation.distance_matrix import DistanceMatrix, check_matrix_fits
from posgeom.estimation.distributions import position_distributions
from posgeom.estimation.fold_products import FoldProducts, fold_products
from posgeom.estimation.mds import MDS, Spectrum, classical_mds, spectrum_of
from posgeom.estimation.metrics import Metric, metric_named
from posgeom.options import EmptyPolicy, Estimator
from posgeom.policies import FULL_DEPTH_SPLITS
from posgeom.progress import ProgressHook, silent
from posgeom.seeds import make_rng
from posgeom.tables import Table

MAX_RANK_POSITIONS = 4096
"""Positions with data up to which the paper's rank, which takes in the masked ones too, is computed."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """The geometry of the positions of a corpus.

    Attributes
    ----------
    plugin : DistanceMatrix
        Distances between observed token frequencies at full depth; biased upwards by sampling noise.
    crossval : DistanceMatrix or None
        Cross-validated distances at `depth` from all pairs of `fold_groups`; None when the estimator is the plug-in
        one.
    crossval_full_depth : DistanceMatrix or None
        Cross-validated between halves of the corpus without rarefaction: it resolves most tokens and is comparable with
        the plug-in mean, but not between positions whose depths differ, and it is noisier.
    estimator : str
        Which of these `distances` is: ``"crossval"`` or ``"plugin"``.
    empty : str
        Policy for positions without data.
    metric : Metric
    selection : Selection
        Used and masked positions.
    depth : int or None
        Sequences per position in each group of folds that counts were rarefied to; None where they were not. The
        distances are then those that samples of so many documents show.
    rank : int or None
        Rank of B for the plug-in distances over every position with data and, where there are empty positions,
        the uniform distribution that stands for them (the paper's rank, whatever the policy here). None, for
        not computed, where more than `MAX_RANK_POSITIONS` positions have data.
    n_positions : int
        Context length n, masked positions included.
    position_depth : ndarray of int, shape (n_positions,)
        Sequences with a token at each position.
    self_affinity : float or None
        Mean inner product of a position's square-root frequencies in one half of the corpus with those in the
        other, at full depth: 1 when both halves see every token often. What is missing to 1 is not resolved, and
        differences that rest on it are not detected. None for the plug-in estimator.
    n_folds, n_folds_used, seed : int
        Folds of the counts, those of them that hold documents, and the seed of what is drawn.
    splits : tuple of Split
        Splits into halves that the distances at full depth are a mean over; empty for the plug-in estimator.
    fold_groups : tuple of tuple of int
        The folds, or unions of folds, whose pairs are multiplied; empty where there are none.
    products : FoldProducts or None
        Their products: the base of `crossval`, of its errors and of alignment. None for the plug-in estimator.
    """

    plugin: DistanceMatrix
    crossval: DistanceMatrix | None
    crossval_full_depth: DistanceMatrix | None
    estimator: Estimator
    empty: EmptyPolicy
    metric: Metric
    selection: Selection
    depth: int | None
    rank: int | None
    n_positions: int
    position_depth: NDArray[np.int64]
    self_affinity: float | None
    n_folds: int
    n_folds_used: int
    seed: int
    splits: tuple[Split, ...] = ()
    fold_groups: tuple[tuple[int, ...], ...] = ()
    products: FoldProducts | None = None

    def __repr__(self) -> str:
        return (
            f"<Geometry: {self.metric.name}, {self.estimator}, {self.positions.size:,} of {self.n_positions:,} "
            f"positions, mean d^2 {self.distances.mean_squared:.4g}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("metric, estimator", f"{self.metric.name}, {self.estimator}"),
            ("positions used", f"{self.positions.size:,} of {self.n_positions:,}"),
            ("mean squared distance", self.distances.mean_squared),
            ("mean squared distance, plug-in", self.plugin.mean_squared),
            ("sequences in each part, common depth", self.depth),
        ]
        return Table.of("Geometry of positions", ("quantity", "value"), rows).to_html()

    @property
    def distances(self) -> DistanceMatrix:
        """The distances that scores refer to."""
        return self.plugin if self.crossval is None else self.crossval

    @property
    def positions(self) -> NDArray[np.int64]:
        """Used positions, shape (m,)."""
        return self.selection.positions

    @cached_property
    def _mds(self) -> MDS:
        return classical_mds(self.distances)

    def mds(self, rank: int | None = None) -> MDS:
        """Classical MDS of `distances`; the decomposition is computed once.

        Parameters
        ----------
        rank : int, optional
            Leading axes to keep; all by default, and never more than there are.

        Returns
        -------
        MDS
            Its coordinates have one row a used position.
        """
        return self._mds if rank is None else self._mds.truncate(rank)

    def has_corpus_of(self, other: Geometry | DistanceMatrix) -> bool:
        """Whether another geometry, or distances, come from the corpus that this one comes from.

        Parameters
        ----------
        other : Geometry or DistanceMatrix

        Returns
        -------
        bool
            By depths and plug-in distances, which no two corpora share by chance; distances alone must be one of the
            matrices here.
        """
        if isinstance(other, DistanceMatrix):
            known = (self.plugin, self.crossval, self.crossval_full_depth)
            return any(one is not None and np.array_equal(one.squared, other.squared) for one in known)
        if self is other or not np.array_equal(self.position_depth, other.position_depth):
            return self is other
        if self.metric.name != other.metric.name:
            return True
        shared = np.intersect1d(self.positions, other.positions)
        ours, theirs = (
            shape.plugin.squared[np.ix_(rows, rows)]
            for shape, rows in ((g, np.searchsorted(g.positions, shared)) for g in (self, other))
        )
        return np.allclose(ours, theirs, rtol=1e-9, atol=1e-12)

    @property
    def spectrum(self) -> Spectrum:
        """Spectrum of B for `distances`."""
        return self._mds.spectrum

    @cached_property
    def plugin_spectrum(self) -> Spectrum:
        """Spectrum of B for the plug-in distances over the used positions."""
        return self.spectrum if self.crossval is None else spectrum_of(self.plugin.squared)


def geometry(
    counts: PositionCounts,
    *,
    metric: str = "hellinger",
    estimator: Estimator | None = None,
    empty: EmptyPolicy = "mask",
    min_depth: int | None = None,
    positions: tuple[int, int] | None = None,
    depth: Depth = "common",
    n_splits: int = FULL_DEPTH_SPLITS,
    seed: int = 0,
    progress: ProgressHook = silent,
) -> Geometry:
    """Estimate the geometry of the positions of a corpus.

    Parameters
    ----------
    counts : PositionCounts
    metric : str
        One of `posgeom.METRICS`.
    estimator : {"crossval", "plugin"}, optional
        ``"crossval"`` is unbiased around zero; ``"plugin"`` is the paper's. By default cross-validated where
        the metric has such an estimator.
    empty : {"mask", "uniform"}
        Positions without data: leave them out, or treat them as uniform over V, as the paper does.
    min_depth : int, optional
        Sequences that a position with data needs to take part. By default `choose_min_depth`.
    positions : tuple of int, optional
        First and last position to look at; by default all of them.
    depth : {"common", "full"}
        Whether cross-validated frequencies are rarefied to the depth of the shallowest used position, so that
        unequal depth is not mistaken for distance.
    n_splits : int
        Balanced splits into halves to average over, for the distances at full depth.
    seed : int
        Chooses these splits.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    Geometry

    Raises
    ------
    GeometryError
        When fewer than two positions can be used, the metric has no such estimator, or an argument is not one
        of the choices.
    """
    check_type(counts, PositionCounts, "PositionCounts; count documents with count or count_texts", GeometryError)
    chosen = metric_named(metric)
    estimator = check_choices(chosen, estimator, empty, depth, n_splits)
    make_rng(seed)  # a bad seed is an error even where nothing is drawn
    groups, group_depth, selection = chosen_positions(counts, estimator, empty, min_depth, positions)
    used = selection.positions
    check_matrix_fits(used.size)
    plugin, rank = _plugin(counts, chosen, selection)
    crossval = full_depth = products = None
    common_depth = self_affinity = None
    splits: list[Split] = []
    if group_depth is not None and chosen.crossval_scale is not None:
        scale, sizes = chosen.crossval_scale, counts.depth[used]
        occupied = sizes > 0
        splits = balanced_splits([fold for group in groups for fold in group], n_splits, seed)
        gram = crossval_gram(counts, used, splits, None, progress=progress)
        self_affinity = float(np.diagonal(gram)[occupied].mean())
        full_depth = DistanceMatrix.from_squared(squared_distances(gram) * scale, used, metric, "crossval", sizes)
        if depth == "common" and occupied.any():
            common_depth = int(group_depth[used[occupied]].min())
        progress("products of folds", 0, None)
        products = fold_products(counts, used, groups, common_depth, scale=scale)
        crossval = DistanceMatrix.from_squared(products.squared(), used, metric, "crossval", sizes)
    return Geometry(
        plugin=plugin,
        crossval=crossval,
        crossval_full_depth=full_depth,
        estimator=estimator,
        empty=empty,
        metric=chosen,
        selection=selection,
        depth=common_depth,
        rank=rank,
        n_positions=counts.n_positions,
        position_depth=counts.depth,
        self_affinity=self_affinity,
        n_folds=counts.n_folds,
        n_folds_used=int(counts.depth_by_fold.any(axis=1).sum()),
        seed=seed,
        splits=tuple(splits),
        fold_groups=groups,
        products=products,
    )


def _plugin(counts: PositionCounts, metric: Metric, selection: Selection) -> tuple[DistanceMatrix, int | None]:
    """Plug-in distances over the used positions, and the paper's rank over all positions."""
    used = selection.positions
    grid = counts.grid[looked_at(counts.n_positions, selection.within)[counts.grid]]
    everywhere = grid.size - selection.empty.size <= MAX_RANK_POSITIONS
    wanted = grid if everywhere else used
    distributions = position_distributions(counts, wanted)
    distinct = metric.distances(distributions.rows)
    rows = distributions.row_of_position[np.searchsorted(wanted, used)]
    plugin = DistanceMatrix(distinct[np.ix_(rows, rows)], used, metric.name, "plugin", counts.depth[used])
    # Copies of one point do not change the rank, so the empty positions count as the single one they are.
    return plugin, spectrum_of(distinct**2).rank if everywhere else None
