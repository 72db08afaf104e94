"""Rotations over a grid: closed forms, and the layouts of released models."""

import numpy as np
import pytest

from posgeom.encodings.rope import rope
from posgeom.encodings.rope_grid import Layout, axis_frequencies, rope_grid
from posgeom.errors import EncodingError


def test_distances_add_over_the_pairs() -> None:
    layouts: tuple[Layout, ...] = ("split", "alternate")
    for layout in layouts:
        axes, omega = axis_frequencies(16, 2, layout, 100.0, None)
        got = rope_grid(12, 16, grid=(3, 4), layout=layout, base=100.0).distances()
        for i in range(12):
            for j in range(12):
                moved = np.array(divmod(i, 4)) - np.array(divmod(j, 4))
                assert got[i, j] ** 2 == pytest.approx((4 * np.sin(omega * moved[axes] / 2) ** 2).sum(), abs=1e-12)


def test_a_row_of_a_split_grid_is_rope_of_half_the_width() -> None:
    got = rope_grid(8, 16, grid=(1, 8)).distances()
    np.testing.assert_allclose(got, rope(8, 8).distances(), atol=1e-12)


def test_text_in_three_equal_sections_is_rope() -> None:
    axes, omega = axis_frequencies(128, 3, "chunked", 1e6, (16, 24, 24))
    assert np.bincount(axes).tolist() == [16, 24, 24]
    np.testing.assert_array_equal(omega, 1e6 ** (-np.arange(0, 128, 2) / 128))
    axes, _ = axis_frequencies(128, 3, "interleaved", 1e6, (24, 20, 20))
    assert axes[:7].tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert np.bincount(axes).tolist() == [24, 20, 20]


@pytest.mark.parametrize(
    ("width", "options", "message"),
    [
        (10, {}, "a width that 2 axes share in pairs"),
        (16, {"layout": "chunked"}, "sections belong to chunked and interleaved"),
        (16, {"sections": (4, 4)}, "sections belong to chunked and interleaved"),
        (16, {"layout": "chunked", "sections": (4, 5)}, "sum to d / 2 = 8"),
        (16, {"layout": "spiral"}, "layout 'spiral'"),
        (16, {"grid": (2, 2)}, "fewer cells than n = 12"),
    ],
)
def test_refusals(width: int, options: dict[str, object], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        rope_grid(12, width, **{"grid": (3, 4), **options})  # type: ignore[arg-type]
