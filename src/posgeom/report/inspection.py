"""What `posgeom inspect` shows: as one plain object, and as text for a terminal."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.text import Text

from posgeom.messages import printable, shown
from posgeom.models.inspection import Inspection, StackReport
from posgeom.models.position_rows import PositionRows
from posgeom.models.table_measures import LagProfile, Measures

_LABEL_WIDTH = 13
_LAGS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)


def inspection_document(inspection: Inspection) -> dict[str, Any]:
    """An inspection as a plain object."""
    return {
        "schema_version": 1,
        "model": inspection.name,
        "model_type": inspection.model_type,
        "architectures": list(inspection.architectures),
        "tensor_bytes_read": inspection.bytes_read,
        "notes": list(inspection.notes),
        "stacks": [_stack_document(stack) for stack in inspection.stacks],
    }


def _stack_document(stack: StackReport) -> dict[str, Any]:
    rows = stack.rows
    return {
        "name": stack.name,
        "scheme": stack.scheme,
        "layer_type": stack.layer_type,
        "layers": None if stack.layers is None else list(stack.layers),
        "details": dict(stack.details),
        "also": [dict(other) for other in stack.also],
        **stack.sizes,
        "table": None if rows is None else _table_document(rows),
        "measures": None if stack.measures is None else asdict(stack.measures),
        "lag_distances": stack.lag_distances,
        "negative_mass": stack.negative_mass,
    }


def _table_document(rows: PositionRows) -> dict[str, Any]:
    tail = rows.untrained
    return {
        "tensor": rows.tensor,
        "file": str(rows.file),
        "dtype": rows.dtype,
        "shape": list(rows.shape),
        "offset": rows.offset,
        "padding_row": rows.padding_row,
        "n_positions": rows.points.shape[0],
        "n_special": rows.n_special,
        "grid": rows.grid,
        "zero_positions": list(rows.zero_positions),
        "untrained_from": None if tail is None else tail.start,
        "untrained": None if tail is None else asdict(tail) | {"rule": tail.rule},
    }


def print_inspection(inspection: Inspection, console: Console) -> None:
    """Print an inspection."""
    kind = inspection.model_type or "no model_type"
    names = f" ({', '.join(inspection.architectures)})" if inspection.architectures else ""
    _line("model", f"{shown(inspection.name)}: {printable(kind + names)}", console)
    for stack in inspection.stacks:
        if len(inspection.stacks) > 1:
            console.print()
        for label, text in _stack_lines(stack):
            _line(label, text, console)
    for note in inspection.notes:
        _line("note", printable(note), console)
    _line("read", f"{inspection.bytes_read:,} bytes of tensors", console)


def _line(label: str, text: str, console: Console) -> None:
    for number, line in enumerate(wrap(text, max(console.width - _LABEL_WIDTH, 20))):
        console.print(Text.assemble((f"{label if number == 0 else '':<{_LABEL_WIDTH}}", "bold"), line))


def _stack_lines(stack: StackReport) -> list[tuple[str, str]]:
    lines = [("stack", _stack_text(stack)), ("positions", _scheme_text(stack.scheme, stack.details))]
    lines += [("", f"and {_scheme_text(other['scheme'], other)}") for other in stack.also]
    if stack.rows is None and "n_positions" in stack.details:
        lines.append(("rows", _promised_rows(stack.details)))
    if stack.rows is not None:
        lines += _row_lines(stack.rows)
    if stack.measures is not None:
        lines += _measure_lines(stack.measures)
    elif stack.rows is not None:
        lines.append(("measures", "none: fewer than two trained positions"))
    if stack.lag_distances is not None:
        form = f" (form {stack.details['form']})" if "form" in stack.details else ""
        lines.append(("by lag", _lag_text(LagProfile(stack.lag_distances, ())) + form))
    if stack.negative_mass:
        lines.append(("", f"{stack.negative_mass:.1%} of the spectrum of the bias is negative and was left out"))
    return lines


def _stack_text(stack: StackReport) -> str:
    sizes = stack.sizes
    name = stack.name
    if stack.layer_type is not None:
        name += f", layers of type {printable(stack.layer_type)}"
        name += f" ({len(stack.layers)})" if stack.layers else ""
    if "n_heads" not in sizes:
        return f"{name}, width {sizes['width']}" if sizes["width"] else name
    n = sizes["n_layers"] or 0
    layers = f"{n} layer{'s' * (n > 1)}"
    if sizes["n_uses"]:
        layers = f"{sizes['n_uses']} layers that share {n} set{'s' * (n > 1)} of weights"
    keys = f", {sizes['n_key_heads']} key heads" if sizes["n_key_heads"] != sizes["n_heads"] else ""
    return f"{name}, {layers}, width {sizes['width']}, {sizes['n_heads']} heads of {sizes['head_dim']}{keys}"


def _scheme_text(scheme: str, details: Mapping[str, Any]) -> str:
    return _SCHEMES[scheme](details)


def _rotary_text(details: Mapping[str, Any]) -> str:
    scaling = details["scaling"]
    how = "no scaling" if scaling is None else "scaling " + ", ".join(f"{k} {_short(v)}" for k, v in scaling.items())
    share = details["rotated_share"]
    channels = "all" if share == 1 else f"{share:.4g} of the"
    return (
        f"rotary, base {details['base']:g}, {channels} {details['head_dim']} channels of a head, pairing "
        f"{details['pairing'] or 'not said'}, {how}{_mrope_text(details)}{_temperature_text(details)}"
    )


def _mrope_text(details: Mapping[str, Any]) -> str:
    if not details["mrope"]:
        return ""
    pairs = ", ".join(map(str, details["mrope"]))
    return f"; {details['mrope_order']} pairs of time, height and width: {pairs}, alike for text"


def _temperature_text(details: Mapping[str, Any]) -> str:
    given = details["temperature"]
    if given is None:
        return ""
    position = f"(i + {given['shift']})" if given["shift"] else "i"
    return f"; queries times 1 + {given['beta']:g} log(1 + floor({position} / {given['length']:g}))"


def _short(value: Any) -> str:
    return f"{len(value)} numbers" if isinstance(value, list) and len(value) > 4 else printable(str(value))


def _alibi_text(details: Mapping[str, Any]) -> str:
    slopes = details["slopes"]
    return f"ALiBi, {details['n_heads']} slopes from {max(slopes):.4g} to {min(slopes):.4g}"


def _t5_text(details: Mapping[str, Any]) -> str:
    where = "past only" if details["causal"] else "both directions"
    return (
        f"T5's relative bias, {details['n_buckets']} buckets up to lag {details['max_distance']}, {where}, "
        f"{details['n_heads']} heads ({printable(details['tensor'])}"
        f"{', the first of ' + str(details['n_tables']) + ' tables' if details['n_tables'] > 1 else ''})"
    )


def _deberta_text(details: Mapping[str, Any]) -> str:
    ways = {"content_to_position": "queries", "position_to_content": "keys"}
    meets = " and ".join(name for key, name in ways.items() if details[key]) or "nothing"
    how = f"logarithmic up to lag {details['max_distance']}" if details["max_distance"] else "one for each lag"
    beside = f"; a convolution over {details['convolution']} tokens sees order too" if details["convolution"] else ""
    return (
        f"DeBERTa's relative vectors, {2 * details['n_buckets']} buckets of i - j, {how}, for {meets}, in each layer "
        f"({printable(details['tensor'])}){beside}"
    )


def _transformer_xl_text(details: Mapping[str, Any]) -> str:
    where = "past only" if details["causal"] else "both directions"
    clamp = f", lags clipped at {details['clamp']}" if details["clamp"] else ""
    return f"Transformer-XL's relative sines of width {details['width']}, projected in each layer, {where}{clamp}"


def _swin_text(details: Mapping[str, Any]) -> str:
    how = "computed by a network" if details["computed"] else "a table"
    first = f", the first of {details['n_tables']}" if details["n_tables"] > 1 else ""
    side = details["window"]
    return (
        f"Swin's bias by offset in a window of {side} x {side}, {how}, {details['n_heads']} heads "
        f"({printable(details['tensor'])}{first})"
    )


def _learned_text(details: Mapping[str, Any]) -> str:
    return "learned table" + _through(details)


def _sinusoidal_text(details: Mapping[str, Any]) -> str:
    if "width" in details:
        return f"sines and cosines of width {details['width']}, by formula"
    return "fixed table of sines and cosines" + _through(details)


def _none_text(details: Mapping[str, Any]) -> str:
    return "none" + _temperature_text(details)


def _through(details: Mapping[str, Any]) -> str:
    return f", through {details['projection']}" if details["projection"] else ""


_SCHEMES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "learned": _learned_text,
    "sinusoidal": _sinusoidal_text,
    "rotary": _rotary_text,
    "alibi": _alibi_text,
    "t5": _t5_text,
    "deberta": _deberta_text,
    "transformer-xl": _transformer_xl_text,
    "swin": _swin_text,
    "none": _none_text,
}


def _promised_rows(details: Mapping[str, Any]) -> str:
    """The rows of a table that is not there, as the config has them."""
    n, offset = details["n_positions"], details["offset"]
    return f"{'not said' if n is None else f'{n:,}'} positions from row {offset}, by its config; {details['tensor']}"


def _row_lines(rows: PositionRows) -> list[tuple[str, str]]:
    shape = " x ".join(map(str, rows.shape))
    n = rows.points.shape[0]
    real = f"{n:,} positions, rows {rows.offset} to {rows.offset + n - 1}"
    if rows.padding_row is not None:
        real += f"; row {rows.padding_row} is the padding's"
    elif rows.offset:
        real += f"; rows before {rows.offset} are no positions"
    if rows.n_special:
        real += f"; the first {'is' if rows.n_special == 1 else f'{rows.n_special} are'} no patch"
    if rows.grid:
        real += f"; a grid of {rows.grid[0]} x {rows.grid[1]}"
    lines = [("table", f"{printable(rows.tensor)}, {shape}, {rows.dtype}, in {shown(rows.file.name)}"), ("rows", real)]
    if rows.zero_positions:
        lines.append(("zero rows", f"positions {', '.join(map(str, rows.zero_positions[:8]))}: all zero, padding?"))
    tail = rows.untrained
    if tail is not None:
        lines.append(
            (
                "untrained",
                f"positions {tail.start} to {n - 1}, mean norm {tail.mean_norm:.4g}; left out below. Rule: {tail.rule}",
            )
        )
    return lines


def _measure_lines(measures: Measures) -> list[tuple[str, str]]:
    values = measures.singular_values
    leading = ", ".join(f"{v:.3g}" for v in values[:6]) + (", ..." if len(values) > 6 else "")
    smooth = "undefined" if measures.smoothness is None else f"{measures.smoothness:.3f}"
    cosine = "undefined" if measures.neighbour_cosine is None else f"{measures.neighbour_cosine:.3f}"
    pair = measures.separation.pair
    lines = [
        ("measured", f"positions {measures.first} to {measures.last}"),
        ("norms", f"{measures.norm_min:.4g} to {measures.norm_max:.4g}, median {measures.norm_median:.4g}"),
        ("min. separ.", f"{measures.separation.distance:.6g}, between {pair[0]} and {pair[1]}"),
        ("spectrum", f"singular values, centred: {leading}; effective rank {measures.effective_rank:.1f}"),
        ("smoothness", f"neighbours at {smooth} of the mean distance, mean cosine {cosine}, centred"),
    ]
    if measures.column_lags is None:
        return [*lines, ("by lag", _lag_text(measures.lags))]
    return [
        *lines,
        ("in rows", _lag_text(measures.lags)),
        ("in columns", _lag_text(measures.column_lags)),
    ]


def _lag_text(profile: LagProfile) -> str:
    """Mean distance at some lags, with its deviation over pairs where there is one."""
    parts = []
    for lag in _LAGS:
        if lag <= len(profile.mean):
            spread = f"+-{profile.std[lag - 1]:.2g}" if profile.std else ""
            parts.append(f"{lag}: {profile.mean[lag - 1]:.4g}{spread}")
    return "; ".join(parts)
