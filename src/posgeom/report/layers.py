"""What `posgeom layers` gives: one plain object, files, and text for a terminal."""

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from posgeom.messages import shown
from posgeom.models.family import Stack
from posgeom.models.layers import LayerAnalysis, LayerRow
from posgeom.models.projection import ProjectionScores
from posgeom.report.files import os_errors_named
from posgeom.report.table import print_paragraph

JSON, ROWS, HEAT_MAP, KERNELS = "layers.json", "layers.parquet", "heatmap.csv", "kernels.parquet"
_UNDEFINED = "undef"


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


@dataclass(frozen=True, slots=True)
class _Column:
    """A score in the table; on a narrow terminal the columns with the highest `rank` go first."""

    header: str
    width: int
    rank: int
    cell: Callable[[ProjectionScores], str]


_COLUMNS = (
    _Column("align-\nment", 6, 0, lambda s: _number(s.alignment, ".3f")),
    _Column("raw\nstress", 8, 0, lambda s: _number(s.stress_raw, ".3g")),
    _Column("scaled\nstress", 6, 2, lambda s: _number(s.stress_scaled, ".3f")),
    _Column("scale\nc", 8, 4, lambda s: _number(s.scale, ".3g")),
    _Column("Pear-\nson", 6, 2, lambda s: _number(s.pearson, ".3f")),
    _Column("viol.\n%", 5, 3, lambda s: _number(None if s.violation_rate is None else 100 * s.violation_rate, ".1f")),
    _Column("norm\nof M", 8, 1, lambda s: _number(s.norm, ".3g")),
    _Column("anti-\nsym. %", 6, 5, lambda s: _number(_percent(s.antisymmetric_share), ".1f")),
    _Column("eff.\nrank", 5, 6, lambda s: _number(s.effective_rank, ".4g")),
)
_LABEL, _HEADS, _FRESH, _KERNEL = 9, 13, 16, 9


def print_layers(analysis: LayerAnalysis, console: Console, *, heads: bool = False) -> None:
    """Print an analysis of layers."""
    stack, geometry = analysis.stack, analysis.geometry
    keys = f" ({stack.n_key_heads} key heads)" if stack.n_key_heads != stack.n_heads else ""
    print_paragraph(
        f"{shown(analysis.model.checkpoint.name)}, {stack.name}: {_layers(stack)}, {stack.n_heads} heads of "
        f"{stack.head_dim}{keys}, width {stack.width}; input P: {analysis.input}; against {geometry.metric.name} "
        f"distances ({geometry.estimator}) of {len(geometry.distances):,} positions; seed {analysis.seed}",
        console,
    )
    console.print()
    console.print(_table(analysis, console.width, heads=heads))
    if analysis.kernels:
        console.print()
        print_paragraph(f"Position kernel E[q_i . k_j] by lag, mean over {analysis.content}:", console)
        console.print(_kernel_table(analysis, console.width, heads=heads))
    for note in analysis.notes:
        print_paragraph(note, console, bullet="- ")


def _layers(stack: Stack) -> str:
    if stack.n_uses:
        return f"{stack.n_uses} layers that share {stack.n_layers} set{'s' * (stack.n_layers > 1)} of weights"
    return f"{stack.n_layers} layer{'s' * (stack.n_layers > 1)}"


def _table(analysis: LayerAnalysis, width: int, *, heads: bool) -> Table:
    trained = [row for row in analysis.rows if row.weights == "trained"]
    fresh = {(row.layer, row.head): row.scores for row in analysis.rows if row.weights == "initial"}
    columns = _fitting(width, heads=heads, fresh=bool(fresh))
    table = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("weights" if analysis.stack.n_uses else "layer", width=_LABEL, no_wrap=True)
    for column in columns:
        table.add_column(column.header, width=column.width, justify="right", no_wrap=True)
    if not heads:
        table.add_column("heads,\nalignment", width=_HEADS, justify="right", no_wrap=True)
    if fresh:
        table.add_column("fresh copy,\nalign., raw", width=_FRESH, justify="right", no_wrap=True)
    for row in trained:
        if row.head is not None and not heads:
            continue
        label = f"{row.layer}" if row.head is None else f"  head {row.head}"
        cells = [label, *(column.cell(row.scores) for column in columns)]
        if not heads:
            cells.append(_range([r.scores.alignment for r in _heads(trained, row.layer)]))
        if fresh:
            copy = fresh[row.layer, row.head]
            cells.append(f"{_number(copy.alignment, '.3f')}, {_number(copy.stress_raw, '.3g')}")
        table.add_row(*cells)
    return table


def _kernel_table(analysis: LayerAnalysis, width: int, *, heads: bool) -> Table:
    n_columns = max((width - _LABEL) // (1 + _KERNEL), 1)
    lags = [lag for lag in (0, *(1 << k for k in range(20))) if lag < analysis.geometry.n_positions][:n_columns]
    table = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("layer", width=_LABEL, no_wrap=True)
    for lag in lags:
        table.add_column(f"lag {lag}" if lag == 0 else str(lag), width=_KERNEL, justify="right", no_wrap=True)
    for layer in range(analysis.stack.n_layers):
        values = [k.values[lags] for k in analysis.kernels if k.layer == layer]
        table.add_row(f"{layer} mean", *(_number(float(v), ".3g") for v in np.mean(values, axis=0)))
        for head, own in enumerate(values if heads else ()):
            table.add_row(f"  head {head}", *(_number(float(v), ".3g") for v in own))
    return table


def _heads(rows: Sequence[LayerRow], layer: int) -> list[LayerRow]:
    return [row for row in rows if row.layer == layer and row.head is not None]


def _range(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{min(known):.3f} - {max(known):.3f}" if known else _UNDEFINED


def _fitting(width: int, *, heads: bool, fresh: bool) -> list[_Column]:
    """The columns that fit, the least needed ones dropped first."""
    columns = list(_COLUMNS)
    fixed = _LABEL + (0 if heads else _HEADS + 1) + (_FRESH + 1 if fresh else 0)
    while len(columns) > 2 and fixed + sum(1 + c.width for c in columns) > width:
        columns.remove(max(columns, key=lambda c: c.rank))
    return columns


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _number(value: float | None, spec: str) -> str:
    return _UNDEFINED if value is None else format(value, spec)
