"""Charts for notebooks: ``pg.plots.matrix("run")`` gives the chart itself, to show, change or save.

Each function takes a run directory, what `posgeom.report.run.read_run` read of one, or an `Analysis`. Needs the extra
``report``. The table of data behind a chart is that of `figure`.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from posgeom.chart_data import chart_data
from posgeom.inference.left_out import LeftOut, leave_out_first
from posgeom.inference.warp import WarpFit
from posgeom.report.charts.figure import Figure, need_extra, themed
from posgeom.report.document import to_document
from posgeom.report.drawn import save_page
from posgeom.report.figures import KINDS, figure_of
from posgeom.report.run import Run, read_run
from posgeom.report.warp import warp_document
from posgeom.results import Analysis

if TYPE_CHECKING:
    import altair as alt

RunLike = str | Path | Run | Analysis

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


def figure(run: RunLike, kind: str) -> Figure:
    """A chart with its caption and the table of data behind it.

    Parameters
    ----------
    run : str, Path, Run or Analysis
    kind : str
        One of `KINDS`.

    Returns
    -------
    Figure

    Raises
    ------
    RunError
        When the run cannot be read, or has not the numbers of that chart.
    PosgeomError
        When the extra ``report`` is not installed.
    """
    need_extra()
    return figure_of(_run(run), kind)


def _run(run: RunLike) -> Run:
    if isinstance(run, Run):
        return run
    if isinstance(run, Analysis):
        # The same plain values that a stored run gives.
        return Run("analysis", json.loads(json.dumps(to_document(run))), chart_data(run), None)
    return read_run(run)


def _chart(run: RunLike, kind: str) -> "alt.TopLevelMixin":
    return themed(figure(run, kind))


def scorecard(run: RunLike) -> "alt.TopLevelMixin":
    """Alignment of every encoding, with intervals, and that of one half of the corpus with the other."""
    return _chart(run, "scorecard")


def matrix(run: RunLike) -> "alt.TopLevelMixin":
    """Distances between positions: the plug-in estimate beside the cross-validated one."""
    return _chart(run, "matrix")


def lag(run: RunLike) -> "alt.TopLevelMixin":
    """Distance against lag, with its spread."""
    return _chart(run, "lag")


def logo(run: RunLike) -> "alt.TopLevelMixin":
    """Sequence logo of a corpus of at most 30 distinct tokens: bits by position and token."""
    return _chart(run, "logo")


def spectrum(run: RunLike) -> "alt.TopLevelMixin":
    """Eigenvalues of the geometry, with the edge of noise."""
    return _chart(run, "spectrum")


def map_of_positions(run: RunLike) -> "alt.TopLevelMixin":
    """The two leading axes of MDS, coloured by position."""
    return _chart(run, "map")


def depth(run: RunLike) -> "alt.TopLevelMixin":
    """Sequences at each position."""
    return _chart(run, "depth")


def density(run: RunLike) -> "alt.TopLevelMixin":
    """Distances of each encoding against the corpus's, as densities."""
    return _chart(run, "density")


def violations(run: RunLike) -> "alt.TopLevelMixin":
    """Violations of monotonicity by lag."""
    return _chart(run, "violations")


def width(run: RunLike) -> "alt.TopLevelMixin":
    """Stress against width d."""
    return _chart(run, "width")


def depth_curve(run: RunLike) -> "alt.TopLevelMixin":
    """Mean squared distance against depth."""
    return _chart(run, "depth-curve")


def layers(run: RunLike) -> "alt.TopLevelMixin":
    """Alignment by layer and head of a model."""
    return _chart(run, "layers")


def separation(run: RunLike) -> "alt.TopLevelMixin":
    """Minimum separation of positions along a run of training."""
    return _chart(run, "separation")


def alignment_steps(run: RunLike) -> "alt.TopLevelMixin":
    """Alignment with the documents trained on, along a run of training."""
    return _chart(run, "alignment-steps")


def loss(run: RunLike) -> "alt.TopLevelMixin":
    """Held-out loss along a run of training."""
    return _chart(run, "loss")


def warp(run: RunLike | WarpFit) -> "alt.TopLevelMixin":
    """The warps of a corpus by position, with their bands: of a run, or what `fit_warp` gave."""
    return _chart(_of_fit(run, ()) if isinstance(run, WarpFit) else run, "warp")


def left_out(run: RunLike | WarpFit) -> "alt.TopLevelMixin":
    """Alignment, and the share of |B|^2, as the first positions of a run or of a fitted geometry are left out."""
    return _chart(_of_fit(run, leave_out_first(run.geometry)) if isinstance(run, WarpFit) else run, "left-out")


def by_kind() -> dict[str, Callable[..., "alt.TopLevelMixin"]]:
    """The function that draws each of `KINDS`.

    Returns
    -------
    dict of str to callable
    """
    names = {"map": "map_of_positions"}
    return {kind: globals()[names.get(kind, kind.replace("-", "_"))] for kind in KINDS}


def _of_fit(fit: WarpFit, left_out: Sequence[LeftOut]) -> Run:
    return Run("fit", None, None, None, warp=warp_document(fit, left_out))
