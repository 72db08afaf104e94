"""The rows of a position table that stand for positions: what comes before them, and where training has not been."""

from dataclasses import dataclass
from itertools import product
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.encodings.sinusoidal import FREQUENCIES, LAYOUTS, sinusoidal
from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.family import PositionTable
from posgeom.models.query_key import Tensors

_ROUNDING = {"F64": 1e-3, "F32": 1e-3, "F16": 2e-3, "BF16": 8e-3}
"""How far a table of sines may be off: angles of thousands are often computed in single precision."""
UNTRAINED_SIGMAS = 5.0
TRUNCATED_STD = 0.8796
"""Standard deviation of a standard normal cut off at 2, as TensorFlow draws."""
OWN_SCALE_ROWS = 8
"""Rows at the end that tell the scale of a longer tail: weight decay shrinks rows that are never used."""
LEAST_WIDTH = 100
"""Narrower rows are too few numbers to tell a trained row from a fresh one."""


@dataclass(frozen=True)
class UntrainedTail:
    """A run at the end of a table that looks as it was initialised.

    Attributes
    ----------
    start : int
        First position of it.
    mean_norm, initial_norm : float
        Mean norm of its rows, and initial_std sqrt(d).
    tail_norm : float
        Norm that its rows are taken to have: `initial_norm`, less where the normal was truncated or rows have shrunk.
    """

    start: int
    mean_norm: float
    initial_norm: float
    tail_norm: float

    @property
    def rule(self) -> str:
        """What makes it untrained."""
        initial = f"initializer_range sqrt(d) = {self.initial_norm:.4g}"
        scale = initial if self.tail_norm == self.initial_norm else f"{self.tail_norm:.4g}, below {initial}"
        return (
            f"norm within {UNTRAINED_SIGMAS:g} standard deviations of {scale}, and as orthogonal to the row before as "
            "chance makes it"
        )


@dataclass(frozen=True, eq=False)
class PositionRows:
    """A position table, read.

    Attributes
    ----------
    tensor : str
        Its stored name.
    file : Path
    dtype : str
    shape : tuple of int
        As stored.
    points : ndarray of float, shape (n_positions, d)
        Row i is the vector of position i.
    offset : int
        Rows before that of position 0.
    padding_row : int or None
    zero_positions : tuple of int
        Positions whose vector is zero.
    n_special : int
    grid : tuple of int or None
    untrained : UntrainedTail or None
        None also where it cannot be told: a narrow table, or one not drawn from a Gaussian.
    kind : str
        learned, or sinusoidal where its family says so and its values agree.
    notes : tuple of str
        What contradicts the config.
    """

    tensor: str
    file: Path
    dtype: str
    shape: tuple[int, ...]
    points: NDArray[np.float64]
    offset: int
    padding_row: int | None
    zero_positions: tuple[int, ...]
    n_special: int
    grid: tuple[int, int] | None
    untrained: UntrainedTail | None
    kind: str = "learned"
    notes: tuple[str, ...] = ()

    @property
    def n_trained(self) -> int:
        """Positions before the untrained tail."""
        return self.points.shape[0] if self.untrained is None else self.untrained.start


def read_positions(tensors: Tensors, table: PositionTable) -> PositionRows:
    """Read a position table."""
    checkpoint = tensors.checkpoint
    stored = checkpoint.locate(table.tensor, tensors.prefixes)
    entry = checkpoint.entry(stored)
    what = f"{shown(checkpoint.name)}: tensor {shown(stored)}"
    matrix = checkpoint.read(stored)
    while matrix.ndim > 2 and 1 in matrix.shape:  # of a batch, wherever it stands
        matrix = matrix.squeeze(matrix.shape.index(1))
    if matrix.ndim != 2:
        raise CheckpointError(f"{what} has shape {entry.shape}: expected (rows, width)")
    if table.width not in (None, matrix.shape[1]):
        raise CheckpointError(f"{what} has width {matrix.shape[1]}, by its config it has {table.width}")
    if matrix.shape[0] - table.offset < 2:
        raise CheckpointError(
            f"{what} has {matrix.shape[0]} rows and positions start at row {table.offset}: expected at least 2 "
            "positions"
        )
    points = matrix[table.offset :]
    if table.grid is not None and points.shape[0] != table.n_special + table.grid[0] * table.grid[1]:
        raise CheckpointError(
            f"{what} has {points.shape[0]} rows, by its config {table.n_special} special ones and a grid of "
            f"{table.grid[0]} x {table.grid[1]}"
        )
    zeros = np.flatnonzero(~points.any(axis=1))
    tail = None if table.initial_std is None else untrained_tail(points, table.initial_std)
    notes = []
    if table.n_rows not in (None, matrix.shape[0]):
        notes.append(f"{what} has {matrix.shape[0]} rows, by its config it has {table.n_rows}: one of them is wrong")
    kind = "sinusoidal" if table.fixed and is_sinusoidal(points, entry.dtype, table.offset) else "learned"
    if table.fixed and kind == "learned":
        notes.append(
            f"{what} should hold sines and cosines by its config, and none of their forms is within rounding of it: "
            "it is taken for learned"
        )
    return PositionRows(
        stored,
        checkpoint.file_of(stored),
        entry.dtype,
        entry.shape,
        points,
        table.offset,
        table.padding_row,
        tuple(zeros.tolist()),
        table.n_special,
        table.grid,
        tail,
        kind,
        tuple(notes),
    )


