"""The figures of a stored run, each with a caption that says how to read it, from what and from how much."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from posgeom.errors import RunError
from posgeom.messages import shown
from posgeom.options import PlotOptions, with_defaults
from posgeom.report.charts.compare import compare_figure
from posgeom.report.charts.density import MAX_PANELS, density_figure
from posgeom.report.charts.depth import depth_figure
from posgeom.report.charts.figure import Figure, Row
from posgeom.report.charts.lag import lag_figure
from posgeom.report.charts.layers import layers_figure
from posgeom.report.charts.logo import logo_figure
from posgeom.report.charts.look import Look
from posgeom.report.charts.matrix import matrix_figure
from posgeom.report.charts.mds_map import map_figure
from posgeom.report.charts.scorecard import scorecard_figure
from posgeom.report.charts.spectrum import MAX_AXES, spectrum_figure
from posgeom.report.charts.theme import N_SERIES
from posgeom.report.line_figures import depth_curve, violations, width
from posgeom.report.run import Run, basis, level_of, metric_of
from posgeom.report.selection import with_encodings
from posgeom.report.training import TRAINING_KINDS
from posgeom.report.warp import left_out_figure, warp_figure

Document = dict[str, Any]
_MAX_DEPTH_BARS = 256


def figures(run: Run) -> list[Figure]:
    """Every figure that a run has the numbers for."""
    return [figure for build in KINDS.values() if (figure := build(run)) is not None]


def figure_of(run: Run, kind: str, **options: Unpack[PlotOptions]) -> Figure:
    """One figure of a run."""
    if kind not in KINDS:
        raise RunError(f"no chart {shown(kind)}: expected one of {', '.join(KINDS)}")
    chosen: dict[str, Any] = with_defaults(options, PlotOptions)
    encodings = chosen.pop("encodings")
    look = Look(**chosen)
    figure = KINDS[kind](run if encodings is None else with_encodings(run, encodings, kind))
    if figure is None:
        have = ", ".join(name for name, build in KINDS.items() if build(run) is not None)
        raise RunError(f"{shown(run.name)} has no numbers for {kind}: it has those for {have}")
    return replace(figure, look=look)


def comparison(runs: Sequence[Run]) -> Figure | None:
    """Alignment of the encodings of several runs, or None where not two of them have scores."""
    scored = [run for run in runs if run.scores is not None]
    if len(scored) < 2:
        return None
    rows = [
        {"run": run.name, "encoding": e["name"], "alignment": e["alignment"], "level": level_of(run.scores or {})}
        | _interval(e, "alignment")
        for run in scored
        for e in (run.scores or {})["encodings"]
    ]
    caption = "Alignment of each encoding with the geometry of each run: 1 is the same geometry, 0 none of it." + (
        " The first runs are drawn; the table has all." if len(scored) > N_SERIES else ""
    )
    return compare_figure(rows, caption=caption)


def _interval(encoding: Document, score: str) -> Row:
    interval = (encoding.get("intervals") or {}).get(score) or {}
    return {"low": interval.get("low"), "high": interval.get("high")}


def _scorecard(run: Run) -> Figure | None:
    if (scores := run.scores) is None:
        return None
    uncertainty = scores.get("uncertainty")
    bars = "" if uncertainty is None else f" Bars: {uncertainty['level']:.0%} intervals ({uncertainty['method']})."
    ceiling = scores.get("noise_ceiling") or {}
    has_ceiling = (ceiling.get("alignment") or {}).get("value") is not None
    mark = (
        " Half against half: what the distances of one half of the corpus score against the other half."
        if has_ceiling
        else ""
    )
    why = f" Undefined: {scores['alignment_undefined']}." if scores.get("alignment_undefined") else ""
    return scorecard_figure(
        scores["encodings"],
        noise_ceiling=ceiling,
        level=level_of(scores),
        caption="How much of the geometry of the corpus each encoding has, whatever its scale: the cosine between the "
        f"two. {basis(scores)}." + bars + mark + why,
    )


def _matrix(run: Run) -> Figure | None:
    if run.scores is None or run.charts is None:
        return None
    matrix = run.charts["matrix"]
    blocks = max(b - a for a, b in zip(matrix["first"], matrix["last"], strict=True)) > 0
    caption = (
        "Distance between every two positions, on one colour scale. Plug-in distances are at full depth and hold "
        "sampling noise; cross-validated ones are what two halves of the corpus agree on."
        if len(matrix["distances"]) > 1
        else "Distance between every two positions."
    )
    caption += " Cells are root mean squares over blocks of positions." if blocks else ""
    keys = ("first", "last", "depth")
    return matrix_figure(
        matrix["distances"], **{key: matrix[key] for key in keys}, metric=metric_of(run.scores), caption=caption
    )


def _lag(run: Run) -> Figure | None:
    if run.scores is None or run.charts is None:
        return None
    rows = [
        {"estimate": lags["estimate"], "lag_first": first, "lag_last": last, "pairs": pairs}
        | {"median": median, "low": low, "high": high}
        for lags in run.charts["lags"]
        for first, last, pairs, median, low, high in zip(
            *(lags[key] for key in ("first", "last", "pairs", "median", "low", "high")), strict=True
        )
    ]
    caption = "Median over the pairs of positions that lie so far apart; the band holds the middle 80 % of them."
    return lag_figure(rows, metric=metric_of(run.scores), caption=caption)


def _spectrum(run: Run) -> Figure | None:
    if (scores := run.scores) is None:
        return None
    tested = scores.get("significance")
    axes = tested["axes"] if tested else []
    plugin = scores["plugin_spectrum"] if scores["estimator"] == "crossval" else []
    rows = []
    for k, value in enumerate(scores["spectrum"]):
        axis = axes[k] if k < len(axes) else {}
        is_significant = k < tested["significant_rank"] if tested else None
        rows.append(
            {"axis": k + 1, "eigenvalue": value, "low": axis.get("low"), "high": axis.get("high")}
            | {"plugin": plugin[k] if k < len(plugin) else None, "significant": is_significant}
            | {"p_value": axis.get("p_value")}
        )
    caption = f"Eigenvalues of the double-centred squared distances, first {min(len(rows), MAX_AXES)} of {len(rows):,}."
    if tested:
        caption += (
            f" Pale: not more than noise; {tested['significant_rank']} axes are, by {tested['n_patterns']:,} patterns "
            f"of signs of folds at level {tested['alpha']:g}."
        )
    if any(row["low"] is not None for row in rows):
        caption += " Bars: intervals (jackknife) of what there would be without noise, which pushes eigenvalues up."
    return spectrum_figure(rows, level=level_of(scores), caption=f"{caption} {basis(scores)}.")


def _map(run: Run) -> Figure | None:
    if run.scores is None or run.charts is None:
        return None
    stored = run.charts["map"]
    positive = [value for value in run.scores["spectrum"] if value > 0]
    rows = [
        {"position": position} | {f"axis_{k + 1}": axis[n] for k, axis in enumerate(stored["axes"])}
        for n, position in enumerate(stored["positions"])
    ]
    shares = [value / sum(positive) for value in positive[:2]]
    caption = f"Classical MDS of the distances: near points are positions with similar tokens. {basis(run.scores)}."
    return map_figure(rows, shares=shares, caption=caption)


def _logo(run: Run) -> Figure | None:
    stored = None if run.charts is None else run.charts.get("logo")
    if stored is None or not any(map(any, stored["bits"])):
        return None
    rows = []
    for n, position in enumerate(stored["positions"]):
        column = sorted((bits[n], name) for name, bits in zip(stored["tokens"], stored["bits"], strict=True))
        height, base = sum(bits for bits, _ in column), 0.0
        for bits, name in column:
            share = bits / height if height else None
            rows.append(
                {"position": position, "token": name, "bits": bits, "share": share, "base": base, "top": base + bits}
            )
            base += bits
    return logo_figure(
        rows,
        caption=f"What each position says beyond the frequencies of all positions together ({len(stored['tokens'])} "
        "tokens), in bits, less what a sample of its size says by chance. Each token has its share of it, the most "
        "frequent on top.",
    )


def _depth(run: Run) -> Figure | None:
    if (scores := run.scores) is None:
        return None
    used, depth = set(scores["positions_used"]), scores["depth"]
    shallow = set(scores["positions_shallow"])
    states = [
        "empty" if d == 0 else "used" if i in used else "too shallow" if i in shallow else "not looked at"
        for i, d in enumerate(depth)
    ]
    size = -(-len(depth) // _MAX_DEPTH_BARS)
    rows = []
    for start in range(0, len(depth), size):
        part = depth[start : start + size]
        rows.append(
            {
                "first": start,
                "last": start + len(part) - 1,
                "depth": min(part),
                "state": states[start + part.index(min(part))],
            }
        )
    caption = "Documents that reach each position" + (f"; the least of each {size} positions" if size > 1 else "") + "."
    return depth_figure(rows, min_depth=scores["min_depth"], caption=caption)


def _density(run: Run) -> Figure | None:
    if run.scores is None or run.charts is None or not run.charts["densities"]:
        return None
    alignment = {e["name"]: e["alignment"] for e in run.scores["encodings"]}
    panels = sorted(run.charts["densities"], key=lambda p: -(alignment.get(p["encoding"]) or 0.0))
    left_out = len(panels) - MAX_PANELS
    caption = (
        "Pairs of positions by their distance in the corpus and in the encoding, most faithful first. On the dashed "
        "line an encoding says what the corpus says." + (f" {left_out} more are in the table." if left_out > 0 else "")
    )
    return density_figure(panels, metric=metric_of(run.scores), caption=caption)


def _layers(run: Run) -> Figure | None:
    if (layers := run.layers) is None:
        return None
    values = np.full((layers["n_layers"], layers["n_heads"]), np.nan)
    for row in layers["rows"]:
        head, layer = row.get("head"), row["layer"]
        inside = head is not None and 0 <= layer < values.shape[0] and 0 <= head < values.shape[1]
        if row["weights"] == "trained" and inside and row["alignment"] is not None:
            values[layer, head] = row["alignment"]
    return layers_figure(
        values,
        title="Layers and heads",
        caption=f"{layers['stack'].capitalize()}: alignment of P M, the positions (P: {layers['input']}) as the "
        "query-key product M of each head sees them, with "
        f"{layers['metric']} distances ({layers['estimator']}) of {len(layers['positions_used']):,} positions. "
        "Grey: undefined.",
    )


def _warp(build: Callable[[dict[str, Any]], Figure | None], run: Run) -> Figure | None:
    return None if run.warp is None else build(run.warp)


def _of_one(build: Callable[[Sequence[Run]], Figure | None], run: Run) -> Figure | None:
    return build([run])


KINDS: Mapping[str, Callable[[Run], Figure | None]] = MappingProxyType(
    {
        "scorecard": _scorecard,
        "matrix": _matrix,
        "lag": _lag,
        "spectrum": _spectrum,
        "map": _map,
        "logo": _logo,
        "depth": _depth,
        "density": _density,
        "violations": violations,
        "width": width,
        "depth-curve": depth_curve,
        "warp": partial(_warp, warp_figure),
        "left-out": partial(_warp, left_out_figure),
        "layers": _layers,
        **{name: partial(_of_one, build) for name, build in TRAINING_KINDS.items()},
    }
)
"""What can be drawn of a run, by name."""
