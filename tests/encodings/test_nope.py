import numpy as np

from posgeom.encodings.nope import nope
from posgeom.estimation.build import geometry
from posgeom.inference.scorecard import score
from posgeom.simulation.synthetic import synthetic


def test_all_distances_are_zero_and_what_they_leave_undefined_is_undefined() -> None:
    encoding = nope(32, 8)
    assert not encoding.distances().any()
    assert not encoding.coordinates().any()  # type: ignore[union-attr]
    scores = score(encoding, geometry(synthetic().counts))
    assert scores.stress_raw == 1
    assert (scores.stress_scaled, scores.scale, scores.stress_1, scores.pearson, scores.spearman) == (None,) * 5
    assert (scores.violation_rate, scores.tie_rate, scores.min_separation, scores.effective_rank) == (0, 1, 0, 0)
    np.testing.assert_array_equal(encoding.lag_distances(), np.zeros(32))
