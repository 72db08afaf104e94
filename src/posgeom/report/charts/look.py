"""How a figure is drawn where someone has a say in it: size, type and resolution."""

from dataclasses import asdict, dataclass
from typing import Any

from posgeom.errors import PosgeomError
from posgeom.options import PlotOptions, options_of

_DEFAULTS = {name: default for name, (_, default, _) in options_of(PlotOptions).items()}
_MOST = {"width": 5000, "height": 5000, "font_size": 200, "dpi": 1200}


@dataclass(frozen=True, slots=True)
class Look:
    """The options of `posgeom.options.PlotOptions` that say nothing of what is drawn."""

    width: float | None = None
    height: float | None = None
    font_size: float = _DEFAULTS["font_size"]
    dpi: float = _DEFAULTS["dpi"]

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not 1 <= value <= _MOST[name]:
                raise PosgeomError(f"{name} {value!r}: expected a number between 1 and {_MOST[name]:,}")

    def sized(self, chart: Any) -> Any:
        """A copy of a chart whose plot, or whose every panel, has the size asked for."""
        import altair as alt

        chart = chart.copy(deep=False)
        if isinstance(chart, alt.HConcatChart):
            chart.hconcat = [self.sized(panel) for panel in chart.hconcat]
        elif isinstance(chart, alt.FacetChart):
            chart.spec = self.sized(chart.spec)
        else:
            for name in ("width", "height"):
                if (value := getattr(self, name)) is not None:
                    chart[name] = value
        return chart
