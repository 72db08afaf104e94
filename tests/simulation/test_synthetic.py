import numpy as np
import pytest

from posgeom.analysis import analyze
from posgeom.errors import CountsError
from posgeom.simulation.synthetic import sample_counts, synthetic


def test_comes_near_the_papers_figures() -> None:
    """Means over seeds; the paper: 2.248, 18.98, 79.9 %, 82.3 %, .047, .009, rank 31."""
    figures = []
    for seed in range(4):
        counts = synthetic(seed=seed).counts
        a = analyze(counts, n_dims=16, convention="paper", ranks=[3, 16])
        b = analyze(counts, n_dims=128, convention="paper", ranks=[3])
        assert a.geometry.rank == 31
        scores = [
            a.scorecard["sinusoidal"].stress_raw,
            b.scorecard["sinusoidal"].stress_raw,
            b.scorecard["mds:rank=3"].stress_raw,
            a.scorecard["mds:rank=16"].stress_raw,
            a.geometry.spectrum.explained[:3].sum(),
        ]
        figures.append(np.array(scores, float))
    narrow, wide, rank3, rank16, axes = np.mean(figures, axis=0)
    assert narrow == pytest.approx(1.58, abs=0.1)
    assert wide == pytest.approx(22.1, abs=1)
    assert axes == pytest.approx(0.806, abs=0.02)
    assert rank3 == pytest.approx(0.0525, abs=0.005)
    assert rank16 == pytest.approx(0.0044, abs=0.001)


def test_parameters_that_are_no_parameters() -> None:
    for name in ("concentration", "preference"):
        for value in (0.0, -1.0, float("nan"), float("inf")):
            with pytest.raises(CountsError, match="expected positive numbers"):
                synthetic(**{name: value})  # type: ignore[arg-type]


def test_regimes_and_truth() -> None:
    corpus = synthetic(seed=5)
    assert np.bincount(corpus.regimes).tolist() == [8, 16, 8]
    np.testing.assert_allclose(corpus.distributions.sum(axis=1), 1)
    third = np.arange(200) * 3 // 200
    for i, regime in enumerate(corpus.regimes):
        assert corpus.distributions[i, third == regime].sum() > 0.8
    assert corpus.counts.depth.tolist() == [5000] * 32


def test_the_seed_decides_everything() -> None:
    a, b, c = (synthetic(seed=s).counts for s in (1, 1, 2))
    np.testing.assert_array_equal(a.count, b.count)
    assert not np.array_equal(a.token, c.token)


def test_depth_is_spread_over_the_folds_and_adds_up() -> None:
    depth = np.array([10, 7, 0, 23])
    counts = sample_counts(np.full((4, 5), 0.2), depth, n_folds=3, rng=np.random.default_rng(0))
    assert counts.depth.tolist() == depth.tolist()
    assert (np.ptp(counts.depth_by_fold, axis=0) <= 1).all()


def test_frequencies_approach_the_truth() -> None:
    truth = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    counts = sample_counts(truth, np.array([100_000] * 2), n_folds=5, rng=np.random.default_rng(0))
    np.testing.assert_allclose(counts.matrix().toarray() / 100_000, truth, atol=0.01)


@pytest.mark.parametrize("sizes", [(3, 200, 5000), (32, 2, 5000), (32, 200, 5)])
def test_sizes_that_cannot_be(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(CountsError, match="expected n >= 4"):
        synthetic(*sizes)
