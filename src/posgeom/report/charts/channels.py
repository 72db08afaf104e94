"""How charts tell series apart, choose those with an interval, and keep one unit on both axes of a map."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.charts.theme import DASHES, N_SERIES, dashes_of, series_of

HAS_INTERVAL = "isValid(datum.low) && isValid(datum.high)"
"""Filter of the rows whose interval is known."""
_SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "triangle-right")
_MARGIN = 1.06


def by_colour(field: str, names: Sequence[str], legend: Any) -> Any:
    """A colour for each name; an encoding has the same one in every chart."""
    import altair as alt

    return alt.Color(f"{field}:N", title=None, sort=names, scale=alt.Scale(domain=_places(names)), legend=legend)


def by_encoding() -> Any:
    """The colour of each encoding, from rows that hold its `encoding_series` as ``_series``."""
    import altair as alt

    return alt.Color("_series:N", scale=alt.Scale(domain=list(range(N_SERIES + 1))), legend=None)


def by_shape(field: str, names: Sequence[str], legend: Any) -> Any:
    """A shape of points for each name, the same one in every chart for an encoding."""
    import altair as alt

    places = _places(names)
    scale = alt.Scale(domain=places, range=[_SHAPES[i % len(_SHAPES)] for i in range(len(places))])
    return alt.Shape(f"{field}:N", title=None, sort=names, scale=scale, legend=legend)


def by_dash(field: str, names: Sequence[str], legend: Any) -> Any:
    """A pattern of lines for each name; an encoding has the same one in every chart."""
    import altair as alt

    places, dashes = _places(names), dict(zip(names, dashes_of(names), strict=True))
    scale = alt.Scale(domain=places, range=[list(DASHES[dashes.get(name, 0)]) for name in places])
    return alt.StrokeDash(f"{field}:N", title=None, sort=names, scale=scale, legend=legend)


def legend_of(names: Sequence[str], *, line: bool = False, columns: int = 2) -> Any:
    """A legend below a chart of those names, in their order, or none for a single one."""
    import altair as alt

    symbol: dict[str, Any] = {"symbolType": "stroke", "symbolSize": 300} if line else {}
    shown = alt.Legend(orient="bottom", columns=columns, title=None, values=list(names), **symbol)
    return shown if len(names) > 1 else None


def _places(names: Sequence[str]) -> list[str]:
    """A domain in which the place of each name, counted around the colours there are, is that of its colour."""
    places: list[str] = []
    for name, series in sorted(zip(names, series_of(names), strict=True), key=lambda pair: pair[1]):
        while len(places) % (N_SERIES + 1) != series:
            places.append(" " * (len(places) + 1))  # a place that no series has
        places.append(name)
    return places


def map_scales(*columns: Sequence[float]) -> list[Any]:
    """Scales of one unit for the axes of a map, so that what is seen is distance."""
    import altair as alt

    ends = [(min(values, default=0.0), max(values, default=0.0)) for values in columns]
    reach = _MARGIN * max(high - low for low, high in ends) / 2 or 1.0
    return [alt.Scale(domain=[(a + b) / 2 - reach, (a + b) / 2 + reach], nice=False, zero=False) for a, b in ends]
