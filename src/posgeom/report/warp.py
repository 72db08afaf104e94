"""The warps of a corpus as JSON, sentences, tables and charts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console

from posgeom.chart_data import CROSSVAL, PLUGIN
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.warps import TableWarp
from posgeom.inference.jackknife import Estimate, Interval
from posgeom.inference.left_out import LeftOut
from posgeom.inference.warp import LINE, SINUSOID, WarpFit, is_above_zero, warp_band
from posgeom.messages import printable
from posgeom.report.charts.figure import Figure, Row
from posgeom.report.charts.lines import Lines, Quantity, lines_figure
from posgeom.report.terminal import print_paragraph, print_table
from posgeom.tables import Table

FORMULAS = {
    "log": "log(1 + t / c)",
    "power": "t^a",
    "reciprocal": "t / (c + t)",
    "monotone": "any that never falls",
    "smooth": "monotone, smoothed",
}
"""What each family is, t the position counted from the first one used."""
SCHEMA_VERSION = 2
NO_PROMISE = "A warp describes the data; it is not known to make a better model."
_MOST_POINTS, _BEYOND = 96, 2
_LEFT_OUT = "Without the first positions"


def warp_document(fit: WarpFit, left_out: Sequence[LeftOut], counts: PositionCounts | None = None) -> dict[str, Any]:
    """Everything that is known of the warps of a corpus, JSON-serialisable; None is undefined."""
    geometry, level = fit.geometry, fit.level
    document = {
        "schema_version": SCHEMA_VERSION,
        "n_positions_used": int(geometry.positions.size),
        "first_position": int(geometry.positions[0]),
        "last_position": int(geometry.positions[-1]),
        "metric": geometry.metric.name,
        "estimator": geometry.estimator,
        "common_depth": geometry.depth,
        "n_folds": fit.n_folds,
        "out_of_sample": fit.out_of_sample,
        "level": level,
        "families": [_family(fit, one.name) for one in fit.families],
        "best": fit.best,
        "told_apart": fit.told_apart,
        "is_line": fit.is_line,
        "undefined": fit.undefined,
        "mds_1_less_best": _numbers(fit.beyond_lines, level),
        "alignment": {SINUSOID: _numbers(fit.sinusoidal, level), LINE: _numbers(fit.line, level)}
        | {f"mds:rank={rank}": _numbers(value, level) for rank, value in fit.mds.items()},
        "left_out": [
            {
                "first_position": row.first,
                "n_positions": row.n_positions,
                "share_of_squared_norm": _numbers(row.share, level),
                "alignment": {name: _numbers(value, level) for name, value in row.alignments.items()},
            }
            for row in left_out
        ],
        "findings": warp_findings(fit),
    }
    if counts is not None:
        document |= {"sources": list(counts.sources), "documents": counts.n_documents}
    return document


def warp_findings(fit: WarpFit) -> list[str]:
    """What the warps say of a corpus, in sentences."""
    if fit.best is None:
        return [f"No warp is fitted: {fit.undefined}."]
    best, gaps = fit[fit.best], fit.advantages
    where = "fitted on half of the folds and scored on the other half" if fit.out_of_sample else "in sample"
    lead = f"{_spelt(fit, fit.best)} fits best: alignment {_with_interval(best.alignment, fit.level)}, {where}"
    if gaps:
        close = [name for name, gap in gaps.items() if not is_above_zero(gap, fit.level)]
        lead += f"; not told apart from {' and '.join(close)}" if close else "; told apart from all other families"
    sentences = [f"{lead}."]
    if best.at_limit:
        sentences.append(
            f"Its parameter lies at the {best.at_limit} end of what is searched: the family has no best member inside."
        )
    rank = max(fit.mds)
    gap = _with_interval(fit.beyond_lines, fit.level)
    if fit.is_line:
        text = f"One axis, spaced by a warp, explains no less than MDS of rank 1 (its advantage: {gap})"
        further = fit.mds[rank].minus(Estimate(best.alignment.value)).value
        if rank > 1 and further is not None and further > 0:
            text += f"; further axes exist, and MDS of rank {rank} has alignment {fit.mds[rank].value:.3f}"
    else:
        text = (
            "Positions of this corpus do not lie on a line: MDS of rank 1 has more alignment than the best monotone "
            f"warp, {fit.mds[1].value:.3f}, by {gap}. Use mds:rank={rank} (alignment {fit.mds[rank].value:.3f}) "
            "instead, where that difference is large enough to matter"
        )
    return [*sentences, f"{text}.", NO_PROMISE]


def warp_table(fit: WarpFit) -> Table:
    """The families and what they are compared with, best first."""
    rows = [
        [
            one.name,
            FORMULAS[one.name],
            "" if one.parameter is None else f"{one.parameter:.4g}",
            f"at the {one.at_limit} limit" if one.at_limit else _bounds(one.parameter_interval, ".4g"),
            one.alignment.value,
            _bounds(one.alignment.interval(fit.level), ".3f"),
        ]
        for one in fit.families
    ]
    others = {SINUSOID: fit.sinusoidal, LINE: fit.line} | {f"mds, rank {rank}": one for rank, one in fit.mds.items()}
    rows += [[name, "", "", "", one.value, _bounds(one.interval(fit.level), ".3f")] for name, one in others.items()]
    titles = ("warp", "f(t)", "parameter", f"{100 * fit.level:g} %", "alignment", f"{100 * fit.level:g} % of it")
    return Table.of("Lines under warps of the position", titles, rows, ".3f")


def left_out_table(left_out: Sequence[LeftOut], level: float) -> Table:
    """Share of |B|^2 and alignment from each first position on."""
    names = list(left_out[0].alignments)
    rows = [
        [f"{row.first:,}", _plus_minus(row.share, level), *(_plus_minus(row.alignments[n], level) for n in names)]
        for row in left_out
    ]
    return Table.of(_LEFT_OUT, ("from", "share of |B|^2", *names), rows)


def print_warp(fit: WarpFit, left_out: Sequence[LeftOut], console: Console) -> None:
    """Print the families, what is left without the first positions, and what both say."""
    print_table(warp_table(fit), console)
    geometry = fit.geometry
    depth = "" if geometry.depth is None else f" of samples of {geometry.depth:,} documents a fold"
    print_paragraph(
        f"{geometry.metric.name}, {geometry.estimator}{depth}; positions {geometry.positions[0]:,} to "
        f"{geometry.positions[-1]:,}, t counted from the first; intervals leave out each of {fit.n_folds or 0} folds.",
        console,
    )
    if left_out:
        console.print()
        print_table(left_out_table(left_out, fit.level), console)
        print_paragraph(
            f"share of |B|^2: of the geometry of the positions that are left, by themselves; ±: {100 * fit.level:g} % "
            "intervals.",
            console,
        )
    console.print()
    for sentence in warp_findings(fit):
        print_paragraph(printable(sentence), console, bullet="- ")


def warp_figure(document: dict[str, Any]) -> Figure | None:
    """The chart of a document's warps by position, or None where nothing could be fitted."""
    curves: list[Row] = [{"warp": one["name"]} | point for one in document["families"] for point in one["curve"]]
    if not curves:
        return None
    return lines_figure(
        curves,
        name="warp",
        title="Warp of the position",
        x=Quantity("position", "position", "position"),
        y=Quantity("value", "f, from 0 at the first to 1 at the last", "f", spec=".3f"),
        lines=Lines("warp", level=document["level"]),
        caption=f"Where positions lie on a line, by the best warp of each family, from 0 at the first position "
        f"to 1 at the last; bands are {100 * document['level']:g} % intervals. {_sample(document)}. Values above 1, "
        f"behind the last position, are extrapolated. {NO_PROMISE}",
    )


