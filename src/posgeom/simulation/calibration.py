"""Calibration: are the estimates unbiased, and do the intervals cover, on corpora whose truth is known.

Nothing in posgeom is chosen by what comes out here. The truth of a corpus is what samples of its common depth show on
average; of what half of a corpus tells about the other half, and of ranks, there is none but the mean.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from threadpoolctl import threadpool_limits

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.mds import mds
from posgeom.encodings.random import random
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import PosgeomError
from posgeom.estimation.build import Geometry, geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.mds import double_centre
from posgeom.inference.depth_curve import depth_curve
from posgeom.inference.jackknife import Estimate
from posgeom.inference.mean_distance import mean_squared_distance, noise_share
from posgeom.inference.scorecard import Scorecard, scorecard
from posgeom.inference.scoring import corpus_scores
from posgeom.inference.significance import significance
from posgeom.policies import ALPHA, LEVEL
from posgeom.progress import ProgressHook, silent
from posgeom.simulation.scenarios import Scenario, scenarios

SCORED = ("alignment", "stress_scaled", "stress_raw", "pearson", "spearman")
DIFFERENCES = (("sinusoidal", "alibi"), ("mds", "sinusoidal"))
_WIDTH, _RANK, _N_EIGENVALUES = 64, 3, 2
_NOWHERE = float("nan")


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
    """One estimate in one replication; NaN where it, its truth or its interval is not there."""

    estimate: str
    value: float
    truth: float
    low: float = _NOWHERE
    high: float = _NOWHERE
    error: float = _NOWHERE


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
    found: dict[str, list[list[_Draw]]] = {name: [] for name in names}
    if n_workers == 1:
        for done, task in enumerate(tasks):
            progress("calibrating", done, len(tasks))
            found[task[0]].append(_replicate(task))
    else:
        # A fresh interpreter each: one that has threads must not be forked.
        with ProcessPoolExecutor(n_workers, get_context("spawn"), threadpool_limits, (1,)) as pool:
            for done, (task, draws) in enumerate(zip(tasks, pool.map(_replicate, tasks, chunksize=4), strict=True)):
                progress("calibrating", done, len(tasks))
                found[task[0]].append(draws)
    progress("calibrating", len(tasks), len(tasks))
    return [row for name in names for row in _summaries(name, found[name])]


def _summaries(scenario: str, replications: Sequence[Sequence[_Draw]]) -> Iterator[Calibrated]:
    by_estimate: dict[str, list[_Draw]] = {}
    for draws in replications:
        for draw in draws:
            by_estimate.setdefault(draw.estimate, []).append(draw)
    for estimate, draws in by_estimate.items():
        values, truths, low, high, errors = (
            np.array([getattr(draw, name) for draw in draws]) for name in ("value", "truth", "low", "high", "error")
        )
        defined = np.isfinite(values)
        mean = float(values[defined].mean()) if defined.any() else None
        is_own_mean = not np.isfinite(truths[defined]).any()
        if is_own_mean:
            truths = np.full(values.size, _NOWHERE if mean is None else mean)
        with_interval = defined & np.isfinite(low) & np.isfinite(high)
        gaps = (values - truths)[defined]
        spread = float(gaps.std(ddof=1)) if gaps.size > 1 else 0.0
        inside = (low <= truths) & (truths <= high)
        n_intervals = int(with_interval.sum())
        yield Calibrated(
            scenario,
            estimate,
            None if is_own_mean else float(truths[defined].mean()),
            mean,
            None if is_own_mean or not spread else float(gaps.mean()) / spread,
            float(np.median(errors[with_interval])) / spread if n_intervals and spread else None,
            float(inside[with_interval].mean()) if n_intervals else None,
            n_intervals,
            len(replications),
        )


def _encodings(n_positions: int) -> list[Encoding]:
    """Encodings that know nothing of the corpus."""
    return [sinusoidal(n_positions, _WIDTH), alibi(n_positions), random(n_positions, _WIDTH)]


def _replicate(task: tuple[str, int, int]) -> list[_Draw]:
    """Every estimate from one corpus."""
    scenario_name, seed, replication = task
    scenario, number = scenarios()[scenario_name], list(scenarios()).index(scenario_name)
    counts = scenario.draw(np.random.default_rng([seed, number, replication]))
    shape = geometry(counts)
    used, depth = shape.positions, shape.depth or 1
    draws = [_of_estimate("mean d^2", mean_squared_distance(shape), scenario.true_mean_squared(depth, used))]
    share = noise_share(counts, shape)
    if share is not None:
        draws.append(_of_estimate("share of noise", share, _NOWHERE))
    curve = depth_curve(counts, shape)
    for point in () if curve is None else curve.points:
        if point.depth != depth:
            name = f"d^2, {'less' if point.depth < depth else 'more'} depth"
            draws.append(_of_estimate(name, point.mean_squared, scenario.true_mean_squared(point.depth, used)))
    tested = significance(shape)
    if tested is not None:
        draws.append(_Draw("rejected at 5 %", float(tested.rank > 0), _NOWHERE))
        draws.append(
            _Draw("rejected at 1 %", float(bool(tested.axes) and tested.axes[0].p_value <= ALPHA / 5), _NOWHERE)
        )
        draws.append(_Draw("significant rank", float(tested.rank), _NOWHERE))
    if scenario.has_structure:
        target = _truth(scenario, shape, depth)
        eigenvalues = np.linalg.eigvalsh(double_centre(target.squared))[::-1]
        for k, axis in enumerate(() if tested is None else tested.axes[:_N_EIGENVALUES]):
            draws.append(_of_estimate(f"eigenvalue {k + 1}", axis.corrected, float(eigenvalues[k])))
        draws += _scores(shape, target)
    return draws


def _truth(scenario: Scenario, shape: Geometry, depth: int) -> DistanceMatrix:
    """The distances that samples of one depth show on average, over the used positions."""
    used = shape.positions
    squared = scenario.true_squared(depth)[np.ix_(used, used)]
    return DistanceMatrix.from_squared(squared, used, "hellinger", "given")


def _scores(shape: Geometry, target: DistanceMatrix) -> Iterator[_Draw]:
    """Every score of encodings that are fixed and one that is fitted, and differences of them."""
    fixed = _encodings(shape.n_positions)
    card = scorecard([*fixed, mds(shape, rank=_RANK)], shape)
    truths = {encoding.name: corpus_scores(encoding, target) for encoding in fixed}
    for name in [row.name for row in card]:
        for score in SCORED:
            known = truths.get(name, {}).get(score)
            has_truth = known is not None and score != "spearman"
            draws_truth = float(known) if known is not None and has_truth else _NOWHERE
            yield _of_estimate(f"{score} {name}", card.scored(name, score).estimate, draws_truth)
    for first, second in DIFFERENCES:
        yield _difference(card, first, second, truths)


def _difference(card: Scorecard, first: str, second: str, truths: dict[str, dict[str, float | None]]) -> _Draw:
    gap, truth = card.difference(first, second), _NOWHERE
    known = [truths.get(name, {}).get("alignment") for name in (first, second)]
    if known[0] is not None and known[1] is not None:
        truth = known[0] - known[1]
    value = _NOWHERE if gap.value is None else gap.value
    name = f"alignment {first} - {second}"
    if gap.interval is None:
        return _Draw(name, value, truth)
    return _Draw(name, value, truth, gap.interval.low, gap.interval.high, gap.interval.standard_error)


def _of_estimate(name: str, estimate: Estimate, truth: float) -> _Draw:
    value = _NOWHERE if estimate.value is None else estimate.value
    interval = estimate.interval(LEVEL)
    if interval is None:
        return _Draw(name, value, truth)
    return _Draw(name, value, truth, interval.low, interval.high, interval.standard_error)
