"""The result as text for a terminal, plain characters."""

from collections.abc import Callable
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.text import Text

from posgeom.counts.position_counts import PositionCounts
from posgeom.estimation.build import Geometry
from posgeom.inference.encoding_scores import EncodingScores
from posgeom.inference.jackknife import Interval
from posgeom.inference.scorecard import Scorecard
from posgeom.messages import short_names, shown
from posgeom.policies import ENOUGH_DEPTH, SHARE_OF_DEEPEST
from posgeom.report.document import to_document
from posgeom.report.terminal import fitting, print_paragraph, print_table
from posgeom.results import Analysis
from posgeom.tables import Cell, Column, Table, cell, percent

_NAME_WIDTH = 24
_LABEL_WIDTH = 11
_INTERVAL_WIDTH = 13
OTHER_HALF = "(half against half)"
_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("n_dims", "violation_rate", "tie_rate", "effective_rank", "negative_mass")),
    "n_triples": 0,
    "min_separation": float("nan"),
    "min_separation_pair": (0, 0),
}
"""What distances without an encoding do not have."""


Scored = Callable[[EncodingScores], Cell]
_SCORES: tuple[tuple[Column, Scored], ...] = (
    (Column("align-\nment", 6), lambda r: cell(r.alignment, ".3f")),
    (Column("interval\nof it", _INTERVAL_WIDTH), lambda r: Cell(interval_text(r.intervals.get("alignment")))),
    (Column("expl.\n%", 5, 4), lambda r: percent(r.explained, ".1f")),
    (Column("scaled\nstress", 6, 1), lambda r: cell(r.stress_scaled, ".3f")),
    (Column("raw\nstress", 8, 1), lambda r: cell(r.stress_raw, ".3g")),
    (Column("scale\nc", 8, 4), lambda r: cell(r.scale, ".3g")),
    (Column("stress-\n1", 7, 7), lambda r: cell(r.stress_1, ".3f")),
    (Column("Pear-\nson", 6, 1), lambda r: cell(r.pearson, ".3f")),
    (Column("Spear-\nman", 6, 6), lambda r: cell(r.spearman, ".3f")),
    (Column("viol.\n%", 6, 1), lambda r: percent(r.violation_rate, ".2f")),
    (Column("ties\n%", 5, 5), lambda r: percent(r.tie_rate, ".1f")),
    (Column("min.\nsepar.", 8, 2), lambda r: cell(r.min_separation, ".3g")),
    (Column("eff.\nrank", 5, 3), lambda r: cell(r.effective_rank, ".1f")),
)
_COLUMNS = (Column("encoding", _NAME_WIDTH, left=True), *(column for column, _ in _SCORES))

FULL_WIDTH = sum(1 + (column.width or 0) for column in _COLUMNS) - 1
"""Columns of a terminal that every score fits in."""


def print_analysis(analysis: Analysis, console: Console) -> None:
    """Print what was analysed, the scorecard, and what to know about it."""
    for label, text in _summary(analysis):
        for number, line in enumerate(wrap(text, max(console.width - _LABEL_WIDTH, 20))):
            console.print(Text.assemble((f"{label if number == 0 else '':<{_LABEL_WIDTH}}", "bold"), line))
    console.print()
    for sentence in to_document(analysis)["findings"]:
        print_paragraph(sentence, console, bullet="* ")
    for caution in analysis.cautions:
        print_paragraph(caution, console, bullet="! ")
    console.print()
    print_table(scorecard_table(analysis.scorecard), console)
    print_paragraph(_caption(analysis.scorecard, console.width), console)
    for note in analysis.notes:
        if note not in analysis.cautions:
            print_paragraph(note, console, bullet="- ")


