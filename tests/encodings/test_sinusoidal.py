import numpy as np
import pytest

from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import EncodingError
from posgeom.estimation.euclidean import euclidean_distances


def coordinates(n: int, d: int, **options: object) -> np.ndarray:
    points = sinusoidal(n, d, **options).coordinates()  # type: ignore[arg-type]
    assert points is not None
    return points


def test_odd_width() -> None:
    encoding = sinusoidal(2, 5)
    points = encoding.coordinates()
    assert points is not None
    np.testing.assert_allclose(points[1], [0.841471, 0.540302, 0.025116, 0.999685, 0.000631], atol=5e-7)
    assert encoding.lag_distances() is None


@pytest.mark.parametrize(("frequencies", "second"), [("paper", 0.01), ("tensor2tensor", 0.0001)])
def test_two_formulas(frequencies: str, second: float) -> None:
    np.testing.assert_allclose(
        coordinates(2, 4, frequencies=frequencies)[1], [np.sin(1), np.cos(1), np.sin(second), np.cos(second)]
    )


def test_width_two_has_one_frequency_in_both() -> None:
    np.testing.assert_array_equal(coordinates(9, 2), coordinates(9, 2, frequencies="tensor2tensor"))


def test_layouts_hold_the_same_columns() -> None:
    interleaved, halves = coordinates(7, 6), coordinates(7, 6, layout="halves")
    np.testing.assert_array_equal(interleaved[:, [0, 2, 4, 1, 3, 5]], halves)
    np.testing.assert_array_equal(sinusoidal(7, 6).distances(), sinusoidal(7, 6, layout="halves").distances())


def test_offsets_give_different_tables_of_the_same_length() -> None:
    np.testing.assert_allclose(coordinates(4, 8, offset=5), coordinates(9, 8)[5:])
    assert not np.allclose(coordinates(4, 8, offset=5), coordinates(4, 8))


@pytest.mark.parametrize("d", [2, 16, 768])
def test_distances_by_lag_are_those_of_the_coordinates(d: int) -> None:
    encoding = sinusoidal(40, d)
    lags = encoding.lag_distances()
    assert lags is not None
    assert lags.shape == (40,)
    np.testing.assert_allclose(encoding.distances(), euclidean_distances(coordinates(40, d)), rtol=1e-9)


def test_large_positions_are_computed_in_double_precision() -> None:
    omega = 10000 ** (-2 / 32)
    assert coordinates(1858, 32)[1857, 3] == pytest.approx(np.cos(1857 * omega), abs=1e-12)
    assert 1857 * omega == pytest.approx(1044.2678, abs=1e-4)
    assert coordinates(1858, 32)[1857, 3] == pytest.approx(0.30669, abs=1e-5)


def test_some_positions_only() -> None:
    encoding = sinusoidal(20, 8)
    chosen = np.array([2, 3, 11])
    np.testing.assert_array_equal(encoding.distances(chosen), encoding.distances()[np.ix_(chosen, chosen)])
    with pytest.raises(EncodingError, match="positions 0 to 19, asked for 20"):
        encoding.distances(np.array([1, 20]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_dims": 0}, "d = 0"),
        ({"base": -1.0}, "base -1"),
        ({"base": float("inf")}, "base inf"),
        ({"base": 5e-324}, "base 4.94066e-324"),
        ({"n_dims": 10**9}, "d = 1000000000"),
        ({"offset": 10**20}, "offset 100000000000000000000"),
        ({"frequencies": "other"}, "frequencies 'other'"),
        ({"layout": "spiral"}, "layout 'spiral'"),
        ({"n_positions": 1}, "at least 2 positions"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        sinusoidal(**({"n_positions": 4, "n_dims": 4} | options))  # type: ignore[arg-type]


@pytest.mark.parametrize(("grid", "d"), [((3, 5), 8), ((2, 3, 4), 12), ((3, 5), 10), ((14, 14), 16)])
def test_images_and_volumes(grid: tuple[int, ...], d: int) -> None:
    cells = list(np.ndindex(*grid))
    encoding = sinusoidal(len(cells), d, grid=grid, offset=2)
    points = encoding.coordinates()
    assert points is not None
    width = d // len(grid)
    axes = [sinusoidal(max(size, 2), width, offset=2).coordinates() for size in grid]
    for row, cell in zip(points, cells, strict=True):
        expected = [axis[place] for axis, place in zip(axes, cell, strict=True) if axis is not None]
        np.testing.assert_array_equal(row, np.concatenate(expected))
    np.testing.assert_allclose(encoding.distances(), euclidean_distances(points))
    assert encoding.lag_distances() is None


def test_part_of_a_grid() -> None:
    few, all_of_them = sinusoidal(10, 8, grid=(3, 5)).distances(), sinusoidal(15, 8, grid=(3, 5)).distances()
    np.testing.assert_allclose(few, all_of_them[:10, :10], rtol=1e-12)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((3, 3), "grid 3x3 has fewer cells than n = 12"),
        ((0, 20), "grid 0x20: expected two or three sizes"),
        ((12,), "grid 12: expected two or three sizes"),
        ((2, 2, 2, 2), "expected two or three sizes"),
        ((3, 2, 2), "a width that 3 axes share, got d = 8"),
        ((2**40, 2**40), "expected at most 1,099,511,627,776"),
    ],
)
def test_grids_that_do_not_fit(grid: tuple[int, ...], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        sinusoidal(12, 8, grid=grid)
