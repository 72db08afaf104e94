"""Calibration: are the estimates unbiased, and do the intervals cover, on corpora whose truth is known.

Each scenario is drawn many times, and every estimate is set against the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.mds import mds
from posgeom.encodings.random import random
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import PosgeomError
from posgeom.geometry.build import Geometry, geometry
from posgeom.geometry.depth_curve import DepthCurve, depth_curve
from posgeom.geometry.distance_matrix import DistanceMatrix, upper_pairs
from posgeom.geometry.mds import double_centre
from posgeom.geometry.significance import DEFAULT_ALPHA, significance
from posgeom.progress import ProgressHook, silent
from posgeom.scores.correlation import pearson_against
from posgeom.scores.interval import Interval, mean_interval, noise_share, noise_share_interval
from posgeom.scores.monotonicity import monotonicity
from posgeom.scores.scorecard import Method, scorecard
from posgeom.scores.stress import paired_distances, stress_against
from posgeom.seeds import make_rng
from posgeom.studies.paper.sound import sound_statistic
from posgeom.studies.scenarios import N_POSITIONS, SCENARIOS, Scenario, scenarios

LEVEL = 0.95
SCORED = ("stress_scaled", "pearson", "stress_raw", "scale", "stress_1", "spearman")


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How an estimate does in one scenario.

    Attributes
    ----------
    scenario, estimate : str
    truth : float
        What it estimates.
    is_own_mean : bool
        Whether the truth is the mean of the estimate itself: what half of a corpus tells about the other half has no
        other, and neither has a correlation of ranks that noise lowers.
    mean, spread : float
        Of the estimate, over the replications in which it is defined.
    coverage : float or None
        Share of the intervals that there are which hold the truth; None where there are none.
    n_intervals, n_replications : int
    plugin_mean : float or None
        Mean of the plug-in estimate of the same.
    """

    scenario: str
    estimate: str
    truth: float
    is_own_mean: bool
    mean: float
    spread: float
    coverage: float | None
    n_intervals: int
    n_replications: int
    plugin_mean: float | None

    @property
    def bias_in_spreads(self) -> float | None:
        """Bias over the standard deviation of the estimate; None where that is 0, or the truth its own mean."""
        return (self.mean - self.truth) / self.spread if self.spread and not self.is_own_mean else None


@dataclass(frozen=True, slots=True)
class _Draw:
    """Value, lower and upper bound of one estimate in one replication, and the plug-in value."""

    value: float
    low: float
    high: float
    plugin: float


def calibrate(
    n_replications: int = 200,
    *,
    which: Sequence[str] | None = None,
    method: str = "jackknife",
    seed: int = 0,
    progress: ProgressHook = silent,
) -> list[Calibrated]:
    """Draw every scenario many times and set all estimates against the truth.

    Parameters
    ----------
    n_replications : int
        At least 2.
    which : sequence of str, optional
        Scenarios; all by default.
    method : {"jackknife", "bootstrap"}
        Of the intervals of scores.
    seed : int
    progress : callable
        Called as ``progress("calibrating", done, total)``.

    Returns
    -------
    list of Calibrated

    Raises
    ------
    PosgeomError
        When there are too few replications, or a scenario is unknown.
    """
    names = list(SCENARIOS if which is None else which)
    if n_replications < 2:
        raise PosgeomError(f"{n_replications} replications: expected at least 2")
    for name in names:
        if name not in SCENARIOS:
            raise PosgeomError(f"no scenario {name!r}: expected one of {', '.join(SCENARIOS)}")
    known = dict(zip(SCENARIOS, scenarios(), strict=True))
    out = []
    total = n_replications * len(names)
    for number, name in enumerate(names):
        rng = make_rng(1000 * seed + SCENARIOS.index(name))
        draws: dict[str, list[_Draw]] = {}
        truths: dict[str, float | None] = {}
        for replication in range(n_replications):
            progress("calibrating", number * n_replications + replication, total)
            for estimate, truth, draw in _replicate(known[name], rng, method):
                draws.setdefault(estimate, []).append(draw)
                truths[estimate] = truth
        out += [_summary(name, estimate, truths[estimate], draws[estimate]) for estimate in draws]
    progress("calibrating", total, total)
    return out


def _summary(scenario: str, estimate: str, known: float | None, draws: Sequence[_Draw]) -> Calibrated:
    values = np.array([draw.value for draw in draws])
    values = values[np.isfinite(values)]
    mean = float(values.mean()) if values.size else float("nan")
    truth = mean if known is None else known
    inside = [draw.low <= truth <= draw.high for draw in draws if np.isfinite([draw.low, draw.high]).all()]
    plugin = np.array([draw.plugin for draw in draws])
    return Calibrated(
        scenario,
        estimate,
        truth,
        known is None,
        mean,
        float(values.std(ddof=1)) if values.size > 1 else float("nan"),
        float(np.mean(inside)) if inside else None,
        len(inside),
        len(draws),
        None if np.isnan(plugin).all() else float(plugin.mean()),
    )


_ENCODINGS: tuple[Callable[[], Encoding], ...] = (
    lambda: sinusoidal(N_POSITIONS, 64),
    lambda: alibi(N_POSITIONS),
    lambda: random(N_POSITIONS, 64),
)
_N_EIGENVALUES = 2
_STEPS = ("quarter of the depth", "half of the depth", "the depth", "folds in pairs", "halves of folds")
"""Points of the depth curve, see `depth_curve`."""
_RANK = 3
"""Of the mds that is truncated: the axes that are real in most scenarios, and one of noise."""


_Found = tuple[str, float | None, _Draw]
"""An estimate, the truth (None for its own mean), and what was found."""


