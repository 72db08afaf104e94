"""Geometries of bins of positions."""

from typing import Any

import numpy as np
import pytest

from posgeom.analysis import analyze
from posgeom.counts.bins import make_bins
from posgeom.counts.counting import count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.alibi import alibi
from posgeom.encodings.mds import mds
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import CountsError, GeometryError
from posgeom.estimation.build import geometry
from posgeom.estimation.depth import choose_min_depth, select_positions
from posgeom.inference.scorecard import score
from posgeom.simulation.synthetic import sample_counts
from tests.conftest import make_counts

N = 48


def drifting(step: int = 4, n: int = N, total: int = 1000) -> PositionCounts:
    """Every fold has 100 + step * i of one token at position i, and the rest of the total of another."""
    rising = 100 + step * np.arange(n)
    return make_counts(np.stack([np.stack([rising, total - rising], axis=1)] * 4))


@pytest.mark.parametrize("spec", ["uniform:16", "uniform:12", "uniform:3", "uniform:48"])
def test_a_linear_drift_keeps_its_distances_in_uniform_bins(spec: str) -> None:
    # Total variation between positions i and j is 0.004 |i - j|, and between bins the same of their centres.
    plain = geometry(drifting(), metric="total-variation")
    binned = geometry(drifting().binned(spec), metric="total-variation")
    lags = np.abs(binned.positions[:, None] - binned.positions)
    np.testing.assert_allclose(binned.distances.values, 0.004 * lags, atol=1e-14)
    for shape in (plain, binned):
        linear = score(alibi(N, form="linear"), shape)
        assert linear.stress_scaled == pytest.approx(0, abs=1e-12)
        assert linear.scale == pytest.approx(0.004 / alibi(N, form="linear").distances()[0, 1])
        assert linear.pearson == pytest.approx(1)
        assert shape.mds().spectrum.n_positive == 1


def test_geometric_bins_are_right_to_half_a_position() -> None:
    binned = geometry(drifting().binned("geometric:9"), metric="total-variation")
    lags = np.abs(binned.positions[:, None] - binned.positions)
    np.testing.assert_allclose(binned.distances.values, 0.004 * lags, atol=0.004 * 0.5 + 1e-14)


def test_cross_validated_hellinger_of_a_drift_changes_little_in_bins() -> None:
    plain, binned = (geometry(counts) for counts in (drifting(), drifting().binned("uniform:16")))
    at = np.searchsorted(plain.positions, binned.positions)
    ours = plain.distances.values[np.ix_(at, at)]
    np.testing.assert_allclose(binned.distances.values, ours, rtol=0.02, atol=2e-3)
    for encoding in (sinusoidal(N, 32), alibi(N)):
        a, b = score(encoding, plain), score(encoding, binned)
        assert a.stress_scaled == pytest.approx(b.stress_scaled, abs=0.05)


def test_an_encoding_is_scored_at_the_centres() -> None:
    binned = geometry(drifting().binned("geometric:6"))
    assert binned.selection.bins is not None
    np.testing.assert_array_equal(binned.positions, make_bins("geometric:6", N).centres)
    encoding = sinusoidal(N, 16)
    found = score(encoding, binned)
    e, d = (m[np.triu_indices(6, 1)] for m in (encoding.distances(binned.positions), binned.distances.values))
    assert found.stress_raw == pytest.approx(((e - d) ** 2).sum() / (d**2).sum())
    assert found.min_separation_pair[0] in binned.positions


