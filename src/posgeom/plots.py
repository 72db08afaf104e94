"""Charts for notebooks: ``pg.plots.matrix("run")`` gives the chart itself, to show, change or save.

Each function takes a run directory, what `posgeom.report.run.read_run` read of one, an `Analysis`, or what `fit_warp`
gave, and the options of ``posgeom plot``. Needs the extra ``report``. The table of data behind a chart is that of
`figure`. What a notebook keeps of a chart has a picture in it, which shows without a network and without Altair.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Unpack

from posgeom.chart_data import chart_data
from posgeom.inference.left_out import leave_out_first
from posgeom.inference.warp import WarpFit
from posgeom.keywords import takes
from posgeom.options import PlotOptions
from posgeom.report.charts.figure import Figure, need_extra
from posgeom.report.charts.notebook import notebook_chart
from posgeom.report.document import to_document
from posgeom.report.drawn import save_page
from posgeom.report.figures import KINDS, figure_of
from posgeom.report.run import Run, read_run
from posgeom.report.warp import warp_document
from posgeom.results import Analysis

if TYPE_CHECKING:
    import altair as alt

RunLike = str | Path | Run | Analysis | WarpFit

__all__ = [
    "KINDS",
    "alignment_steps",
    "by_kind",
    "density",
    "depth",
    "depth_curve",
    "figure",
    "lag",
    "layers",
    "left_out",
    "logo",
    "loss",
    "map_of_positions",
    "matrix",
    "save_page",
    "scorecard",
    "separation",
    "spectrum",
    "violations",
    "warp",
    "width",
]


@takes(PlotOptions)
def figure(run: RunLike, kind: str, **options: Unpack[PlotOptions]) -> Figure:
    """A chart with its caption and the table of data behind it.

    Parameters
    ----------
    run : str, Path, Run, Analysis or WarpFit
    kind : str
        One of `KINDS`.

    Returns
    -------
    Figure

    Raises
    ------
    RunError
        When the run cannot be read, or has not the numbers of that chart, or not those encodings.
    PosgeomError
        When the extra ``report`` is not installed, or a size cannot be.
    """
    need_extra()
    return figure_of(_run(run, kind), kind, **options)


def _run(run: RunLike, kind: str) -> Run:
    if isinstance(run, Run):
        return run
    if isinstance(run, Analysis):
        # The same plain values that a stored run gives.
        return Run("analysis", json.loads(json.dumps(to_document(run))), chart_data(run), None)
    if isinstance(run, WarpFit):
        left_out = leave_out_first(run.geometry) if kind == "left-out" else ()
        return Run("fit", None, None, None, warp=warp_document(run, left_out))
    return read_run(run)


class Plot(Protocol):
    """A function that draws one kind of chart."""

    def __call__(self, run: RunLike, **options: Unpack[PlotOptions]) -> "alt.TopLevelMixin":
        """Draw it."""


_DOC = """{about}

Parameters
----------
run : str, Path, Run, Analysis or WarpFit

Returns
-------
altair.TopLevelMixin
    The chart, an Altair one.

Raises
------
RunError
    When the run cannot be read, or has not the numbers of this chart, or not those encodings.
PosgeomError
    When the extra ``report`` is not installed, or a size cannot be.
"""
_BY_KIND: dict[str, Plot] = {}


def _plot(kind: str, about: str, name: str | None = None) -> Plot:
    """The function for a kind of chart."""

    def draw(run: RunLike, **options: Unpack[PlotOptions]) -> "alt.TopLevelMixin":
        return notebook_chart(figure(run, kind, **options))  # type: ignore[no-any-return]

    draw.__name__ = draw.__qualname__ = name or kind.replace("-", "_")
    draw.__doc__ = _DOC.format(about=about).replace("\n", "\n    ")
    _BY_KIND[kind] = takes(PlotOptions)(draw)
    return _BY_KIND[kind]


scorecard = _plot(
    "scorecard", "Alignment of every encoding, with intervals, and that of one half of the corpus with the other."
)
matrix = _plot("matrix", "Distances between positions: the plug-in estimate beside the cross-validated one.")
lag = _plot("lag", "Distance against lag, with its spread.")
logo = _plot("logo", "Sequence logo of a corpus of at most 30 distinct tokens: bits by position and token.")
spectrum = _plot("spectrum", "Eigenvalues of the geometry, with the edge of noise.")
map_of_positions = _plot("map", "The two leading axes of MDS, coloured by position.", "map_of_positions")
depth = _plot("depth", "Sequences at each position.")
density = _plot("density", "Distances of each encoding against the corpus's, as densities.")
violations = _plot("violations", "Violations of monotonicity by lag.")
width = _plot("width", "Alignment against width d.")
depth_curve = _plot("depth-curve", "Mean squared distance against depth.")
layers = _plot("layers", "Alignment by layer and head of a model.")
separation = _plot("separation", "Minimum separation of positions along a run of training.")
alignment_steps = _plot("alignment-steps", "Alignment with the documents trained on, along a run of training.")
loss = _plot("loss", "Held-out loss along a run of training.")
warp = _plot("warp", "The warps of a corpus by position, with their bands: of a run, or what `fit_warp` gave.")
left_out = _plot(
    "left-out",
    "Alignment, and the share of |B|^2, as the first positions of a run or of a fitted geometry are left out.",
)


def by_kind() -> dict[str, Callable[..., "alt.TopLevelMixin"]]:
    """The function that draws each of `KINDS`.

    Returns
    -------
    dict of str to callable
    """
    return {kind: _BY_KIND[kind] for kind in KINDS}
