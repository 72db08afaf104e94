"""Rotary embedding over a grid: each channel pair turns with one coordinate of an image, a volume or a video."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding, FunctionEncoding
from posgeom.encodings.checks import check_base, check_choice, check_width
from posgeom.encodings.documentation import documented
from posgeom.encodings.frequencies import inverse_frequencies
from posgeom.encodings.grids import check_grid, grid_places
from posgeom.encodings.warping import takes_warp, warped
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError

Layout = Literal["split", "alternate", "unit", "chunked", "interleaved"]
_LAYOUTS = ("split", "alternate", "unit", "chunked", "interleaved")


@takes_warp
@documented
def rope_grid(
    n_positions: int,
    n_dims: int,
    *,
    grid: tuple[int, ...],
    layout: Layout = "split",
    base: float = 10000.0,
    sections: tuple[int, ...] | None = None,
    warp: Warp | None = None,
) -> Encoding:
    """Rotations of channel pairs by angles omega_k x, x one coordinate of the position on a grid.

    The orbit of a vector whose pairs are all (1, 0): d^2(i, j) = sum_k 4 sin^2(omega_k (x_i - x_j) / 2).

    Parameters
    ----------
    n_dims : int
        Width d of a head.
    grid : tuple of int
        Sizes of the axes, such as (14, 14): positions run over it row by row, the last axis fastest.
    layout : {"split", "alternate", "unit", "chunked", "interleaved"}
        split: each axis has d / axes channels with frequencies of their own (Qwen2-VL's images). alternate: the
        frequencies of all d channels go to the axes in turn (Pixtral). unit: as split, with coordinates from -1 to 1
        and omega_k = 2 pi base^(-2k / (d / axes)) (DINOv3). chunked, interleaved: frequencies of all d channels in
        `sections` of successive pairs, one axis each, or dealt in turn (m-RoPE of Qwen2-VL and of Qwen3-VL).
    base : float
        ``rope_theta``.
    sections : tuple of int, optional
        ``mrope_section``: pairs of time, height and width.
    warp : Warp, optional
        f(x) in place of each coordinate; not for `unit`, whose coordinates are no positions.

    Raises
    ------
    EncodingError
        When the axes do not share the width, or an option is out of range.
    """
    check_width(n_dims)
    check_base(base)
    check_choice("rope-grid layout", layout, _LAYOUTS)
    check_grid("rope-grid", grid, n_positions)
    if (sections is not None) != (layout in ("chunked", "interleaved")):
        raise EncodingError(f"rope-grid layout {layout}: sections belong to chunked and interleaved, which need them")
    if warp is not None and layout == "unit":
        raise EncodingError("rope-grid layout unit has coordinates from -1 to 1: it takes no warp of positions")
    axes, omega = axis_frequencies(n_dims, len(grid), layout, base, sections)

    def coordinates(positions: NDArray[np.int64]) -> NDArray[np.float64]:
        places = warped(grid_places(positions, grid), 0, warp)
        if layout == "unit":
            places = 2 * (places + 0.5) / np.array(grid) - 1
        angles = places[:, axes] * omega
        return np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(positions.size, 2 * omega.size)

    return FunctionEncoding("rope-grid", n_positions, n_dims, coordinates)


def axis_frequencies(
    n_dims: int, n_axes: int, layout: Layout, base: float, sections: tuple[int, ...] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The axis that each channel pair turns with, and its frequency, shapes (d / 2,)."""
    n_pairs = n_dims // 2
    if sections is not None:
        if len(sections) != n_axes or sum(sections) != n_pairs or n_dims % 2 or min(sections) < 0:
            raise EncodingError(
                f"rope-grid sections {':'.join(map(str, sections))}: expected {n_axes} numbers from 0 that sum to "
                f"d / 2 = {n_dims / 2:g}"
            )
        axes = np.repeat(np.arange(n_axes), sections)
        if layout == "interleaved":  # the first axis has what the others leave
            axes = np.zeros(n_pairs, np.int64)
            for axis in range(1, n_axes):
                axes[axis : n_axes * sections[axis] : n_axes] = axis
        return axes, inverse_frequencies(n_dims, base)
    if n_dims % (2 * n_axes):
        raise EncodingError(f"rope-grid needs a width that {n_axes} axes share in pairs, got d = {n_dims}")
    if layout == "alternate":
        return np.arange(n_pairs) % n_axes, inverse_frequencies(n_dims, base)
    omega = inverse_frequencies(n_dims // n_axes, base) * (2 * np.pi if layout == "unit" else 1)
    return np.repeat(np.arange(n_axes), omega.size), np.tile(omega, n_axes)
