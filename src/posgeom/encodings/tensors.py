"""What a model would use of a scheme, as arrays: its table, angles or biases over positions 0 to n - 1."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.catalog import plain
from posgeom.encodings.checks import check_choice
from posgeom.encodings.rotation import Rotation
from posgeom.errors import EncodingError

What = Literal["table", "angles", "bias", "bias-matrix"]


@dataclass(frozen=True, eq=False)
class Tensors:
    """Arrays of a scheme, and what they mean."""

    what: What
    arrays: dict[str, NDArray[np.float64]]
    metadata: dict[str, Any]
    """Spec, scheme, options and conventions; JSON-serialisable."""

    def __repr__(self) -> str:
        return f"<Tensors, {self.what}: {', '.join(f'{name} {a.shape}' for name, a in self.arrays.items())}>"


def tensors_of(encoding: Encoding, what: What | None = None) -> Tensors:
    """The arrays of a scheme: by default angles of a rotary one, biases of a relative one, the table of any other.

    ``table``: vectors, (n, d). ``angles``: cosines and sines by rotated channel, (n, r), times the attention factor.
    ``bias``: of each head by lag, (heads, n), or by key - query, (heads, 2n - 1), where past and future differ.
    ``bias-matrix``: of each head, query and key, (heads, n, n).
    """
    if not isinstance(encoding, Encoding):
        raise EncodingError(f"got {type(encoding).__name__} for an encoding: build one with build_encoding or learned")
    chosen = what or _default(encoding)
    check_choice("what", chosen, _MAKERS)
    arrays, conventions = _MAKERS[chosen](encoding, np.arange(encoding.n_positions))
    metadata = {
        "spec": encoding.name,
        "scheme": encoding.scheme,
        "options": {key: plain(value) for key, value in encoding.options.items()},
        "what": chosen,
        "n_positions": encoding.n_positions,
        "n_dims": encoding.n_dims,
        "conventions": conventions,
    }
    return Tensors(chosen, arrays, metadata | ({"fit": dict(encoding.fit)} if encoding.fit else {}))


def _default(encoding: Encoding) -> What:
    if encoding.rotation is not None:
        return "angles"
    if encoding.bias is not None:
        return "bias" if encoding.bias.relative else "bias-matrix"
    return "table"


_Made = tuple[dict[str, NDArray[np.float64]], dict[str, str]]


def _table(encoding: Encoding, positions: NDArray[np.int64]) -> _Made:
    points = encoding.coordinates(positions)
    if points is None:
        raise EncodingError(f"encoding {encoding.name} has distances but no vectors: it has no table")
    conventions = {"rows": "position 0 to n - 1", "columns": "dimension 0 to d - 1"}
    if encoding.rotation is not None:
        conventions["pairing"] = str(encoding.rotation.pairing)
    if encoding.factors:
        conventions["factors"] = "table = coordinates axes^T"
    return {"table": points, **encoding.factors}, conventions


def _angles(encoding: Encoding, positions: NDArray[np.int64]) -> _Made:
    rotation: Rotation | None = encoding.rotation
    if rotation is None:
        raise EncodingError(f"encoding {encoding.name} rotates nothing: it has no angles")
    cosines, sines = rotation.cos_sin(positions)
    rotated = 2 * rotation.inv_freq.size
    conventions = {
        "rows": f"position 0 to n - 1, at angles omega {'' if rotation.warp is None else 'f'}(i + {rotation.offset})",
        "columns": f"channel 0 to {rotated - 1} of {rotation.n_dims}; the others are not rotated",
        "pairing": str(rotation.pairing),
        "rotation": "x cos - y sin, y cos + x sin of a pair (x, y)",
        "attention_factor": f"{rotation.attention_factor!r}, multiplied in",
    }
    arrays = {"cos": cosines, "sin": sines}
    if rotation.warp is not None:
        arrays["position_ids"] = rotation.places(positions)
        conventions["warp"] = f"f = {rotation.warp}; position_ids are f(i + {rotation.offset})"
    if rotation.temperature is not None:
        arrays["temperature"] = rotation.temperature.at(positions)
        conventions["temperature"] = "multiplies the query of its position"
    if rotation.decay is not None:
        arrays["scale"] = rotation.scales(positions)
        conventions["scale"] = "multiplies queries, divides keys"
    return arrays, conventions


def _bias_of(encoding: Encoding) -> Bias:
    if encoding.bias is None:
        raise EncodingError(f"encoding {encoding.name} adds nothing to attention logits: it has no bias")
    return encoding.bias


def _bias(encoding: Encoding, positions: NDArray[np.int64]) -> _Made:
    bias = _bias_of(encoding)
    if not bias.relative:
        raise EncodingError(
            f"encoding {encoding.name} depends on query and key, not on the lag alone: say --what bias-matrix"
        )
    if bias.causal or bias.even:
        columns = "lag query - key, 0 to n - 1" + (
            "; keys after their query are masked" if bias.causal else " in either direction"
        )
        return {"bias": bias.at_lags(positions)}, {"rows": "head", "columns": columns}
    relative = np.arange(1 - positions.size, positions.size)
    return {"bias": bias.at_lags(-relative)}, {"rows": "head", "columns": "key - query, -(n - 1) to n - 1"}


def _bias_matrix(encoding: Encoding, positions: NDArray[np.int64]) -> _Made:
    bias = _bias_of(encoding)
    future = "-inf where the key comes after its query" if bias.causal else "both directions"
    return {"bias": bias.matrix(positions)}, {"axes": "head, query, key", "future": future}


_MAKERS: dict[str, Callable[[Encoding, NDArray[np.int64]], _Made]] = {
    "table": _table,
    "angles": _angles,
    "bias": _bias,
    "bias-matrix": _bias_matrix,
}
