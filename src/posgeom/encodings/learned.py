"""Learned tables: one vector per position, from an array or a file, stretched to another length where asked."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from posgeom.encodings.base import Encoding, PointEncoding
from posgeom.encodings.checks import as_matrix, check_n_positions
from posgeom.encodings.documentation import documented
from posgeom.encodings.interpolation import Alignment, stretch_rows
from posgeom.encodings.tables import Table, read_table
from posgeom.errors import EncodingError


@documented
def learned(points: ArrayLike, *, n_positions: int | None = None, name: str = "learned") -> Encoding:
    """An encoding from a matrix, one row per position.

    Parameters
    ----------
    points : array_like, shape (rows, d)
        Row i is the vector of position i.
    n_positions : int, optional
        Context length n: the first n rows are used. By default all rows.

    Raises
    ------
    EncodingError
        When the matrix has another shape, too few rows, or entries that are not finite numbers.
    """
    matrix = as_matrix(name, points)
    n = matrix.shape[0] if n_positions is None else n_positions
    check_n_positions(name, n)
    if matrix.shape[0] < n:
        raise EncodingError(
            f"encoding {name} has {matrix.shape[0]} rows, n = {n} positions need as many: use -n {matrix.shape[0]}, or "
            "stretch it with learned:table=FILE,interpolation=linear"
        )
    return PointEncoding(name, matrix[:n])


@documented
def learned_table(
    n_positions: int,
    *,
    table: Table,
    interpolation: Literal["none", "linear", "cubic"] = "none",
    length: int | None = None,
    align: Alignment = "corners",
) -> Encoding:
    """A learned table of a model, as it is or stretched to another length.

    Parameters
    ----------
    n_positions : int
        Context length n: the first n rows are used, after any stretching.
    table : file
        FILE.npy or FILE.safetensors:tensor=NAME, one row per position.
    interpolation : {"none", "linear", "cubic"}
        How all rows are stretched to `length` rows; none: the rows as they are.
    length : int, optional
        Rows after stretching; by default n.
    align : {"corners", "centers"}
        Whether first and last rows stay in place, or rows stand for cells of equal size, as when images are resized.
    """
    name, values = read_table(table)
    if interpolation == "none":
        if length is not None:
            raise EncodingError(f"learned length {length}: it needs interpolation=linear or interpolation=cubic")
        if align != "corners":
            raise EncodingError(f"learned align {align}: it needs interpolation=linear or interpolation=cubic")
        return learned(values, n_positions=n_positions, name=name)
    if length is not None and length < n_positions:
        raise EncodingError(f"learned length {length}: expected at least n = {n_positions}")
    rows = PointEncoding(name, values).coordinates()  # refuses what is not finite
    check_n_positions(name, n_positions)
    stretched = stretch_rows(
        np.asarray(rows), n_positions if length is None else length, interpolation, align, n_first=n_positions
    )
    return learned(stretched, name=name)
