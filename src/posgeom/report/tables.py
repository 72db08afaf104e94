"""Tables of a page: cells as plain values, which the template escapes."""

from collections.abc import Sequence
from typing import Any

from posgeom.report.run import Run
from posgeom.tables import Bar, Cell, Column, Table, cell

Document = dict[str, Any]
_N_FIRST = 5
_BAR_START, _BAR_LENGTH = 4.0, 136.0


LEADING = "alignment"
_SCORES = (
    ("scaled stress", "stress_scaled", ".3f"),
    ("Pearson", "pearson", ".3f"),
    ("raw stress", "stress_raw", ".3g"),
    ("scale c", "scale", ".3g"),
    ("Spearman", "spearman", ".3f"),
    ("violations", "violation_rate", ".2%"),
    ("ties", "tie_rate", ".1%"),
    ("min. separation", "min_separation", ".3g"),
    ("effective rank", "effective_rank", ".1f"),
)


def scorecard_table(scores: Document, name: str = "") -> Table:
    """Every score of every encoding, by alignment."""
    ceiling = (scores.get("noise_ceiling") or {}).get(LEADING) or {}
    encodings = sorted(scores["encodings"], key=lambda e: (e[LEADING] is None, -(e[LEADING] or 0.0)))
    ends = [v for e in encodings for v in (e[LEADING], _interval(e, LEADING)[1]) if v is not None]
    largest = max([*ends, ceiling.get("high") or ceiling.get("value") or 0.0, 1e-12])
    rows = [
        [
            Cell(e["name"], e["name"]),
            _bar(e, ceiling, largest),
            _number(e[LEADING], ".3f", _interval(e, LEADING)),
            *(_number(e[key], spec, _interval(e, key)) for _, key, spec in _SCORES),
            Cell("-" if e["n_dims"] is None else f"{e['n_dims']:,}", "" if e["n_dims"] is None else e["n_dims"]),
        ]
        for e in encodings
    ]
    level = (scores.get("uncertainty") or {}).get("level", 0.95)
    caption = "Press a heading to sort."
    if any(e.get("intervals") for e in encodings):
        caption += f" Bars and brackets: {level:.0%} intervals{_samples(scores)}; those of stress are approximate."
    if ceiling.get("value") is not None:
        caption += f" Dashed: {ceiling['value']:.3f}, what half of the corpus has in common with the other half."
    if scores.get("alignment_undefined"):
        caption += f" Alignment is undefined: {scores['alignment_undefined']}."
    titles = ["encoding", "", "alignment", *(title for title, _, _ in _SCORES), "width d"]
    columns = [Column(title or "alignment, drawn", sorted=title == "alignment") for title in titles]
    return Table(caption, columns, rows, name, sortable=True, n_first=_N_FIRST)


def comparison_tables(runs: Sequence[Run]) -> list[Table]:
    """Runs side by side: their alignment, and what they are."""
    names = list(dict.fromkeys(e["name"] for run in runs for e in (run.scores or {})["encodings"]))
    by_run = [{e["name"]: e for e in (run.scores or {})["encodings"]} for run in runs]
    rows = [
        [
            Cell(name, name),
            *(
                _number(known[name][LEADING], ".3f", _interval(known[name], LEADING)) if name in known else Cell("-")
                for known in by_run
            ),
        ]
        for name in names
    ]
    columns = [Column("encoding"), *(Column(run.name) for run in runs)]
    alignment = Table("Alignment. Press a heading to sort. -: not scored there.", columns, rows, sortable=True)
    quantities = [
        [Cell(label), *(Cell(text) for text in texts)]
        for label, texts in _quantities([run.scores or {} for run in runs]).items()
    ]
    return [alignment, Table("What was analysed.", [Column("quantity"), *columns[1:]], quantities)]


def _quantities(several: Sequence[Document]) -> dict[str, list[str | None]]:
    return {
        "documents": [f"{s['corpus']['documents']:,}" for s in several],
        "tokens counted": [f"{s['corpus']['tokens']:,}" for s in several],
        "positions used": [f"{len(s['positions_used']):,} of {s['n_positions']:,}" for s in several],
        "estimator": [s["estimator"] for s in several],
        "metric": [s["metric"] for s in several],
        "mean squared distance, plug-in": [_text(s["mean_squared_distance"]["plugin"]) for s in several],
        "mean squared distance, cross-validated": [_text(s["mean_squared_distance"]["crossval"]) for s in several],
        "spectrum: negative mass": [f"{s['spectrum_negative_mass']:.1%}" for s in several],
    }


def _samples(scores: Document) -> str:
    depth = scores.get("common_depth")
    return "" if depth is None else f", of samples of {depth:,} documents"


def _text(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"


def _interval(encoding: Document, score: str) -> tuple[float | None, float | None]:
    interval = (encoding.get("intervals") or {}).get(score) or {}
    return interval.get("low"), interval.get("high")


def _number(value: float | None, spec: str, interval: tuple[float | None, float | None] = (None, None)) -> Cell:
    low, high = interval
    between = "" if low is None or high is None else f"[{low:{spec}}, {high:{spec}}]"
    return cell(None if value is None else float(value), spec, interval=between)


def _bar(encoding: Document, ceiling: Document, largest: float) -> Cell:
    value = encoding[LEADING]
    if value is None:
        return Cell(None)

    def place(number: float) -> float:
        return round(_BAR_START + _BAR_LENGTH * min(max(number, 0.0), largest) / largest, 2)

    low, high = _interval(encoding, LEADING)
    spread = None if low is None or high is None else (place(low), place(high))
    marked = None if ceiling.get("value") is None else place(ceiling["value"])
    band = None
    if ceiling.get("low") is not None and ceiling.get("high") is not None:
        band = (place(ceiling["low"]), place(ceiling["high"]) - place(ceiling["low"]))
    return Cell(f"{value:.3f} of {largest:.3f}", value, bar=Bar(place(value), spread, marked, band))
