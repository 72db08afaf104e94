import numpy as np
import pytest

from posgeom.encodings.rope import rope
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import EncodingError
from posgeom.geometry.euclidean import euclidean_distances


def test_unit_pairs_have_the_distances_of_the_sinusoid() -> None:
    np.testing.assert_allclose(rope(30, 16).distances(), sinusoidal(30, 16).distances(), rtol=1e-12)


@pytest.mark.parametrize("reference", ["unit", "gaussian"])
def test_distances_by_lag_are_those_of_the_coordinates(reference: str) -> None:
    encoding = rope(25, 12, pairing="interleaved", reference=reference, offset=3, seed=4)  # type: ignore[arg-type]
    points = encoding.coordinates()
    assert points is not None
    np.testing.assert_allclose(encoding.distances(), euclidean_distances(points), rtol=1e-10)
    np.testing.assert_allclose((points**2).sum(axis=1), 6)  # |x|^2 = d / 2


def test_rotates_the_reference_by_the_matrix_formula() -> None:
    reference = rope(2, 6, pairing="interleaved", reference="gaussian", seed=1).coordinates()
    assert reference is not None
    omega = 10000.0 ** (-np.arange(0, 6, 2) / 6)
    for k, w in enumerate(omega):
        rotation = np.array([[np.cos(w), -np.sin(w)], [np.sin(w), np.cos(w)]])
        np.testing.assert_allclose(reference[1, 2 * k : 2 * k + 2], rotation @ reference[0, 2 * k : 2 * k + 2])


def test_the_seed_decides_the_reference() -> None:
    a, b, c = (rope(9, 8, reference="gaussian", seed=s).distances() for s in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.allclose(a, c)


def test_offset_leaves_distances_alone() -> None:
    np.testing.assert_array_equal(rope(9, 8).distances(), rope(9, 8, offset=100).distances())


def test_odd_width_is_an_error() -> None:
    with pytest.raises(EncodingError, match="even width, got d = 5"):
        rope(4, 5)


def test_unknown_reference() -> None:
    with pytest.raises(EncodingError, match="unit or gaussian"):
        rope(4, 4, reference="other")  # type: ignore[arg-type]
