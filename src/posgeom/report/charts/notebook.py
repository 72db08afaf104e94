"""Charts as notebooks keep them: interactive where something can draw them, a picture for wherever nothing can."""

from functools import cache
from pathlib import Path
from typing import Any

from posgeom.report.charts.figure import Figure, themed

_MOST_CHARACTERS = 100_000
"""Of an SVG picture; what is larger, as a matrix of many cells, is kept as pixels."""
_PIXELS_PER_POINT = 2


def notebook_chart(figure: Figure) -> Any:
    """The chart of a figure, whose output in a notebook holds a picture beside the interactive form."""
    chart: Any = themed(figure)
    # The chart stays the Altair chart that it is: what is made of it by its methods is shown like this too.
    kind: Any = type(chart)
    object.__setattr__(chart, "__class__", _pictured(kind, figure.look.dpi))
    return chart


@cache
def _pictured(kind: Any, dpi: float) -> type:
    """A class of charts that show and save themselves like this."""

    def bundle(chart: Any, *args: Any, **kwargs: Any) -> Any:
        spec = chart.to_dict()
        shown = _without_network(spec) if _is_default() else kind._repr_mimebundle_(chart, *args, **kwargs)
        content, metadata = shown if isinstance(shown, tuple) else (shown, {})
        picture, size = _picture(spec)
        return {**(content or {}), **picture}, {**metadata, **size}

    def save(chart: Any, fp: Any, format: str | None = None, **kwargs: Any) -> None:  # noqa: A002  Altair's own
        is_png = format == "png" or (format is None and Path(str(fp)).suffix == ".png")
        kind.save(chart, fp, format, **({"ppi": dpi} if is_png else {}) | kwargs)

    return type(kind.__name__, (kind,), {"_repr_mimebundle_": bundle, "save": save, "__doc__": kind.__doc__})


def _is_default() -> bool:
    import altair as alt

    return str(alt.renderers.active) == "default"


def _without_network(spec: dict[str, Any]) -> dict[str, Any]:
    """What a front end that knows Vega-Lite draws by itself; Altair's own default loads scripts from a network."""
    import altair as alt

    major = alt.SCHEMA_VERSION.lstrip("v").partition(".")[0]
    return {f"application/vnd.vegalite.v{major}+json": spec, "text/plain": spec["description"]}


def _picture(spec: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A picture by its type, and the size in pixels of the screen that it is meant for."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(spec)
    if len(svg) <= _MOST_CHARACTERS:
        return {"image/svg+xml": svg}, {}
    png: bytes = vl_convert.svg_to_png(svg, scale=_PIXELS_PER_POINT)
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))  # of the header of every PNG file
    return {"image/png": png}, {
        "image/png": {"width": width // _PIXELS_PER_POINT, "height": height // _PIXELS_PER_POINT}
    }