def is_sinusoidal(points: NDArray[np.float64], dtype: str, offset: int = 0) -> bool:
    """Whether rows are sines and cosines of successive positions, from 0 or `offset`, to within rounding."""
    n, width = points.shape
    slack = _ROUNDING.get(dtype, _ROUNDING["F32"])
    forms = product(FREQUENCIES, LAYOUTS, {0, offset})
    for frequencies, layout, start in forms if width > 2 else ():
        encoding = sinusoidal(n, width, frequencies=frequencies, layout=layout, offset=start)
        rows = encoding.coordinates()
        if rows is not None and np.abs(rows - points).max() <= slack:
            return True
    return False


def untrained_tail(points: NDArray[np.float64], initial_std: float) -> UntrainedTail | None:
    """The run at the end of a table that looks as it was initialised, or None.

    A row of d numbers from N(0, s^2) has norm s sqrt(d) to within a share 1 / sqrt(2d), and cosine 0 to within
    1 / sqrt(d) with the row before it, whether that one is trained or not. Both are asked for to within
    `UNTRAINED_SIGMAS`: the norm alone can be met by trained rows, whose neighbours are alike. s is `initial_std`; that
    of the same normal truncated; or, of a run of `OWN_SCALE_ROWS` or more, its own, if it is smaller.
    """
    width = points.shape[1]
    if width < LEAST_WIDTH or not initial_std > 0:
        return None
    norms = np.linalg.norm(points, axis=1)
    initial_norm = initial_std * sqrt(width)
    products = np.abs((points[1:] * points[:-1]).sum(axis=1))
    orthogonal = np.append(True, products <= UNTRAINED_SIGMAS / sqrt(width) * norms[1:] * norms[:-1])
    own = float(np.median(norms[-OWN_SCALE_ROWS:]))
    starts = []
    for norm, fewest in ((initial_norm, 1), (TRUNCATED_STD * initial_norm, 1), (own, OWN_SCALE_ROWS)):
        if 0 < norm <= initial_norm:
            fresh = orthogonal & (np.abs(norms / norm - 1) <= UNTRAINED_SIGMAS / sqrt(2 * width))
            trained = np.flatnonzero(~fresh)
            start = int(trained[-1]) + 1 if trained.size else 0
            starts += [(start, norm)] if norms.size - start >= fewest else []
    if not starts:
        return None
    start, norm = min(starts, key=lambda found: found[0])
    return UntrainedTail(start, float(norms[start:].mean()), initial_norm, norm)


def positions_of_mask(mask: ArrayLike) -> NDArray[np.int64]:
    """Positions of the tokens of padded sequences, counted over real tokens; -1 for padding.

    A left-padded mask [0, 0, 1, 1, 1] puts real positions at 0, 1, 2.

    Parameters
    ----------
    mask : array_like, shape (..., length)
        1 for a token, 0 for padding.

    Returns
    -------
    ndarray of int, the shape of `mask`

    Raises
    ------
    CheckpointError
        When it holds anything but 0 and 1.
    """
    given = np.asarray(mask)
    if given.dtype.kind not in "buif" or not given.ndim or not np.isin(given, (0, 1)).all():
        raise CheckpointError(f"got {type(mask).__name__} for a mask: expected an array of 1 (token) and 0 (padding)")
    real = given != 0
    return np.where(real, np.cumsum(real, axis=-1) - 1, -1).astype(np.int64)
