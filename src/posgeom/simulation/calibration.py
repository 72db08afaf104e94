"""Whether estimates are unbiased and intervals cover, where the truth is known; nothing is chosen by what comes out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np
from threadpoolctl import threadpool_limits

from posgeom.encodings.alibi import alibi
from posgeom.encodings.mds import mds
from posgeom.encodings.random import random
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import PosgeomError
from posgeom.estimation.build import Geometry, geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.mds import double_centre
from posgeom.inference.depth_curve import depth_curve
from posgeom.inference.jackknife import Estimate, Interval
from posgeom.inference.mean_distance import mean_squared_distance, noise_share
from posgeom.inference.scorecard import scorecard
from posgeom.inference.scoring import corpus_scores
from posgeom.inference.significance import significance
from posgeom.policies import ALPHA, LEVEL
from posgeom.progress import ProgressHook, silent
from posgeom.simulation.scenarios import scenarios

SCORED = ("alignment", "stress_scaled", "stress_raw", "pearson", "spearman")
DIFFERENCES = (("sinusoidal", "alibi"), ("mds", "sinusoidal"))
_WIDTH, _RANK, _N_EIGENVALUES = 64, 3, 2


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How an estimate does in one scenario."""

    scenario: str
    estimate: str
    truth: float | None
    """Mean over the replications of what it estimates; None where it has no other truth than its mean."""
    mean: float | None
    """Of the estimate, over the replications in which it is defined."""
    bias: float | None
    """Mean of the estimate less the truth, in sampling deviations; None without a truth."""
    error_ratio: float | None
    """Median standard error over the sampling deviation: 1 where the jackknife is exact, above where it is
    cautious."""
    coverage: float | None
    """Share of the intervals that hold the truth; None where there are none."""
    n_intervals: int
    n_replications: int


@dataclass(frozen=True, slots=True)
class _Draw:
    """One estimate in one replication; its truth is what samples of the corpus's common depth show on average."""

    estimate: str
    value: float | None
    interval: Interval | None = None
    truth: float | None = None


def calibrate(
    n_replications: int = 100,
    *,
    which: Sequence[str] | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: ProgressHook = silent,
) -> list[Calibrated]:
    """Draw every scenario many times and set all estimates against the truth."""
    known = list(scenarios())
    names = known if which is None else list(which)
    if n_replications < 2:
        raise PosgeomError(f"{n_replications} replications: expected at least 2")
    for name in names:
        if name not in known:
            raise PosgeomError(f"no scenario {name!r}: expected one of {', '.join(known)}")
    n_workers = min(workers or os.cpu_count() or 1, n_replications)
    tasks = [(name, seed, replication) for name in names for replication in range(n_replications)]
    draws: dict[str, dict[str, list[_Draw]]] = {name: {} for name in names}
    with ExitStack() as stack:
        run: Callable[..., Iterator[list[_Draw]]] = map
        if n_workers > 1:  # a fresh interpreter each: one that has threads must not be forked
            pool = ProcessPoolExecutor(n_workers, get_context("spawn"), threadpool_limits, (1,))
            run = partial(stack.enter_context(pool).map, chunksize=4)
        for done, ((name, _, _), replication) in enumerate(zip(tasks, run(_replicate, tasks), strict=True), 1):
            progress("calibrating", done, len(tasks))
            for draw in replication:
                draws[name].setdefault(draw.estimate, []).append(draw)
    return [_summary(name, estimate, d, n_replications) for name in names for estimate, d in draws[name].items()]


