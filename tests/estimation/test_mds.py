import numpy as np
import pytest

from posgeom.errors import GeometryError
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.mds import classical_mds, double_centre, spectrum_of


def matrix(values: object) -> DistanceMatrix:
    array = np.asarray(values, float)
    return DistanceMatrix(array, np.arange(len(array)), "given", "given")


def test_recovers_points_up_to_rotation() -> None:
    points = np.random.default_rng(0).normal(size=(12, 3))
    solution = classical_mds(matrix(euclidean_distances(points)))
    assert solution.coordinates.shape == (12, 3)
    assert solution.spectrum.rank == 3
    assert solution.spectrum.negative_mass == 0
    np.testing.assert_allclose(euclidean_distances(solution.coordinates), euclidean_distances(points), rtol=1e-10)
    centred = points - points.mean(axis=0)
    np.testing.assert_allclose(solution.spectrum.eigenvalues[:3], np.linalg.svd(centred, compute_uv=False) ** 2)


def test_a_non_euclidean_metric_reports_its_negative_mass() -> None:
    star = matrix([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]])
    solution = classical_mds(star)
    np.testing.assert_allclose(solution.spectrum.eigenvalues, [2, 2, 0, -0.25], atol=1e-12)
    assert solution.spectrum.rank == 3
    assert solution.spectrum.negative_mass == pytest.approx(0.25 / 4.25)
    assert solution.coordinates.shape == (4, 2)
    assert np.isfinite(solution.coordinates).all()
    np.testing.assert_allclose(solution.spectrum.explained, [0.5, 0.5])


def test_leading_axes_are_the_largest_not_the_largest_in_magnitude() -> None:
    # D^2_ij = B_ii + B_jj - 2 B_ij for a centred B with known eigenvalues.
    basis = np.linalg.qr(np.column_stack([np.ones(6), np.random.default_rng(0).normal(size=(6, 5))]))[0][:, 1:]
    b = basis @ np.diag([3, 1, 0.5, 0, -5]) @ basis.T
    squared = np.diag(b)[:, None] + np.diag(b) - 2 * b
    solution = classical_mds(DistanceMatrix.from_squared(squared, np.arange(6), "given", "given"))
    np.testing.assert_allclose(solution.spectrum.eigenvalues, [3, 1, 0.5, 0, 0, -5], atol=1e-12)
    np.testing.assert_allclose((solution.coordinates**2).sum(axis=0), [3, 1, 0.5])


def test_equidistant_points() -> None:
    solution = classical_mds(matrix(1 - np.eye(5)))
    np.testing.assert_allclose(solution.spectrum.eigenvalues, [0.5] * 4 + [0], atol=1e-12)
    np.testing.assert_allclose(euclidean_distances(solution.coordinates), 1 - np.eye(5), atol=1e-12)


def test_signs_are_fixed_by_the_largest_entry() -> None:
    points = np.random.default_rng(5).normal(size=(9, 4))
    axes = classical_mds(matrix(euclidean_distances(points))).coordinates
    assert (axes[np.abs(axes).argmax(axis=0), np.arange(4)] > 0).all()


def test_copies_of_a_point_get_the_same_coordinates() -> None:
    points = np.random.default_rng(3).normal(size=(8, 5))[[0, 1, 2, 3, 4, 5, 6, 7, 2, 2, 7]]
    axes = classical_mds(matrix(euclidean_distances(points))).coordinates
    np.testing.assert_array_equal(axes[[8, 9, 10]], axes[[2, 2, 7]])


def test_all_points_equal() -> None:
    solution = classical_mds(matrix(np.zeros((3, 3))))
    assert solution.spectrum.rank == 0
    assert solution.spectrum.negative_mass == 0
    assert solution.coordinates.shape == (3, 0)
    np.testing.assert_array_equal(solution.embed(n_dims=2), np.zeros((3, 2)))


def test_embed_truncates_and_pads() -> None:
    solution = classical_mds(matrix(euclidean_distances(np.random.default_rng(0).normal(size=(6, 4)))))
    assert solution.embed(rank=2).shape == (6, 2)
    padded = solution.embed(rank=2, n_dims=7)
    np.testing.assert_array_equal(padded[:, :2], solution.coordinates[:, :2])
    np.testing.assert_array_equal(padded[:, 2:], 0)
    assert solution.embed(rank=99).shape == (6, 4)
    short = solution.truncate(3)
    np.testing.assert_array_equal(short.coordinates, solution.coordinates[:, :3])
    assert short.spectrum is solution.spectrum
    with pytest.raises(GeometryError, match="at least 1"):
        solution.embed(rank=0)
    with pytest.raises(GeometryError, match="do not fit in width"):
        solution.embed(n_dims=3)


def test_spectrum_alone_is_the_same() -> None:
    d = euclidean_distances(np.random.default_rng(0).normal(size=(7, 3)))
    np.testing.assert_allclose(spectrum_of(d**2).eigenvalues, classical_mds(matrix(d)).spectrum.eigenvalues, atol=1e-12)


def test_double_centring_by_the_matrix_formula() -> None:
    squared = np.random.default_rng(0).random((5, 5))
    squared += squared.T
    j = np.eye(5) - 1 / 5
    np.testing.assert_allclose(double_centre(squared), -0.5 * j @ squared @ j, atol=1e-14)


def test_positions_of_the_fit_are_placed_where_they_are() -> None:
    star = matrix([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]])  # with a negative eigenvalue
    cloud = matrix(euclidean_distances(np.random.default_rng(0).normal(size=(12, 3))))
    for distances in (star, cloud):
        solution = classical_mds(distances)
        np.testing.assert_allclose(solution.extend(distances.squared), solution.coordinates, atol=1e-13)
        short = solution.truncate(1)
        np.testing.assert_allclose(short.extend(distances.squared), short.coordinates, atol=1e-13)


def test_a_new_position_in_the_span_is_placed_exactly_and_another_projected() -> None:
    rng = np.random.default_rng(1)
    points, new = rng.normal(size=(15, 3)), rng.normal(size=(4, 3))
    solution = classical_mds(matrix(euclidean_distances(points)))
    for height in (0.0, 2.5):  # off the span
        squared = ((new[:, None] - points) ** 2).sum(axis=2) + height**2
        placed = solution.extend(squared)
        together = euclidean_distances(np.concatenate([solution.coordinates, placed]))
        np.testing.assert_allclose(together, euclidean_distances(np.concatenate([points, new])), atol=1e-12)


def test_squared_distances_that_do_not_fit() -> None:
    solution = classical_mds(matrix(euclidean_distances(np.arange(4.0)[:, None])))
    with pytest.raises(GeometryError, match=r"shape \(2, 3\): expected \(any, 4\)"):
        solution.extend(np.ones((2, 3)))
    with pytest.raises(GeometryError, match="must be finite"):
        solution.extend(np.full((2, 4), np.nan))
