import json

import numpy as np
import pytest

from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding
from posgeom.encodings.t5 import t5
from posgeom.encodings.tensors import What, tensors_of
from posgeom.errors import EncodingError


def build(spec: str) -> Encoding:
    return build_encoding(spec, n_positions=10, n_dims=8)


@pytest.mark.parametrize(
    ("spec", "what", "shapes"),
    [
        ("sinusoidal", "table", {"table": (10, 8)}),
        ("random", "table", {"table": (10, 8)}),
        ("nope", "table", {"table": (10, 8)}),
        ("fourier", "table", {"table": (10, 8)}),
        ("rope:pairing=halves,partial=0.5", "angles", {"cos": (10, 4), "sin": (10, 4)}),
        ("xpos:pairing=halves", "angles", {"cos": (10, 8), "sin": (10, 8), "scale": (10, 8)}),
        ("alibi", "bias", {"bias": (12, 10)}),
        ("kerple", "bias", {"bias": (1, 10)}),
        ("sandwich:head=3", "bias", {"bias": (1, 10)}),
        ("fire:heads=3", "bias-matrix", {"bias": (3, 10, 10)}),
    ],
)
def test_defaults(spec: str, what: str, shapes: dict[str, tuple[int, ...]]) -> None:
    tensors = tensors_of(build(spec))
    assert tensors.what == what
    assert {name: array.shape for name, array in tensors.arrays.items()} == shapes
    assert tensors.metadata["spec"] == spec
    assert tensors.metadata["scheme"] == spec.partition(":")[0]
    json.dumps(tensors.metadata, allow_nan=False)


def test_all_options_are_said_defaults_included() -> None:
    options = tensors_of(build("rope:pairing=halves,scaling=linear,factor=2")).metadata["options"]
    assert options["base"] == 10000
    assert options["scaling"] == {"name": "linear", "factor": 2.0}
    assert tensors_of(build_encoding("random", n_positions=4, n_dims=2, seed=7)).metadata["options"]["seed"] == 7


def test_past_and_future_that_differ() -> None:
    table = np.random.default_rng(0).normal(size=(32, 2))
    both, past = (tensors_of(t5(10, table=table, causal=causal)) for causal in (False, True))
    assert both.arrays["bias"].shape == (2, 19)
    assert past.arrays["bias"].shape == (2, 10)
    matrix = tensors_of(t5(10, table=table), "bias-matrix").arrays["bias"]
    for i in range(10):
        np.testing.assert_array_equal(matrix[:, i], both.arrays["bias"][:, 9 - i : 19 - i])
    assert both.metadata["conventions"]["columns"] == "key - query, -(n - 1) to n - 1"
    assert both.metadata["scheme"] is None


def test_attention_factor_and_offset_are_in_the_angles() -> None:
    spec = "rope:pairing=interleaved,offset=3,scaling=yarn,factor=4,original_length=64"
    tensors = tensors_of(build(spec))
    assert tensors.arrays["cos"][0, 0] == pytest.approx(1.138629 * np.cos(3), abs=1e-6)


@pytest.mark.parametrize(
    ("spec", "what", "message"),
    [
        ("rope", "angles", "say pairing"),
        ("rope", "table", "say pairing"),
        ("sinusoidal", "angles", "sinusoidal rotates nothing"),
        ("sinusoidal", "bias", "sinusoidal adds nothing to attention logits"),
        ("kerple", "table", "has distances but no vectors"),
        ("fire", "bias", "--what bias-matrix"),
        ("fire", "tables", "what 'tables': expected table or angles or bias or bias-matrix"),
    ],
)
def test_what_a_scheme_does_not_have(spec: str, what: What, message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        tensors_of(build(spec), what)
