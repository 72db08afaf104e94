import numpy as np
import pytest

from posgeom.encodings.rotation import Pairing, Rotation
from posgeom.errors import EncodingError

OMEGA = np.array([1.0, 0.3, 0.05])


@pytest.mark.parametrize("pairing", ["interleaved", "halves"])
def test_is_the_matrix_formula(pairing: Pairing) -> None:
    rotation = Rotation(OMEGA, 8, pairing, attention_factor=1.25, offset=2)
    x = np.random.default_rng(0).normal(size=8)
    got = rotation.rotate(x, np.array([0, 5]))
    for row, position in zip(got, (0, 5), strict=True):
        expected = x.copy()
        for k, omega in enumerate(OMEGA):
            channels = [2 * k, 2 * k + 1] if pairing == "interleaved" else [k, k + 3]
            angle = omega * (position + 2)
            matrix = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            expected[channels] = 1.25 * (np.array(matrix) @ x[channels])
        np.testing.assert_allclose(row, expected, rtol=1e-13)


@pytest.mark.parametrize("pairing", ["interleaved", "halves"])
def test_cosines_and_sines_by_channel(pairing: Pairing) -> None:
    rotation = Rotation(OMEGA, 8, pairing)
    cosines, sines = rotation.cos_sin(np.arange(4))
    assert cosines.shape == (4, 6)
    first, second = rotation.channels()
    np.testing.assert_array_equal(cosines[:, first], cosines[:, second])
    np.testing.assert_allclose(sines[:, first], np.sin(np.arange(4)[:, None] * OMEGA))
    order = [0, 0, 1, 1, 2, 2] if pairing == "interleaved" else [0, 1, 2, 0, 1, 2]
    np.testing.assert_allclose(cosines, np.cos(np.arange(4)[:, None] * OMEGA[order]))


def test_what_cannot_be_rotated() -> None:
    with pytest.raises(EncodingError, match=r"shape \(3,\): expected \(8,\)"):
        Rotation(OMEGA, 8, "halves").rotate([1, 2, 3], np.arange(2))
    with pytest.raises(EncodingError, match="say pairing"):
        Rotation(OMEGA, 8).rotate(np.ones(8), np.arange(2))
    assert repr(Rotation(OMEGA, 8)) == "<Rotation: 6 of 8 channels, pairing None>"


def test_no_decay_scales_by_one() -> None:
    np.testing.assert_array_equal(Rotation(OMEGA, 8, "halves").scales(np.arange(3)), np.ones((3, 6)))
