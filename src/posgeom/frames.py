"""Results as tables of pandas and polars, which are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from posgeom.errors import PosgeomError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl


class Framed:
    """A result with one plain dictionary per row, `to_dicts`, which data frames are made of."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per row, for JSON, CSV or a data frame."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a data frame of pandas, with ``_low`` and ``_high`` behind a name for the ends of its interval.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        PosgeomError
            When pandas is not installed.
        """
        return _library("pandas").DataFrame(self._flat())

    def to_polars(self) -> pl.DataFrame:
        """The rows as a data frame of polars, with ``_low`` and ``_high`` behind a name for the ends of its interval.

        Returns
        -------
        polars.DataFrame

        Raises
        ------
        PosgeomError
            When polars is not installed.
        """
        frame: pl.DataFrame = _library("polars").DataFrame(self._flat(), infer_schema_length=None)
        return frame

    def _flat(self) -> list[dict[str, Any]]:
        """Rows that have the same columns, all of them plain values."""
        rows = [flat(row) for row in self.to_dicts()]
        columns = dict.fromkeys(name for row in rows for name in row)
        return [{name: row.get(name) for name in columns} for row in rows]


def estimated(estimates: Mapping[str, Any], level: float) -> dict[str, Any]:
    """Estimates as a row holds them: their values by name, and the intervals of those that have one."""
    bounds = {name: estimate.interval(level) for name, estimate in estimates.items()}
    intervals = {name: {"low": one.low, "high": one.high} for name, one in bounds.items() if one is not None}
    return {name: estimate.value for name, estimate in estimates.items()} | {"intervals": intervals}


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without mappings or sequences inside: keys, places and the ends of intervals stand behind the name."""
    out: dict[str, Any] = {}
    for name, value in row.items():
        if name == "intervals" and isinstance(value, Mapping):
            for field, ends in value.items():
                out |= {f"{field}_low": ends["low"], f"{field}_high": ends["high"]}
        elif isinstance(value, Mapping):
            out |= {f"{name}_{key}": part for key, part in flat(value).items()}
        elif isinstance(value, Sequence) and not isinstance(value, str):
            out |= {f"{name}_{k}": part for k, part in enumerate(value)}
        else:
            out[name] = value
    return out


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise PosgeomError(f"{name} is not installed: pip install {name}, or use to_dicts()") from None
