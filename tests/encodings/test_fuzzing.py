"""Whatever a spec says, it builds or is refused in one line."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posgeom.encodings.registry import SCHEMES, build_encoding
from posgeom.encodings.rope_config import rope_from_config
from posgeom.encodings.rotary_scaling import Scaling
from posgeom.errors import PosgeomError
from posgeom.estimation.build import geometry
from posgeom.simulation.synthetic import synthetic

SHAPE = geometry(synthetic().counts)
WORDS = [
    "",
    "1",
    "2",
    "0",
    "-1",
    "3.5",
    "nan",
    "inf",
    "1e-320",
    "1e400",
    "9" * 30,
    "1:2",
    ":",
    "4:8",
    "true",
    "none",
    "x.npy",
]
CHOICES = ["interleaved", "halves", "unit", "gaussian", "uniform", "kernel", "linear", "mds", "orbit", "log", "power"]
CHOICES += ["cubic", "mixed", "centers", "tensor2tensor", "zscore", *Scaling.choices]
SCALING_OPTIONS = [
    "factor",
    "original_length",
    "length",
    "attention_factor",
    "short_factor",
    "long_factor",
    "beta_fast",
]


@st.composite
def specs(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(list(SCHEMES)))
    known = [*SCHEMES[name].options, *(SCALING_OPTIONS if "scaling" in SCHEMES[name].options else [])]
    keys = draw(st.lists(st.sampled_from([*known, "other"]), max_size=4))
    return f"{name}:" + ",".join(f"{key}={draw(st.sampled_from(WORDS + CHOICES))}" for key in keys)


def refused_or_built(spec: str) -> None:
    try:
        distances = build_encoding(spec, n_positions=32, n_dims=16, geometry=SHAPE).distances(SHAPE.positions)
    except PosgeomError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    assert np.isfinite(distances).all()


@settings(max_examples=400, deadline=None)
@given(specs())
def test_options(spec: str) -> None:
    refused_or_built(spec)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30))
def test_any_text(spec: str) -> None:
    refused_or_built(spec)


KEYS = ["rope_theta", "rope_scaling", "rope_parameters", "head_dim", "hidden_size", "num_attention_heads"]
KEYS += [
    "partial_rotary_factor",
    "max_position_embeddings",
    "type",
    "rope_type",
    "factor",
    "short_factor",
    "long_factor",
]
KEYS += ["original_max_position_embeddings", "mscale", "mscale_all_dim", "beta_fast", "low_freq_factor", "truncate"]
KEYS += ["high_freq_factor", "full_attention", "sliding_attention", "rope_local_base_freq", "text_config", "x"]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 100_000),
    st.floats(),
    st.sampled_from([*Scaling.choices, "default", "su", "", "text"]),
    st.lists(st.floats(0.5, 4), max_size=9),
)
CONFIGS = st.recursive(
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8),
    lambda inner: st.dictionaries(st.sampled_from(KEYS), st.one_of(VALUES, inner), max_size=8),
    max_leaves=20,
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(CONFIGS, st.sampled_from([None, "full_attention", "sliding_attention"]))
def test_configs(config: dict[str, object], layer_type: str | None) -> None:
    whole = {"head_dim": 16, "rope_theta": 1e4, "max_position_embeddings": 64} | config
    for given_config in (config, whole):
        try:
            encoding = rope_from_config(given_config, 20, layer_type=layer_type)
        except PosgeomError as error:
            assert "\n" not in str(error)  # noqa: PT017
            continue
        assert np.isfinite(encoding.distances()).all()


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[]", b'{"head_dim": 1e400, "rope_theta": 1}', b"nan"])
def test_config_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.json").write_bytes(content)
    refused_or_built(f"rope-config:config={tmp_path / 'config.json'}")
    (tmp_path / "deep.json").write_text(json.dumps({"head_dim": 8, "rope_parameters": {"rope_parameters": {}}}))
    refused_or_built(f"rope-config:config={tmp_path / 'deep.json'}")