def _summary(analysis: Analysis) -> list[tuple[str, str]]:
    counts, geometry = analysis.counts, analysis.geometry
    named = ", ".join(_end_of(s) for s in short_names(counts.sources)[:3]) + (" ..." if len(counts.sources) > 3 else "")
    columns = f" (column {', '.join(shown(c, 30) for c in counts.columns)})" if counts.columns else ""
    specials = counts.tokenizer.n_special_tokens
    special_text = f", {specials} special tokens per sequence hold positions, uncounted" if specials else ""
    return [
        (
            "corpus",
            (
                f"{named}{columns}: {counts.n_documents:,} documents ({counts.empty_documents:,} empty), "
                f"{counts.n_tokens:,} tokens counted"
            ),
        ),
        ("tokenizer", f"{_end_of(short_names([counts.tokenizer.name])[0])}, V = {counts.vocab_size:,}{special_text}"),
        ("positions", _positions(geometry)),
        *_selected(counts),
        ("geometry", _estimator(geometry, analysis)),
        ("mean d^2", _mean_squared(analysis)),
        ("spectrum", _spectrum(geometry)),
        ("axes", _axes(analysis)),
        ("order", _order(analysis)),
    ]


def _selected(counts: PositionCounts) -> list[tuple[str, str]]:
    """Which documents were left out, and how positions were put together."""
    lines = []
    if counts.min_length is not None:
        least = f"of {counts.min_length:,} positions or more; {counts.short_documents:,} shorter ones left out"
        lines.append(("documents", least))
    if counts.bins is not None:
        low, high = counts.bins.widths.min(), counts.bins.widths.max()
        width = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        what = f"{len(counts.bins):,} {counts.bins.kind}, {width} positions wide, each at its centre; depth is tokens"
        lines.append(("bins", what))
    return lines


def _end_of(name: str, limit: int = 60) -> str:
    """A quoted name, the end of it where it is long: that of a path says most."""
    return shown(name if len(name) <= limit else "..." + name[3 - limit :])


def _positions(geometry: Geometry) -> str:
    selection = geometry.selection
    used, n = selection.positions, geometry.n_positions
    how = "as given"
    if selection.chosen_automatically:
        how = f"chosen: the larger of {100 * SHARE_OF_DEEPEST:.0f} % of the deepest and {ENOUGH_DEPTH}"
    empty = f"{selection.empty.size:,} without data ({'uniform' if geometry.empty == 'uniform' else 'masked'})"
    return (
        f"{used.size:,} of n = {n:,} used ({_ranges(used.tolist())}); {empty}, {selection.shallow.size:,} below the "
        f"minimum depth {selection.min_depth:,} ({how})"
    )


