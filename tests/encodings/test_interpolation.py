import numpy as np
import pytest

from posgeom.encodings.interpolation import interpolate_rows, stretch_rows
from posgeom.errors import EncodingError

ROWS = np.random.default_rng(0).normal(size=(9, 3))


@pytest.mark.parametrize(("kind", "degree"), [("linear", 1), ("cubic", 3)])
def test_polynomials_of_its_degree_are_exact(kind: str, degree: int) -> None:
    known, wanted = np.array([0.0, 1, 3, 4, 8, 9]), np.linspace(0, 9, 31)
    got = interpolate_rows((known**degree)[:, None], known, wanted, kind)  # type: ignore[arg-type]
    np.testing.assert_allclose(got[:, 0], wanted**degree, atol=1e-10)


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_known_rows_come_back(kind: str) -> None:
    np.testing.assert_allclose(stretch_rows(ROWS, 9, kind), ROWS, atol=1e-14)  # type: ignore[arg-type]
    np.testing.assert_allclose(stretch_rows(ROWS, 9, kind, "centers"), ROWS, atol=1e-14)  # type: ignore[arg-type]
    np.testing.assert_allclose(stretch_rows(ROWS, 17, kind)[::2], ROWS, atol=1e-14)  # type: ignore[arg-type]


def test_ends() -> None:
    corners, centers = stretch_rows(ROWS, 18, "linear"), stretch_rows(ROWS, 18, "linear", "centers")
    for stretched in (corners, centers):
        np.testing.assert_array_equal(stretched[[0, -1]], ROWS[[0, -1]])
    np.testing.assert_allclose(centers[1], 0.75 * ROWS[0] + 0.25 * ROWS[1])
    np.testing.assert_array_equal(stretch_rows(ROWS[:1], 4, "linear"), np.tile(ROWS[:1], (4, 1)))


def test_cubic_is_smoother_than_linear_on_a_smooth_table() -> None:
    def table(places: np.ndarray) -> np.ndarray:
        return np.stack([np.sin(places / 5), np.cos(places / 9)], axis=1)

    exact = table(np.linspace(0, 30, 301))
    errors = [np.abs(stretch_rows(table(np.arange(31.0)), 301, k) - exact).max() for k in ("linear", "cubic")]
    assert errors[1] < errors[0] / 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ROWS, 5, "quintic"), "interpolation 'quintic': expected linear or cubic"),
        ((ROWS, 5, "linear", "left"), "align 'left'"),
        ((ROWS, 0, "linear"), "length 0: expected at least 1"),
        ((ROWS[:3], 5, "cubic"), "cubic interpolation needs at least 4 rows, got 3"),
    ],
)
def test_bad_options(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        stretch_rows(*arguments)  # type: ignore[arg-type]


def test_nothing_is_extrapolated() -> None:
    for wanted in (-0.5, 8.5):
        with pytest.raises(EncodingError, match=f"position {wanted:g} lies outside 0 to 8"):
            interpolate_rows(ROWS, np.arange(9.0), np.array([wanted]), "linear")