def _summary(scenario: str, estimate: str, draws: Sequence[_Draw], n_replications: int) -> Calibrated:
    values, truths = (np.array([getattr(draw, name) for draw in draws], float) for name in ("value", "truth"))
    nowhere = Interval(np.nan, np.nan, np.nan)
    low, high, errors = np.array([astuple(draw.interval or nowhere) for draw in draws]).T
    defined = np.isfinite(values)
    mean = float(values[defined].mean()) if defined.any() else None
    is_own_mean = not np.isfinite(truths[defined]).any()
    if is_own_mean:
        truths = np.full(values.size, np.nan if mean is None else mean)
    with_interval = defined & np.isfinite(low)
    gaps = (values - truths)[defined]
    spread = float(gaps.std(ddof=1)) if gaps.size > 1 else 0.0
    n_intervals = int(with_interval.sum())
    return Calibrated(
        scenario,
        estimate,
        None if is_own_mean else float(truths[defined].mean()),
        mean,
        None if is_own_mean or not spread else float(gaps.mean()) / spread,
        float(np.median(errors[with_interval])) / spread if n_intervals and spread else None,
        float(((low <= truths) & (truths <= high))[with_interval].mean()) if n_intervals else None,
        n_intervals,
        n_replications,
    )


def _replicate(task: tuple[str, int, int]) -> list[_Draw]:
    """Every estimate from one corpus."""
    name, seed, replication = task
    scenario, number = scenarios()[name], list(scenarios()).index(name)
    counts = scenario.draw(np.random.default_rng([seed, number, replication]))
    shape = geometry(counts)
    used, depth = shape.positions, shape.depth or 1
    draws = [_of_estimate("mean d^2", mean_squared_distance(shape), scenario.true_mean_squared(depth, used))]
    share = noise_share(counts, shape)
    if share is not None:
        draws.append(_of_estimate("share of noise", share))
    curve = depth_curve(counts, shape)
    for point in () if curve is None else curve.points:
        if point.depth != depth:
            what = f"d^2, {'less' if point.depth < depth else 'more'} depth"
            draws.append(_of_estimate(what, point.mean_squared, scenario.true_mean_squared(point.depth, used)))
    tested = significance(shape)
    if tested is not None:
        is_clear = bool(tested.axes) and tested.axes[0].p_value <= ALPHA / 5
        draws.append(_Draw("rejected at 5 %", float(tested.rank > 0)))
        draws.append(_Draw("rejected at 1 %", float(is_clear)))
        draws.append(_Draw("significant rank", float(tested.rank)))
    if scenario.has_structure:
        squared = scenario.true_squared(depth)[np.ix_(used, used)]
        target = DistanceMatrix.from_squared(squared, used, "hellinger", "given")
        eigenvalues = np.linalg.eigvalsh(double_centre(target.squared))[::-1]
        for k, axis in enumerate(() if tested is None else tested.axes[:_N_EIGENVALUES]):
            draws.append(_of_estimate(f"eigenvalue {k + 1}", axis.corrected, float(eigenvalues[k])))
        draws += _scores(shape, target)
    return draws


def _of_estimate(name: str, estimate: Estimate, truth: float | None = None) -> _Draw:
    return _Draw(name, estimate.value, estimate.interval(LEVEL), truth)


def _scores(shape: Geometry, target: DistanceMatrix) -> Iterator[_Draw]:
    """Every score of encodings that know nothing of the corpus and one fitted to it, and differences of them."""
    n = shape.n_positions
    fixed = [sinusoidal(n, _WIDTH), alibi(n), random(n, _WIDTH)]
    card = scorecard([*fixed, mds(shape, rank=_RANK)], shape)
    truths = {encoding.name: corpus_scores(encoding, target) for encoding in fixed}
    for name in [row.name for row in card]:
        for score in SCORED:
            truth = None if score == "spearman" else truths.get(name, {}).get(score)
            yield _of_estimate(f"{score} {name}", card.scored(name, score).estimate, truth)
    for first, second in DIFFERENCES:
        gap = card.difference(first, second)
        known = [truths.get(name, {}).get("alignment") for name in (first, second)]
        truth = None if known[0] is None or known[1] is None else known[0] - known[1]
        yield _Draw(f"alignment {first} - {second}", gap.value, gap.interval, truth)