def _ranges(numbers: list[int], limit: int = 4) -> str:
    """Runs of consecutive numbers, as ``1-31, 40``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    texts = [f"{a}-{b}" if b > a else f"{a}" for a, b in runs]
    return ", ".join(texts[:limit]) + (", ..." if len(texts) > limit else "")


def _estimator(geometry: Geometry, analysis: Analysis) -> str:
    if geometry.estimator == "plugin":
        how = "plug-in at full depth"
    else:
        folds = f"{geometry.n_folds} folds"
        if geometry.n_folds_used < geometry.n_folds:
            folds = f"the {geometry.n_folds_used} of {folds} that hold documents"
        if geometry.depth is None:
            how = f"cross-validated, all pairs of {folds}, full depth"
        else:
            n_groups = len(geometry.fold_groups)
            parts = "" if n_groups == geometry.n_folds_used else f" (in {n_groups} parts)"
            how = f"cross-validated, all pairs of {folds}{parts}, of samples of {geometry.depth:,} documents"
    return f"{geometry.metric.name}, {how}; convention {analysis.convention}, seed {analysis.seed}"


def _axes(analysis: Analysis) -> str:
    tested = analysis.significance
    if tested is None:
        return "significance not known"
    share = "" if tested.signal_share is None else f" and hold {100 * tested.signal_share:.0f} % of the inertia"
    last = list(enumerate(tested.axes, start=1))[-3:]
    p_values = ", ".join(f"axis {k} {_p_value(axis.p_value)}" for k, axis in last)
    return (
        f"{tested.rank} are more than noise{share}, by {tested.n_patterns:,} patterns of signs of folds at level "
        f"{tested.alpha:g}; p: {p_values}"
    )


def _p_value(p: float) -> str:
    return f"{p:.2g}"


def _order(analysis: Analysis) -> str:
    rates = {
        "plug-in": analysis.order.plugin,
        "cross-validated": analysis.order.crossval,
        "its significant axes": analysis.order.significant,
    }
    return "violations of monotonicity: " + ", ".join(
        f"{name} {100 * rate:.1f} %" for name, rate in rates.items() if rate is not None
    )


def _mean_squared(analysis: Analysis) -> str:
    geometry, mean = analysis.geometry, analysis.mean_squared
    plugin = geometry.plugin.mean_squared
    if geometry.crossval_full_depth is None:
        return f"plug-in {plugin:.4f} (scored on)"
    text = f"plug-in {plugin:.4f}, cross-validated {geometry.crossval_full_depth.mean_squared:.4f} at full depth"
    share = analysis.noise_share
    if share is not None and share.value is not None and share.value > 0:
        known = share.interval(analysis.level)
        between = "" if known is None else f" [{100 * known.low:.1f}, {100 * known.high:.1f}]"
        text += (
            f" ({100 * min(share.value, 1):.0f} %{between} of the plug-in does not show in both halves of the corpus)"
        )
    text += f"; {geometry.distances.mean_squared:.4f}"
    interval = mean.interval(analysis.level)
    if interval is not None:
        text += f" [{interval.low:.4f}, {interval.high:.4f}]"
    if geometry.depth is None:
        return f"{text} of folds at full depth (scored on)"
    return f"{text} of samples of {geometry.depth:,} documents (scored on)"


def _spectrum(geometry: Geometry) -> str:
    explained = geometry.spectrum.explained
    rank = "not computed" if geometry.rank is None else geometry.rank
    leading = ", ".join(f"{100 * share:.1f} %" for share in explained[:3]) or "none"
    return (
        f"rank {rank} (plug-in, all positions); leading axes {leading} of the positive inertia; negative "
        f"mass {100 * geometry.spectrum.negative_mass:.1f} %"
    )


def _caption(card: Scorecard, width: int) -> str:
    estimator = {"crossval": "cross-validated", "plugin": "plug-in"}[card.estimator]
    text = f"Against {estimator} distances of {card.n_positions_used:,} positions. "
    if card.level is not None:
        samples = "" if card.depth is None else f", of samples of {card.depth:,} documents"
        text += f"Intervals: {100 * card.level:g} %, jackknife over {card.n_folds} parts of the corpus{samples}. "
    if card.ceiling:
        text += f"{OTHER_HALF}: what the distances of one half of the corpus score against the other half. "
    text += (
        f"viol., ties: of the encoding's own distances, over {card.rows[0].n_triples:,} triples. undef: undefined. "
        "docs/guide.md explains the scores."
    )
    left_out = len(_COLUMNS) - len(fitting(_COLUMNS, width))
    return f"{text} {left_out} scores do not fit this terminal; --json has them." if left_out else text


def scorecard_table(card: Scorecard) -> Table:
    """The scorecard as a table for a terminal, the highest alignment first."""
    scored = card.by_alignment()
    if card.ceiling:
        scored.append(EncodingScores(OTHER_HALF, intervals=card.ceiling_intervals, **_NOTHING | card.ceiling))
    return Table("", _COLUMNS, [[Cell(row.name), *(of(row) for _, of in _SCORES)] for row in scored])


def interval_text(interval: Interval | None) -> str:
    """An interval in the width of its column, with fewer digits where the numbers are large; empty without one."""
    if interval is None:
        return ""
    texts = [f"{interval.low:{spec}} {interval.high:{spec}}" for spec in (".3f", ".2f", ".0f", ".0e")]
    return next((text for text in texts if len(text) <= _INTERVAL_WIDTH), texts[-1])
