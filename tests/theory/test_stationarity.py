"""Section 5.4: ratios against their definition, stationary corpora and ones that are not, families that grow."""

import json
from pathlib import Path

import numpy as np
import pytest

from posgeom.counts.counting import count
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.estimation.build import geometry
from posgeom.estimation.mds import double_centre
from posgeom.estimation.metrics import distribution_distances
from posgeom.policies import LEVEL
from posgeom.theory.stationarity import (
    RATIOS,
    fourier_basis,
    frequency_profile,
    ratios_of,
    sinusoidal_axes,
    stationarity,
)
from posgeom.theory.stationary_families import (
    FAMILIES,
    N_DIMS,
    lag_makes_rank_one,
    sinusoid_is_optimal,
    stationary_families,
)
from posgeom.theory.verdict import Verdict
from tests.theory.helpers import drifting, estimated, sampled, windows


def by_definition(squared: np.ndarray, positions: np.ndarray) -> dict[str, float]:
    """The ratios by loops over pairs, from the nearest matrices themselves."""
    m = len(positions)
    length = positions[-1] - positions[0] + 1

    def nearest(matrix: np.ndarray, around: bool) -> np.ndarray:
        groups: dict[int, list[float]] = {}
        lag = np.abs(positions[:, None] - positions)
        lag = np.minimum(lag, length - lag) if around else lag
        for i in range(m):
            for j in range(m):
                groups.setdefault(int(lag[i, j]), []).append(matrix[i, j])
        return np.array([[np.mean(groups[int(lag[i, j])]) for j in range(m)] for i in range(m)])

    upper = np.triu_indices(m, 1)
    d2, by_lag = squared[upper], nearest(squared, around=False)[upper]
    b = -0.5 * (np.eye(m) - 1 / m) @ squared @ (np.eye(m) - 1 / m)
    values = [((by_lag - d2.mean()) ** 2).sum() / ((d2 - d2.mean()) ** 2).sum()]
    for matrix in (b, -squared / 2):
        for around in (False, True):
            values.append(((matrix - nearest(matrix, around)) ** 2).sum() / (matrix**2).sum())
    return dict(zip(RATIOS, [*values, d2.var()], strict=True))


@pytest.mark.parametrize("positions", [np.arange(9), np.array([1, 2, 4, 5, 9, 10, 11, 20])])
def test_ratios_are_those_of_the_definition(positions: np.ndarray) -> None:
    points = np.random.default_rng(1).standard_normal((len(positions), 3)) + positions[:, None]
    squared = ((points[:, None] - points) ** 2).sum(axis=2)
    assert ratios_of(squared, positions) == pytest.approx(by_definition(squared, positions))


def test_a_stationary_corpus_is_stationary_and_a_drifting_one_is_not() -> None:
    result = stationarity(estimated(windows()), n_dims=16)
    interval = result.share.interval(LEVEL)
    assert result.verdict is Verdict.HOLDS
    assert interval is not None
    assert interval.low > 0.97
    assert result.sound[RATIOS[3]].value == pytest.approx(0, abs=0.01)
    other = stationarity(estimated(drifting()), n_dims=16)
    assert other.verdict is Verdict.FALSE
    json.dumps(other.to_dict(), allow_nan=False)


def test_ratios_are_free_of_noise_where_the_plug_in_is_not() -> None:
    """With few documents most of the plug-in distance is noise, which hardly varies with the pair."""
    rows = drifting()
    truth = ratios_of(distribution_distances(rows) ** 2, np.arange(len(rows)))
    results = [stationarity(estimated(rows, 300, seed=seed), n_dims=16) for seed in range(8)]
    for name in RATIOS:
        sound = np.array([one.sound[name].value for one in results])
        error = sound.std(ddof=1) / np.sqrt(len(sound))
        assert abs(sound.mean() - truth[name]) < 3 * error + 0.02
    name = RATIOS[3]
    plugin = np.mean([one.plugin[name].value for one in results])
    assert plugin < (truth[name] or 0) - 0.03


