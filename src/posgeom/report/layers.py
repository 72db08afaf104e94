"""What `posgeom layers` gives: one plain object, files, and text for a terminal."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from posgeom.messages import short_names, shown
from posgeom.models.family import Stack
from posgeom.models.layers import LayerAnalysis, LayerRow
from posgeom.models.projection import ProjectionScores
from posgeom.report.files import os_errors_named
from posgeom.report.terminal import UNDEFINED, print_paragraph, print_table
from posgeom.tables import Cell, Column, Table, cell, percent

JSON, ROWS, HEAT_MAP, KERNELS = "layers.json", "layers.parquet", "heatmap.csv", "kernels.parquet"


def layers_document(analysis: LayerAnalysis) -> dict[str, Any]:
    """Everything of an analysis of layers."""
    geometry, stack = analysis.geometry, analysis.stack
    return {
        "schema_version": 2,
        "model": analysis.model.checkpoint.name,
        "model_type": analysis.model.model_type,
        "stack": stack.name,
        "n_layers": stack.n_layers,
        "n_uses": stack.n_uses,
        "n_heads": stack.n_heads,
        "n_key_heads": stack.n_key_heads,
        "head_dim": stack.head_dim,
        "width": stack.width,
        "input": analysis.input,
        "seed": analysis.seed,
        "metric": geometry.metric.name,
        "estimator": geometry.estimator,
        "n_positions": geometry.n_positions,
        "positions_used": geometry.distances.positions.tolist(),
        "rows": analysis.to_dicts(),
        "kernel_content": analysis.content,
        "kernels": [{"layer": k.layer, "head": k.head, "values": k.values.tolist()} for k in analysis.kernels],
        "notes": list(analysis.notes),
    }


def write_layers(analysis: LayerAnalysis, stage: Path, target: Path) -> list[str]:
    """Write an analysis of layers to a scratch directory."""
    with os_errors_named(target):
        text = json.dumps(layers_document(analysis), indent=1, allow_nan=False)
        (stage / JSON).write_text(text + "\n", encoding="ascii")
        _write_parquet(analysis.to_dicts(), stage / ROWS)
        _write_heat_map(analysis, stage / HEAT_MAP)
        if analysis.kernels:
            rows = [
                {"layer": k.layer, "head": k.head, "lag": lag, "value": value}
                for k in analysis.kernels
                for lag, value in enumerate(k.values.tolist())
            ]
            _write_parquet(rows, stage / KERNELS)
    return [JSON, ROWS, HEAT_MAP, *([KERNELS] if analysis.kernels else [])]


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), path)


def heat_map(analysis: LayerAnalysis, score: str = "alignment") -> list[list[float | None]]:
    """A score of the trained weights, one row per layer and one column per head; None where it is undefined."""
    matrix: list[list[float | None]] = [[] for _ in range(analysis.stack.n_layers)]
    for row in analysis.rows:
        if row.weights == "trained" and row.head is not None:
            matrix[row.layer].append(getattr(row.scores, score))
    return matrix


def _write_heat_map(analysis: LayerAnalysis, path: Path) -> None:
    with path.open("w", newline="", encoding="ascii") as stream:
        writer = csv.writer(stream)
        writer.writerow(["layer", *(f"head {head}" for head in range(analysis.stack.n_heads))])
        for layer, values in enumerate(heat_map(analysis)):
            writer.writerow([layer, *("" if value is None else value for value in values)])


_SCORES: tuple[tuple[Column, Callable[[ProjectionScores], Cell]], ...] = (
    (Column("align-\nment", 6), lambda s: cell(s.alignment, ".3f")),
    (Column("raw\nstress", 8), lambda s: cell(s.stress_raw, ".3g")),
    (Column("scaled\nstress", 6, 2), lambda s: cell(s.stress_scaled, ".3f")),
    (Column("scale\nc", 8, 4), lambda s: cell(s.scale, ".3g")),
    (Column("Pear-\nson", 6, 2), lambda s: cell(s.pearson, ".3f")),
    (Column("viol.\n%", 5, 3), lambda s: percent(s.violation_rate, ".1f")),
    (Column("norm\nof M", 8, 1), lambda s: cell(s.norm, ".3g")),
    (Column("anti-\nsym. %", 6, 5), lambda s: percent(s.antisymmetric_share, ".1f")),
    (Column("eff.\nrank", 5, 6), lambda s: cell(s.effective_rank, ".4g")),
)
_LABEL, _HEADS, _FRESH, _KERNEL = 9, 13, 16, 9


def print_layers(analysis: LayerAnalysis, console: Console, *, heads: bool = False) -> None:
    """Print an analysis of layers."""
    stack, geometry = analysis.stack, analysis.geometry
    keys = f" ({stack.n_key_heads} key heads)" if stack.n_key_heads != stack.n_heads else ""
    (model,) = short_names([analysis.model.checkpoint.name])
    print_paragraph(
        f"{shown(model)}, {stack.name}: {_layers(stack)}, {stack.n_heads} heads of "
        f"{stack.head_dim}{keys}, width {stack.width}; input P: {analysis.input}; against {geometry.metric.name} "
        f"distances ({geometry.estimator}) of {len(geometry.distances):,} positions; seed {analysis.seed}",
        console,
    )
    console.print()
    print_table(_table(analysis, heads=heads), console)
    if analysis.kernels:
        console.print()
        print_paragraph(f"Position kernel E[q_i . k_j] by lag, mean over {analysis.content}:", console)
        print_table(_kernel_table(analysis, console.width, heads=heads), console)
    for note in analysis.notes:
        print_paragraph(note, console, bullet="- ")


def _layers(stack: Stack) -> str:
    if stack.n_uses:
        return f"{stack.n_uses} layers that share {stack.n_layers} set{'s' * (stack.n_layers > 1)} of weights"
    return f"{stack.n_layers} layer{'s' * (stack.n_layers > 1)}"


def _table(analysis: LayerAnalysis, *, heads: bool) -> Table:
    trained = [row for row in analysis.rows if row.weights == "trained"]
    fresh = {(row.layer, row.head): row.scores for row in analysis.rows if row.weights == "initial"}
    columns = [Column("weights" if analysis.stack.n_uses else "layer", _LABEL, left=True)]
    columns += [column for column, _ in _SCORES]
    columns += [] if heads else [Column("heads,\nalignment", _HEADS)]
    columns += [Column("fresh copy,\nalign., raw", _FRESH)] if fresh else []
    rows = []
    for row in trained:
        if row.head is not None and not heads:
            continue
        cells = [Cell(f"{row.layer}" if row.head is None else f"  head {row.head}")]
        cells += [of(row.scores) for _, of in _SCORES]
        if not heads:
            cells.append(_range([r.scores.alignment for r in _heads(trained, row.layer)]))
        if fresh:
            copy = fresh[row.layer, row.head]
            both = (cell(copy.alignment, ".3f"), cell(copy.stress_raw, ".3g"))
            cells.append(Cell(", ".join(UNDEFINED if c.text is None else c.text for c in both)))
        rows.append(cells)
    return Table("", columns, rows)


def _kernel_table(analysis: LayerAnalysis, width: int, *, heads: bool) -> Table:
    n_columns = max((width - _LABEL) // (1 + _KERNEL), 1)
    lags = [lag for lag in (0, *(1 << k for k in range(20))) if lag < analysis.geometry.n_positions][:n_columns]
    rows = []
    for layer in range(analysis.stack.n_layers):
        values = [k.values[lags] for k in analysis.kernels if k.layer == layer]
        named = [(f"{layer} mean", np.mean(values, axis=0))]
        named += [(f"  head {head}", own) for head, own in enumerate(values if heads else ())]
        rows += [[Cell(label), *(cell(float(v), ".3g") for v in numbers)] for label, numbers in named]
    titles = [Column(f"lag {lag}" if lag == 0 else str(lag), _KERNEL) for lag in lags]
    return Table("", [Column("layer", _LABEL, left=True), *titles], rows)


def _heads(rows: Sequence[LayerRow], layer: int) -> list[LayerRow]:
    return [row for row in rows if row.layer == layer and row.head is not None]


def _range(values: Sequence[float | None]) -> Cell:
    known = [value for value in values if value is not None]
    return Cell(f"{min(known):.3f} - {max(known):.3f}" if known else None)