def left_out_figure(document: dict[str, Any]) -> Figure | None:
    """The chart of alignment as the first positions are left out, or None where that was not asked for."""
    rows: list[Row] = [
        {"line": name, "first_position": row["first_position"], "alignment": numbers["value"]}
        | {"low": numbers["low"], "high": numbers["high"]}
        for row in document["left_out"]
        for name, numbers in [*row["alignment"].items(), ("share of |B|^2", row["share_of_squared_norm"])]
        if numbers["value"] is not None
    ]
    if not rows:
        return None
    return lines_figure(
        rows,
        name="left-out",
        title=_LEFT_OUT,
        x=Quantity("first_position", "first position that is kept", "first position"),
        y=Quantity("alignment", "alignment, or share", "alignment or share", spec=".3f"),
        lines=Lines("line", points=True, level=document["level"]),
        caption=f"Alignment of lines under warps that are fitted anew, and the share of |B|^2, as the first "
        f"positions are left out; bands are {100 * document['level']:g} % intervals. {_sample(document)}.",
    )


def _sample(document: dict[str, Any]) -> str:
    estimator = CROSSVAL if document["estimator"] == "crossval" else PLUGIN
    return f"{estimator.capitalize()} distances, {document['n_folds'] or 0} groups of folds"


def _family(fit: WarpFit, name: str) -> dict[str, Any]:
    one, bounds = fit[name], fit[name].parameter_interval
    gap = Estimate(0.0) if name == fit.best else fit.advantages.get(name, Estimate(None))
    alignment = _numbers(one.alignment, fit.level)
    return {
        "name": name,
        "formula": FORMULAS[name],
        "spec": f"corpus:{name}" if one.parameter is None else str(one.warp),
        "parameter": one.parameter,
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "at_limit": one.at_limit,
        "beyond": str(one.warp.beyond) if isinstance(one.warp, TableWarp) else str(one.warp),
        "alignment": alignment["value"],
        "alignment_low": alignment["low"],
        "alignment_high": alignment["high"],
        "best_less_this": _numbers(gap, fit.level),
        "curve": [] if fit.undefined else _curve(fit, name),
    }