def test_without_structure_there_is_no_share() -> None:
    same = np.tile(np.random.default_rng(0).dirichlet(np.ones(20)), (12, 1))
    result = stationarity(estimated(same), n_dims=16)
    assert result.verdict is Verdict.NOT_TESTABLE
    plugin = stationarity(geometry(sampled(same), estimator="plugin"), n_dims=16)
    assert plugin.sound == {}
    assert plugin.verdict is Verdict.NOT_TESTABLE
    two = stationarity(estimated(drifting(2)), n_dims=16)
    assert two.verdict is Verdict.NOT_TESTABLE
    assert two.share.value is None


def test_a_ring_has_fouriers_axes_and_the_line_has_not() -> None:
    n = 24
    lags = np.abs(np.arange(n)[:, None] - np.arange(n))
    ring = double_centre(-2 * np.expm1(-np.minimum(lags, n - lags) / 3))
    axes = sinusoidal_axes(ring, np.arange(n))
    assert axes.overlap == pytest.approx(1)
    assert axes.largest_angle == pytest.approx(0, abs=1e-4)
    assert axes.fit == pytest.approx(np.ones(8))
    assert np.round(axes.frequencies) == pytest.approx(axes.frequencies, abs=1e-3)
    noise = np.random.default_rng(0).standard_normal((n, 40))
    assert sinusoidal_axes(double_centre(((noise[:, None] - noise) ** 2).sum(axis=2)), np.arange(n)).fit.min() < 0.6
    assert fourier_basis(7).T @ fourier_basis(7) == pytest.approx(np.eye(6))


def test_the_profile_of_one_frequency() -> None:
    n = 32
    angles = 2 * np.pi * 3 * np.arange(n) / n
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    profile = frequency_profile(points @ points.T)
    assert profile[2] == pytest.approx(1)
    assert profile.sum() == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [("sst2", 128), ("imdb", 256)])
def test_what_the_page_says_of_the_papers_corpora(name: str, n: int, data_dir: Path, bert: Path) -> None:
    result = stationarity(geometry(count(data_dir / f"{name}.parquet", bert, n_positions=n)))
    assert result.verdict is Verdict.FALSE
    page = (Path(__file__).parents[2] / "docs" / "theory.md").read_text()
    assert f"{result.share.value:.3f}".removeprefix("0") in page


def test_bounded_families_come_near_and_the_others_do_not() -> None:
    result = stationary_families((32, 64, 128))
    assert result.verdict is Verdict.CONVENTION
    assert result.rates["exponential"] < -0.9
    assert result.rates["Gaussian"] < -0.9
    assert result.rates["root"] == pytest.approx(0, abs=0.02)
    assert result.rates["linear"] == pytest.approx(0, abs=0.02)
    by_family = {row.family: row for row in result.largest()}
    assert by_family["root"].first_axis == pytest.approx(6 / np.pi**2, abs=1e-3)
    assert by_family["linear"].first_axis == pytest.approx(1)
    assert by_family["root"].circulant == pytest.approx(1 / 2, abs=1e-3)
    assert by_family["linear"].circulant == pytest.approx(4 / 5, abs=1e-3)
    assert lag_makes_rank_one(result)[0] is Verdict.FALSE
    assert sinusoid_is_optimal(result)[0] is Verdict.FALSE
    unbounded = stationary_families((32, 64), families={"linear": FAMILIES["linear"]})
    assert unbounded.verdict is Verdict.FALSE
    assert lag_makes_rank_one(unbounded)[0] is Verdict.HOLDS
    assert stationary_families((32, 64), families={"exponential": FAMILIES["exponential"]}).verdict is Verdict.HOLDS


def test_the_sinusoid_is_optimal_for_its_own_geometry() -> None:
    def own(lags: np.ndarray) -> np.ndarray:
        distances = sinusoidal(lags.shape[0], N_DIMS).lag_distances()
        assert distances is not None
        return np.asarray(distances[lags] ** 2)

    assert sinusoid_is_optimal(stationary_families((32, 64), families={"exponential": own}))[0] is Verdict.HOLDS
