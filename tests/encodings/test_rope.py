from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from posgeom.encodings.rope import rope
from posgeom.encodings.rotary_scaling import Yarn
from posgeom.encodings.rotation import Rotation
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import EncodingError
from posgeom.estimation.euclidean import euclidean_distances

FORMS: tuple[Literal["orbit", "kernel", "mds"], ...] = ("orbit", "kernel", "mds")


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


def test_a_models_own_vectors(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=8)
    np.save(tmp_path / "q.npy", x)
    for reference in (x, tmp_path / "q.npy", x[None]):
        encoding = rope(9, 8, pairing="halves", reference=reference)
        points = encoding.coordinates()
        assert points is not None
        np.testing.assert_allclose(points[0], x)
        np.testing.assert_allclose(encoding.distances(), euclidean_distances(points), rtol=1e-12)
        rotated = encoding.points(np.arange(9))
        assert rotated is not None
        np.testing.assert_allclose(euclidean_distances(rotated), encoding.distances(), rtol=1e-12)
    other = rope(9, 8, pairing="interleaved", reference=x)
    assert not np.allclose(other.distances(), rope(9, 8, pairing="halves", reference=x).distances())
    with pytest.raises(EncodingError, match=r"rope reference, the given array, has shape \(3,\): expected \(8\)"):
        rope(9, 8, pairing="halves", reference=np.ones(3))
    with pytest.raises(EncodingError, match="not finite"):
        rope(9, 8, pairing="halves", reference=np.full(8, np.nan))


def test_the_kernel_of_one_vector_has_the_distances_of_its_orbit() -> None:
    for options in ({}, {"reference": "gaussian"}, {"pairing": "halves", "reference": np.arange(8.0)}):
        orbit, kernel, mds = (rope(12, 8, form=form, **options) for form in FORMS)
        np.testing.assert_allclose(kernel.distances(), orbit.distances(), rtol=1e-12)
        np.testing.assert_allclose(mds.distances(), orbit.distances(), atol=1e-7)
        assert mds.negative_mass == 0
        assert kernel.coordinates() is None


def test_the_kernel_of_a_query_and_a_key() -> None:
    rng = np.random.default_rng(1)
    q, k = rng.normal(size=(2, 8))
    encoding = rope(11, 8, pairing="halves", reference=q, key=k, form="mds")
    rotation, bias = encoding.rotation, encoding.bias
    assert rotation is not None
    assert bias is not None
    queries, keys = (rotation.rotate(x, np.arange(11)) for x in (q, k))
    np.testing.assert_allclose(bias.matrix(np.arange(11))[0], queries @ keys.T, atol=1e-12)
    assert not bias.even
    assert encoding.negative_mass is not None
    assert encoding.negative_mass > 0
    with pytest.raises(EncodingError, match="form=mds"):
        rope(11, 8, pairing="halves", reference=q, key=k, form="kernel").distances()
    aligned = rope(11, 8, pairing="halves", reference=q, key=2 * q, form="kernel")
    np.testing.assert_allclose(
        aligned.distances(), np.sqrt(2) * rope(11, 8, pairing="halves", reference=q).distances(), rtol=1e-12
    )
    with pytest.raises(EncodingError, match="an orbit has one reference vector"):
        rope(11, 8, pairing="halves", reference=q, key=k)


def test_the_attention_factor_scales_distances() -> None:
    plain, scaled = (rope(9, 16, scaling=Yarn(4, 64, attention_factor=f)) for f in (1.0, 1.5))
    np.testing.assert_allclose(scaled.distances(), 1.5 * plain.distances(), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairing": "thirds"}, "rope pairing 'thirds': expected interleaved or halves"),
        ({"form": "cubic"}, "rope form 'cubic'"),
        ({"partial": 0.0}, "rope partial 0"),
        ({"partial": 1.5}, "rope partial 1.5"),
        ({"partial": 0.1}, "rotates 0 channels"),
        ({"base": 0.0}, "base 0"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        rope(4, 8, **options)  # type: ignore[arg-type]


def test_rotary_scores_never_build_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred million positions of which ten are used, and no vector of any."""
    encoding = rope(100_000_000, 256)
    monkeypatch.setattr(Rotation, "rotate_pairs", lambda *_: pytest.fail("coordinates were built"))
    assert encoding.distances(np.arange(10)).shape == (10, 10)
