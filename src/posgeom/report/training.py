"""Runs of training: what is told, drawn and tabled of them, one or several side by side."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.console import Console

from posgeom.messages import printable, short_names
from posgeom.policies import LEVEL
from posgeom.report.charts.figure import Figure, Row, known
from posgeom.report.charts.lines import Lines, Quantity, lines_figure
from posgeom.report.run import Run
from posgeom.report.terminal import print_paragraph, print_table
from posgeom.tables import Cell, Column, Table, cell, percent

Document = dict[str, Any]
_NORMAL = 1.959964
"""Half-width of a 95 % interval in standard errors, for means over hundreds of documents."""
_STEP = (Column("step", 6), lambda r: Cell(f"{r['step']:,}"))
_SEPARATION = (Column("min.\nsepar.", 6), lambda r: cell(r["min_separation"], ".4f"))
_RECORDS: tuple[tuple[Column, Callable[[Document], Cell]], ...] = (
    _STEP,
    _SEPARATION,
    (Column("of", 7, 3), lambda r: Cell(f"{r['closest_i']}, {r['closest_j']}")),
    (Column("alignment", 9), lambda r: cell(r["alignment"], ".3f")),
    (Column("interval\nof it", 13), lambda r: Cell(_bounds(r))),
    (Column("scaled\nstress", 6, 2), lambda r: cell(r["stress_scaled"], ".3f")),
    (Column("raw\nstress", 6, 5), lambda r: cell(r["stress_raw"], ".3g")),
    (Column("Pearson", 7, 4), lambda r: cell(r["pearson"], ".3f")),
    (Column("viol.\n%", 5, 1), lambda r: percent(r["violation_rate"], ".1f")),
    (Column("eff.\nrank", 5, 6), lambda r: cell(r["effective_rank"], ".1f")),
    (Column("moved\n%", 6, 1), lambda r: percent(r["moved"], ".1f")),
    (Column("held-out\nloss", 8), lambda r: cell(r["loss"], ".4f")),
    (Column("accuracy\n%", 8), lambda r: percent(r["accuracy"], ".1f")),
)
_HYPOTHESES: tuple[tuple[Column, Callable[[Document], Cell]], ...] = (
    _STEP,
    (Column("H1: mean embeddings\ndiffer", 19), lambda r: _pairs(r, "h1")),
    (Column("H2: swaps\nraise the loss", 15), lambda r: _pairs(r, "h2")),
    (Column("H3: M sees\nthe difference", 15), lambda r: _pairs(r, "h3")),
    (Column("all\nthree", 12), lambda r: _pairs(r, "all")),
    _SEPARATION,
)
"""Theorem 4 at every record."""
_THEOREM = (
    "Theorem 4 along training: pairs of positions that each hypothesis is shown for, of those tested, at level .05 for "
    "all pairs together. Where all three hold, every global minimiser of the loss has distinct positions; no trained "
    "model is known to be one, and rows drawn at random are distinct without any theorem."
)


def training_findings(run: Document) -> list[str]:
    """What a run of training shows: whether positions stay apart, what they come near to, and what was learned."""
    return [_separation(run), _nearness(run), _learned(run)]


def _separation(run: Document) -> str:
    records, first, last = run["records"], run["records"][0], run["records"][-1]
    least = min(records, key=lambda r: r["min_separation"])
    if least["min_separation"] > 0:
        verdict = "and is positive at each of them: no two positions have one vector"
    else:
        pair = f"{least['closest_i']} and {least['closest_j']}"
        verdict = f"and is 0 at step {least['step']:,}: positions {pair} have one vector"
    return (
        f"The minimum separation of {run['preset']['n_positions']} positions is {first['min_separation']:.4g} at step "
        f"{first['step']:,} and {last['min_separation']:.4g} at step {last['step']:,} ({len(records)} steps looked "
        f"at), {verdict}."
    )


def _nearness(run: Document) -> str:
    shape, first, last = run["geometry"], run["records"][0], run["records"][-1]
    moved = "" if last["moved"] is None else f"; the table has moved by {last['moved']:.1%} of its norm"
    if shape is None or last["alignment"] is None:
        return f"Alignment with the documents trained on is undefined{moved}."
    sample = f"{shape['estimator']} distances of {len(shape['positions_used'])} positions"
    sample += f", {run['task']['train_documents']:,} documents"
    return (
        f"Alignment with the geometry of the documents trained on ({sample}) goes from {_aligned(first)} to "
        f"{_aligned(last)}{moved}."
    )


def _aligned(record: Document) -> str:
    if record["alignment"] is None:
        return "undefined"
    if record["alignment_low"] is None:
        return f"{record['alignment']:.3f}"
    return (
        f"{record['alignment']:.3f} ({LEVEL:.0%} interval {record['alignment_low']:.3f} to "
        f"{record['alignment_high']:.3f})"
    )


def _learned(run: Document) -> str:
    task, first, last = run["task"], run["records"][0], run["records"][-1]
    half = _NORMAL * last["accuracy_error"]
    low, high = max(last["accuracy"] - half, 0.0), min(last["accuracy"] + half, 1.0)
    chance = "" if task["chance"] is None else f", where the best constant answer has {task['chance']:.1%}"
    return (
        f"On {task['held_out_documents']:,} held-out documents the loss goes from {first['loss']:.4g} to "
        f"{last['loss']:.4g}, the accuracy to {last['accuracy']:.1%} ({LEVEL:.0%} interval {low:.1%} to {high:.1%}, of "
        f"one run){chance}."
    )


def training_lead(run: Document) -> str:
    """What was trained, in one line."""
    options, model = run["options"], run["model"]
    source = "from scratch" if options["model"] is None else f"from {options['model']}"
    rank = "" if options["rank"] is None else f" as a product of rank {options['rank']}"
    how = "" if options["encoding"] == "none" else ", frozen" if options["frozen"] else ", learned on"
    return printable(
        f"{model['class']}, {model['n_layers']} layers of width {model['width']}, {source}; positions: "
        f"{options['encoding']}{how}{rank}; task {run['task']['name']}; seed {options['seed']}"
    )


def training_provenance(run: Document) -> list[tuple[str, str]]:
    """Where the numbers of a run of training come from."""
    task, model, machine, preset = run["task"], run["model"], run["machine"], run["preset"]
    shape = run["geometry"]
    return [
        ("sources", ", ".join(short_names(run["sources"]))),
        ("task", f"{task['name']}: {task['description']}"),
        ("trained on", f"{task['train_examples']:,} examples of {task['train_documents']:,} documents"),
        ("held out", f"{task['held_out_documents']:,} documents: {task['held_out']}"),
        ("what was trained", training_lead(run)),
        ("parameters", f"{model['parameters']:,}, {model['trained_parameters']:,} of them trained"),
        ("steps", f"{run['records'][-1]['step']:,} of {preset['batch_size']} examples"),
        ("geometry", "none" if shape is None else f"{shape['metric']}, {shape['estimator']}"),
        ("computed on", f"{machine['device']}, {machine['precision']}, {machine['seconds']:.0f} s"),
        (
            "software",
            f"posgeom {run['software']['version']}, torch {machine['torch']}, transformers {machine['transformers']}",
        ),
    ]


def _lines(runs: Sequence[Run], y: str, low: str | None = None, high: str | None = None) -> list[Row]:
    bounds = {"low": low, "high": high}
    return [
        {"run": run.name, "encoding": run.training["options"]["encoding"], "step": r["step"], y: r[y]}
        | {name: None if key is None else r[key] for name, key in bounds.items()}
        for run in runs
        if run.training is not None
        for r in run.training["records"]
    ]


def _separation_figure(runs: Sequence[Run]) -> Figure | None:
    return _figure(
        "separation",
        "Minimum separation along training",
        _lines(runs, "min_separation"),
        "min_separation",
        "min |p_i - p_j|",
        "Distance of the two nearest positions of the table. At 0 two positions would be one to the model.",
    )


def _alignment_figure(runs: Sequence[Run]) -> Figure | None:
    return _figure(
        "alignment-steps",
        "Alignment along training",
        _lines(runs, "alignment", "alignment_low", "alignment_high"),
        "alignment",
        "alignment",
        "How much of the geometry of the documents trained on the table has: 1 is the same geometry up to scale. "
        "Bands: 95 % intervals (jackknife over folds). It does not predict performance.",
    )


def _loss_figure(runs: Sequence[Run]) -> Figure | None:
    return _figure(
        "loss",
        "Held-out loss along training",
        _lines(runs, "loss"),
        "loss",
        "mean cross-entropy, nats",
        "Of documents that were held out, of one run each.",
    )


def _figure(name: str, title: str, rows: list[Row], y: str, y_title: str, caption: str) -> Figure | None:
    if not known(rows, y):
        return None
    of_run = {row["run"]: row["encoding"] for row in rows}
    # Runs that differ in their encoding are told apart by it.
    field = "encoding" if len(set(of_run.values())) == len(of_run) > 1 else "run"
    return lines_figure(
        rows,
        name=name,
        title=title,
        x=Quantity("step", "optimiser step", "step"),
        y=Quantity(y, y_title, y_title, spec=".4f"),
        lines=Lines(field, points=True, level=LEVEL),
        caption=caption,
    )


TRAINING_KINDS: Mapping[str, Callable[[Sequence[Run]], Figure | None]] = MappingProxyType(
    {"separation": _separation_figure, "alignment-steps": _alignment_figure, "loss": _loss_figure}
)
"""What is drawn of runs of training, all of them in one chart, by name."""


def training_tables(run: Document, name: str = "") -> list[Table]:
    """Every record of a run: positions and what is held out, and the hypotheses of Theorem 4."""
    caption = (
        "Records along training. of: the pair that is nearest. moved: distance from the table at the start, of its "
        "norm. loss and accuracy are of held-out documents."
    )
    return [
        Table(
            about, [column for column, _ in columns], [[show(r) for _, show in columns] for r in run["records"]], name
        )
        for about, columns in ((caption, _RECORDS), (_THEOREM, _HYPOTHESES))
    ]


def print_training(run: Document, console: Console) -> None:
    """Print a run of training."""
    print_paragraph(training_lead(run), console)
    for table in training_tables(run):
        console.print()
        print_table(table, console)
        print_paragraph(table.caption, console)
    console.print()
    for sentence in training_findings(run):
        print_paragraph(sentence, console)
    for note in run["notes"]:
        print_paragraph(printable(note), console, bullet="- ")


def _bounds(record: Document) -> str:
    low, high = record["alignment_low"], record["alignment_high"]
    return "" if low is None or high is None else f"{low:.3f} {high:.3f}"


def _pairs(record: Document, name: str) -> Cell:
    return Cell(None) if record[name] is None else Cell(f"{record[name]} of {record[f'{name}_pairs']}")