def _curve(fit: WarpFit, name: str) -> list[dict[str, Any]]:
    """The warp from 0 at the first used position to 1 at the last, and as far again."""
    used = fit.geometry.positions
    last = int(used[0] + _BEYOND * (used[-1] - used[0]))
    positions = np.unique(np.linspace(used[0], last, min(_MOST_POINTS, last - int(used[0]) + 1)).round().astype(int))
    return [
        {
            "position": int(position),
            "value": value,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "beyond": bool(position > used[-1]),
        }
        for position, (value, interval) in zip(positions, warp_band(fit, name, positions), strict=True)
    ]


def _spelt(fit: WarpFit, name: str) -> str:
    one = fit[name]
    if one.parameter is None:
        return f"A {name} warp without a formula"
    letter = "a" if name == "power" else "c"
    bounds = "" if one.parameter_interval is None else f" ({_bounds(one.parameter_interval, '.3g')})"
    return f"{FORMULAS[name]} with {letter} = {one.parameter:.3g}{bounds}"


def _numbers(estimate: Estimate, level: float) -> dict[str, float | None]:
    interval = estimate.interval(level)
    bounds = {"low": None, "high": None} if interval is None else {"low": interval.low, "high": interval.high}
    return {"value": estimate.value, **bounds}


def _with_interval(estimate: Estimate, level: float) -> str:
    if estimate.value is None:
        return "undefined"
    interval = estimate.interval(level)
    return f"{estimate.value:.3f}" + ("" if interval is None else f" ({_bounds(interval, '.3f')})")


def _plus_minus(estimate: Estimate, level: float) -> str:
    if estimate.value is None:
        return "undefined"
    interval = estimate.interval(level)
    return f"{estimate.value:.3f}" + ("" if interval is None else f" ±{(interval.high - interval.low) / 2:.3f}")


def _bounds(interval: Interval | None, spec: str) -> str:
    return "" if interval is None else f"{interval.low:{spec}} to {interval.high:{spec}}"
