"""How charts tell series apart, choose those with an interval, and keep one unit on both axes of a map."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.theme import DASHES, N_SERIES

HAS_INTERVAL = "isValid(datum.low) && isValid(datum.high)"
"""Filter of the rows whose interval is known."""
_SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "triangle-right")
_MARGIN = 1.06


def by_colour(field: str, names: Sequence[str], legend: Any) -> Any:
    """A colour for each name."""
    import altair as alt

    return alt.Color(f"{field}:N", title=None, sort=names, scale=alt.Scale(domain=names), legend=legend)


def by_encoding() -> Any:
    """The colour of each encoding, from rows that hold its `encoding_series` as ``_series``."""
    import altair as alt

    return alt.Color("_series:N", scale=alt.Scale(domain=list(range(N_SERIES))), legend=None)


def by_shape(field: str, names: Sequence[str], legend: Any) -> Any:
    """A shape of points for each name, as far as there are any."""
    import altair as alt

    scale = alt.Scale(domain=names, range=list(_SHAPES[: len(names)]))
    return alt.Shape(f"{field}:N", title=None, sort=names, scale=scale, legend=legend)


def by_dash(field: str, names: Sequence[str], legend: Any) -> Any:
    """A pattern of lines for each name."""
    import altair as alt

    scale = alt.Scale(domain=names, range=list(DASHES[: len(names)]))
    return alt.StrokeDash(f"{field}:N", title=None, sort=names, scale=scale, legend=legend)


def map_scales(*columns: Sequence[float]) -> list[Any]:
    """Scales of one unit for the axes of a map, so that what is seen is distance."""
    import altair as alt

    ends = [(min(values, default=0.0), max(values, default=0.0)) for values in columns]
    reach = _MARGIN * max(high - low for low, high in ends) / 2 or 1.0
    return [alt.Scale(domain=[(a + b) / 2 - reach, (a + b) / 2 + reach], nice=False, zero=False) for a, b in ends]
