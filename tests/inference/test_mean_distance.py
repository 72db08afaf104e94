"""The mean squared distance and the share of noise, against loops and new corpora."""

import numpy as np
import pytest

from posgeom.estimation.build import geometry
from posgeom.inference.mean_distance import mean_squared_distance, noise_share
from posgeom.simulation.scenarios import expected_roots
from posgeom.simulation.synthetic import sample_counts
from tests.inference.helpers import N, corpus, drifting


def mean_of(squared: np.ndarray) -> float:
    return float(squared[np.triu_indices(len(squared), 1)].mean())


def test_the_mean_and_its_error() -> None:
    shape = corpus()
    products = shape.products
    assert products is not None
    found = mean_squared_distance(shape)
    assert found.value == pytest.approx(shape.distances.mean_squared)
    left_out = np.array([mean_of(products.squared([g for g in range(6) if g != f])) for f in range(6)])
    assert found.standard_error == pytest.approx(np.sqrt(5 / 6 * ((left_out - left_out.mean()) ** 2).sum()))
    assert found.degrees_of_freedom == 5
    assert mean_squared_distance(corpus(n_folds=3)).standard_error is None


@pytest.mark.slow
def test_it_covers_what_samples_of_the_depth_show() -> None:
    truth, held = drifting(by=0.2), 0
    roots = expected_roots(truth, 50)
    known = mean_of(((roots[:, None] - roots) ** 2).sum(axis=2))
    for seed in range(100):
        counts = sample_counts(truth, np.full(N, 400), n_folds=8, rng=np.random.default_rng(seed))
        interval = mean_squared_distance(geometry(counts, min_depth=1)).interval(0.95)
        assert interval is not None
        held += interval.low <= known <= interval.high
    assert held >= 90


@pytest.mark.parametrize("metric", ["hellinger", "hellinger-normalized"])
def test_the_share_of_noise_and_its_error(metric: str) -> None:
    counts = sample_counts(drifting(), np.full(N, 240), n_folds=6, rng=np.random.default_rng(1))
    shape = geometry(counts, metric=metric)
    found = noise_share(counts, shape)
    assert found is not None
    assert shape.crossval_full_depth is not None
    assert found.value == pytest.approx(1 - shape.crossval_full_depth.mean_squared / shape.plugin.mean_squared)
    dense = np.stack([matrix.toarray() for matrix in counts.fold_matrices]).astype(float)

    def share(without: int) -> float:
        def roots(folds: list[int]) -> np.ndarray:
            total = dense[folds].sum(axis=0)
            return np.asarray(np.sqrt(total / total.sum(axis=1, keepdims=True)))

        kept = [f for f in range(6) if f != without]
        plugin = roots(kept)
        means = []
        for split in shape.splits:
            a, b = (roots([f for f in half if f != without]) for half in (split.a, split.b))
            means.append(mean_of(np.einsum("ijv,ijv->ij", a[:, None] - a, b[:, None] - b)))
        return 1 - float(np.mean(means)) / mean_of(((plugin[:, None] - plugin) ** 2).sum(axis=2))

    left_out = np.array([share(f) for f in range(6)])
    assert found.standard_error == pytest.approx(np.sqrt(5 / 6 * ((left_out - left_out.mean()) ** 2).sum()))
    plain = noise_share(counts, shape, errors=False)
    assert plain is not None
    assert (plain.value, plain.standard_error) == (found.value, None)


def test_plug_in_distances_tell_no_share() -> None:
    counts = sample_counts(drifting(), np.full(N, 240), n_folds=6, rng=np.random.default_rng(1))
    plugin = geometry(counts, estimator="plugin")
    assert noise_share(counts, plugin) is None
    found = mean_squared_distance(plugin)
    assert (found.value, found.standard_error) == (plugin.plugin.mean_squared, None)