def test_far_positions_gain_depth_and_equal_distributions_stay_at_zero() -> None:
    rng = np.random.default_rng(0)
    depths = np.maximum(20_000 // (1 + np.arange(64)) ** 2, 2)  # 20,000 at the first position, 4 at the last
    counts = sample_counts(np.full((64, 40), 1 / 40), depths, n_folds=6, rng=rng)
    with_positions, with_bins = geometry(counts, min_depth=100), geometry(counts.binned("geometric:8"), min_depth=100)
    assert with_bins.positions.max() > 2 * with_positions.positions.max()
    assert abs(with_bins.distances.mean_squared) < 0.05
    assert (
        with_bins.distances.mean_squared
        < geometry(counts.binned("geometric:8"), estimator="plugin").distances.mean_squared
    )


@pytest.mark.slow
def test_tokens_that_cluster_in_documents_are_no_distance_between_bins() -> None:
    # Every document has a topic of its own kind, so that its tokens in a bin depend on each other; positions mean
    # nothing. Bins of 1 to 15 positions lie at 0 of each other, once they are rarefied to one depth.
    plugin, crossval = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        topics = rng.dirichlet(np.full(80, 0.1), 25)
        texts = [" ".join(f"w{w}" for w in rng.choice(80, 32, p=topics[z])) for z in rng.integers(0, 25, 2000)]
        counts = count_texts(texts, n_positions=32, n_folds=10).binned("geometric:6")
        assert counts.bins is not None
        assert counts.bins.widths.max() >= 14 * counts.bins.widths.min()
        shape = geometry(counts)
        plugin.append(shape.plugin.mean_squared)
        crossval.append(shape.distances.mean_squared)
    assert abs(np.mean(crossval)) < 0.15 * np.mean(plugin)  # its standard error is a twentieth of the plug-in mean


def test_wide_bins_do_not_mask_narrow_ones() -> None:
    bins = make_bins([0, 1, 2, 60], 60)
    depth = np.zeros(60, int)
    depth[bins.centres] = [2000, 2000, 58 * 1500]
    assert choose_min_depth(depth, bins) == 100
    assert choose_min_depth(depth) == 58 * 1500 * 0.05
    chosen = select_positions(depth, min_depth=None, empty="mask", group_depth=None, bins=bins)
    assert chosen.positions.tolist() == bins.centres.tolist()


@pytest.mark.parametrize("empty", ["mask", "uniform"])
def test_empty_bins(empty: Any) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcd"), 5)) + f" {i % 9}" for i in range(400)]
    counts = count_texts(texts, n_positions=30, n_folds=4)
    shape = geometry(counts.binned("uniform:15"), empty=empty, min_depth=1)
    assert shape.selection.empty.tolist() == list(range(6, 30, 2))
    assert shape.positions.size == (15 if empty == "uniform" else 3)
    assert not shape.selection.shallow.size
    assert (
        geometry(counts.binned("uniform:15"), empty="mask", min_depth=1).rank
        == geometry(counts.binned("uniform:15"), empty="uniform", min_depth=1).rank
    )
    with pytest.raises(GeometryError, match=r"1 of 2 bins have .* tokens or more: a geometry needs 2"):
        geometry(counts.binned("uniform:2"))


def test_mds_of_bins_reaches_every_position() -> None:
    shape = geometry(drifting().binned("uniform:8"))
    encoding = mds(shape, 4, missing="linear")
    coordinates = encoding.coordinates()
    assert coordinates is not None
    assert coordinates.shape == (N, 4)
    at_centres = mds(shape, 4)
    np.testing.assert_allclose(coordinates[shape.positions], at_centres.coordinates(shape.positions))  # type: ignore[arg-type]
    line = coordinates[shape.positions[0] : shape.positions[-1] + 1, 0]
    assert (np.diff(line) > 0).all() or (np.diff(line) < 0).all()


def test_an_analysis_in_bins() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcd")[: 2 + i % 3], 16)) for i in range(500)]
    counts = count_texts(texts, n_positions=16, n_folds=4, null_replicates=1)
    found = analyze(counts, bins="uniform:8", n_dims=8)
    assert found.counts.bins == make_bins("uniform:8", 16)
    assert found.scorecard.rows == analyze(counts.binned("uniform:8"), n_dims=8).scorecard.rows
    assert found.geometry.positions.tolist() == list(range(0, 16, 2))
    assert analyze(counts, bins=[0, 4, 16], n_dims=8).geometry.positions.size == 2
    null = geometry(found.counts.null[0])
    assert null.positions.tolist() == found.geometry.positions.tolist()
    with pytest.raises(CountsError, match="already"):
        analyze(found.counts, bins="uniform:8")
    with pytest.raises(CountsError, match="17 bins of n = 16 positions"):
        analyze(counts, bins="uniform:17")
