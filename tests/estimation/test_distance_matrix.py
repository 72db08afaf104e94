import numpy as np
import pytest

from posgeom.errors import GeometryError
from posgeom.estimation.distance_matrix import DistanceMatrix, check_matrix_fits, upper_pairs


def make(values: object, **changes: object) -> DistanceMatrix:
    array = np.asarray(values, float)
    settings: dict[str, object] = {
        "positions": np.arange(len(array)),
        "metric": "given",
        "estimator": "given",
    } | changes
    return DistanceMatrix(array, **settings)  # type: ignore[arg-type]


def test_symmetrises_round_off() -> None:
    values = make([[0, 2.2], [2.2000000001, 0]]).values
    assert values[0, 1] == values[1, 0] == pytest.approx(2.20000000005)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0, 2.2], [2.201, 0]], "not symmetric"),
        ([[0, 1], [0, 0]], "triangular"),
        ([[0, np.nan], [np.nan, 0]], "holds nan"),
        ([[0, np.inf], [np.inf, 0]], "holds inf"),
        ([[1, 2], [2, 0]], "diagonal"),
        ([[0, -2], [-2, 0]], "negative"),
        ([[0, 1, 2], [1, 0, 2]], "square"),
        ([[0]], "at least 2"),
    ],
)
def test_refuses_what_is_no_distance_matrix(values: list[list[float]], message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        make(values)


def test_refuses_text() -> None:
    with pytest.raises(GeometryError, match="got list for distance matrix: expected a matrix of numbers"):
        DistanceMatrix([["a"]], np.arange(1), "given", "given")  # type: ignore[arg-type]


@pytest.mark.parametrize("positions", [[0, 1, 2], [1, 0], [1, 1]])
def test_refuses_labels_that_do_not_fit(positions: list[int]) -> None:
    with pytest.raises(GeometryError, match="increasing"):
        make([[0, 1], [1, 0]], positions=np.array(positions))


def test_negative_estimates_stay_in_the_squares() -> None:
    matrix = DistanceMatrix.from_squared(
        np.array([[0, -0.5, 4], [-0.5, 0, 1], [4, 1, 0]]), np.array([3, 4, 7]), "hellinger", "crossval"
    )
    np.testing.assert_allclose(matrix.pairs, [0, 2, 1])
    assert matrix.mean_squared == pytest.approx(1.5)
    assert matrix.negative_share == pytest.approx(1 / 3)
    assert len(matrix) == 3


def test_is_frozen() -> None:
    matrix = make([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="read-only"):
        matrix.values[0, 1] = 5


def test_a_matrix_that_cannot_fit_is_refused_before_it_is_made() -> None:
    with pytest.raises(GeometryError, match=r"positions need .* GB for one distance matrix"):
        check_matrix_fits(10_000_000)
    check_matrix_fits(100)


def test_pairs_row_by_row() -> None:
    for m in (0, 1, 2, 7):
        values = np.random.default_rng(m).normal(size=(m, m))
        np.testing.assert_array_equal(upper_pairs(values), values[np.triu_indices(m, 1)])