def _replicate(scenario: Scenario, rng: np.random.Generator, method: str) -> list[_Found]:
    """Every estimate from one corpus."""
    counts = scenario.draw(rng)
    shape = geometry(counts, min_depth=1)
    upper = np.triu_indices(N_POSITIONS, 1)
    nan = float("nan")
    found: list[_Found] = []
    at_depth = scenario.true_squared(shape.depth)
    interval = mean_interval(shape, LEVEL)
    if interval is not None:
        draw = _Draw(shape.distances.mean_squared, interval.low, interval.high, shape.plugin.mean_squared)
        found.append(("mean d^2", float(at_depth[upper].mean()), draw))
    curve = depth_curve(counts, shape)
    if curve is not None:
        found += _along_depth(scenario, curve, shape)
    share = noise_share(shape)
    if share is not None:
        found.append(("noise share", None, _draw(share, noise_share_interval(shape, curve, LEVEL), nan)))
    if scenario.has_structure:
        true_matrix = DistanceMatrix.from_squared(at_depth, shape.positions, "hellinger", "given")
        found += _scores(shape, true_matrix, method)
        found.append(("violations", None, _violations(shape)))
    tested = significance(counts, shape)
    if tested is not None:
        p_value = tested.axes[0].p_value
        found.append(("rejected", nan, _Draw(float(p_value <= DEFAULT_ALPHA), nan, nan, nan)))
        found.append(("significant rank", nan, _Draw(float(tested.rank), nan, nan, nan)))
        true_values = np.linalg.eigvalsh(double_centre(at_depth))[::-1]
        for k, axis in enumerate(tested.axes[:_N_EIGENVALUES] if scenario.has_structure else ()):
            low, high = axis.interval(LEVEL) or (nan, nan)
            value = nan if axis.corrected is None else axis.corrected
            plugin = float(shape.plugin_spectrum.eigenvalues[k])
            found.append((f"eigenvalue {k + 1}", float(true_values[k]), _Draw(value, low, high, plugin)))
    return found


def _along_depth(scenario: Scenario, curve: DepthCurve, shape: Geometry) -> list[_Found]:
    """Points of the depth curve but that of the geometry itself, and the bracket for unlimited text."""
    upper = np.triu_indices(N_POSITIONS, 1)
    found: list[_Found] = []
    for k, point in enumerate(curve.points):
        interval = curve.interval(k, LEVEL)
        if interval is not None and point.depth != shape.depth:
            truth = float(scenario.true_squared(point.depth)[upper].mean())
            found.append((f"d^2, {_STEPS[k]}", truth, _Draw(point.mean_squared, *interval, float("nan"))))
    limit = curve.limit(LEVEL)
    if limit is not None:
        truth = float(scenario.true_squared(None)[upper].mean())
        found.append(("limit of d^2", truth, _Draw(*limit, shape.plugin.mean_squared)))
    return found


def _scores(shape: Geometry, true_matrix: DistanceMatrix, method: str) -> list[_Found]:
    """Every score of encodings that are fixed and that are fitted, of the noise ceiling, and two differences."""
    fixed = [make() for make in _ENCODINGS]
    fitted = [mds(shape), mds(shape, rank=_RANK)]
    fitted[1].name = f"mds rank {_RANK}"
    how: Method = "bootstrap" if method == "bootstrap" else "jackknife"
    card = scorecard([*fixed, *fitted], shape, level=LEVEL, method=how)
    truths, plain = _score_exactly(fixed, true_matrix), _score_exactly(fixed, shape.plugin)
    nan = float("nan")
    found: list[_Found] = []
    for k, row in enumerate(card):
        for score in SCORED:
            truth = truths[k][score] if k < len(fixed) and score in truths[k] else None
            plugin = nan if truth is None else plain[k][score]
            found.append((f"{score} {row.name}", truth, _draw(getattr(row, score), row.intervals.get(score), plugin)))
    for score in SCORED:
        drawn = _draw(card.ceiling[score], card.ceiling_intervals.get(score), nan)
        found.append((f"noise ceiling, {score}", None, drawn))
    score, names = SCORED[0], [row.name for row in card]
    for a, b in ((0, 1), (len(fixed), 0)):
        gap = card.difference(names[a], names[b], score)
        both = max(a, b) < len(fixed)
        truth = truths[a][score] - truths[b][score] if both else None
        plugin = plain[a][score] - plain[b][score] if both else nan
        found.append((f"{score} {names[a]} - {names[b]}", truth, _draw(gap.value, gap.interval, plugin)))
    return found


def _violations(shape: Geometry) -> _Draw:
    """Violations of monotonicity in the corpus."""
    found = sound_statistic(lambda distances: monotonicity(distances.values, distances.positions).violation_rate, shape)
    nan = float("nan")
    if found is None:
        return _Draw(nan, nan, nan, nan)
    bounds = [nan if bound is None else bound for bound in (found.low, found.high)]
    return _Draw(nan if found.value is None else found.value, bounds[0], bounds[1], nan)


def _score_exactly(encodings: Sequence[Encoding], distances: DistanceMatrix) -> list[dict[str, float]]:
    """Scores that have a truth: all but Spearman's correlation."""
    out = []
    for encoding in encodings:
        matrix, target = paired_distances(encoding, distances)
        pairs = upper_pairs(matrix)
        stress, correlation = stress_against(pairs, target), pearson_against(pairs, target)
        values = (stress.scaled, correlation, stress.raw, stress.scale, stress.stress_1)
        out.append({score: value or 0.0 for score, value in zip(SCORED[:-1], values, strict=True)})
    return out


def _draw(value: float | None, interval: Interval | None, plugin: float) -> _Draw:
    nan = float("nan")
    low, high = (nan, nan) if interval is None else (interval.low, interval.high)
    return _Draw(nan if value is None else value, low, high, plugin)
