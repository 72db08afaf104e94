"""Every model type that transformers knows: our reading of its config is what its own rotary module makes, or refused.

Set POSGEOM_WRITE_DOCS=1 to write docs/rotary-types.md anew.
"""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.encodings.rope import rotation_for
from posgeom.encodings.rope_config import LayerPositions, RopeSettings, read_rope_layers
from posgeom.encodings.rotary_families import FAMILIES, FULL, SLIDING
from posgeom.encodings.rotation import Rotation
from posgeom.errors import EncodingError
from tests.models import rotary_reference
from tests.models.rotary_reference import N_POSITIONS, Reference, conditions, query_and_key, references, rotary_class

pytestmark = pytest.mark.models
PAGE = Path(__file__).parents[2] / "docs" / "rotary-types.md"
SIZES = ("model_type", "hidden_size", "n_embd", "num_attention_heads", "n_head", "num_hidden_layers", "n_layer")
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512, "rope_theta": 3e4}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "rope_theta": 3e4}
CHANGES: dict[str, dict[str, Any]] = {
    "nothing but sizes": {},
    "another base": {"rope_theta": 54321.0},
    "a base that is null": {"rope_theta": None},
    "an old block": {"rope_scaling": {"type": "linear", "factor": 4.0}, "rope_theta": 3e4},
    "a new block": {"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 3e4}},
    "both blocks": {"rope_scaling": {"type": "linear", "factor": 4.0}, "rope_parameters": {"rope_type": "default"}},
    "yarn": {"rope_parameters": YARN},
    "yarn with weights": {"rope_parameters": YARN | {"mscale": 0.7, "mscale_all_dim": 1.3, "beta_fast": 16.0}},
    "llama3": {"rope_parameters": LLAMA3 | {"original_max_position_embeddings": 512}},
    "llama3 without a length": {"rope_parameters": LLAMA3},
    "a length outside": {"rope_parameters": YARN, "original_max_position_embeddings": 256},
    "dynamic": {"rope_scaling": {"type": "dynamic", "factor": 4.0}},
    "alpha": {"rope_scaling": {"type": "dynamic", "factor": 1.0, "alpha": 1000.0}},
    "sections": {"rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}},
    "another width": {"head_dim": 96},
    "another part": {"qk_rope_head_dim": 32},
    "a share": {"partial_rotary_factor": 0.5},
    "a share inside": {"rope_parameters": {"rope_type": "default", "rope_theta": 3e4, "partial_rotary_factor": 0.5}},
    "old names": {"rotary_pct": 0.5, "rotary_emb_base": 3e4},
    "rotated channels": {"rotary_dim": 32},
    "by layer": {
        "rope_parameters": {
            SLIDING: {"rope_type": "default", "rope_theta": 3.0},
            FULL: {"rope_type": "linear", "factor": 4.0, "rope_theta": 3e5},
        }
    },
    "a local base": {"rope_local_base_freq": 77.0, "rope_theta": 3e5},
    "two bases": {"local_rope_theta": 77.0, "global_rope_theta": 3e5},
    "a scaled base beside a local one": {"rope_scaling": {"rope_type": "linear", "factor": 8.0}, "rope_theta": 3e5},
    "a wide width": {"global_head_dim": 128},
}
SHRUNK = {"glm4_moe": {"num_attention_heads": 64}}
"""Changes to defaults that rotate an odd number of channels."""
RULES = {
    "self.is_local_attention": "sliding",
    "self.sliding_window is not None": "sliding",
    "self.sliding_window is None or self.is_sliding": "windowed",
    "self.use_rope": "listed",
}
"""Conditions in a family's code on which it rotates, and the rule of our table that follows them."""
ELSEWHERE = (
    "self.config.rope_interleave",
    "self.position_embedding_type == 'rotary'",
    "alibi is None",
    "self.rotary_dim is not None",
    "self.is_kv_shared_layer",
)
"""Conditions whose keys are refused where they do not hold, or that change no rotation."""


@cache
def default_config(model_type: str) -> dict[str, Any]:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config: dict[str, Any] = CONFIG_MAPPING[model_type]().to_dict()
    return config


def variants(model_type: str) -> dict[str, dict[str, Any]]:
    """A config as it is saved, and small ones as they may stand in a file."""
    family = FAMILIES[model_type]
    saved = default_config(model_type) | dict(family.requires) | SHRUNK.get(model_type, {})
    sizes = {key: saved[key] for key in SIZES if saved.get(key) is not None}
    sizes |= {"max_position_embeddings": 4096} | dict(family.requires)
    return {"as saved": saved} | {name: sizes | change for name, change in CHANGES.items()}


def rotation_of(settings: RopeSettings) -> Rotation:
    return rotation_for(
        N_POSITIONS,
        settings.n_dims,
        base=settings.base,
        pairing=settings.pairing,
        partial=settings.partial,
        offset=0,
        scaling=settings.scaling,
        warp=None,
    )


def differs(found: tuple[LayerPositions, ...], right: Mapping[str | None, Reference]) -> str | None:
    """What is wrong with a reading, or None."""
    for positions in found:
        if positions.settings is None:
            continue
        reference = right.get(None) or right.get(positions.layer_type)
        if reference is None:
            return f"layers of type {positions.layer_type} do not rotate"
        rotation = rotation_of(positions.settings)
        if rotation.inv_freq.shape != reference.inv_freq.shape:
            return f"{2 * rotation.inv_freq.size} channels for {2 * reference.inv_freq.size}"
        if not np.allclose(rotation.inv_freq, reference.inv_freq, rtol=2e-5, atol=0):
            return "frequencies"
        if reference.logits is not None:
            query, key = (_rotated(rotation, x) for x in query_and_key(2 * rotation.inv_freq.size))
            if not np.allclose(query @ key.T, reference.logits, atol=1e-4 * np.abs(reference.logits).max()):
                return "logits"
        elif abs(rotation.attention_factor - reference.factor) > 1e-6:
            return "attention factor"
    return None


def _rotated(rotation: Rotation, vector: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    own = Rotation(rotation.inv_freq, vector.size, rotation.pairing, rotation.attention_factor)
    return own.rotate(vector, np.arange(N_POSITIONS))


def outcome(model_type: str, name: str, values: dict[str, Any]) -> str:
    """One of right, refused, wrong, and unknown where transformers itself fails."""
    try:
        found = read_rope_layers(values)
        for positions in found:
            if positions.settings is not None:
                rotation_of(positions.settings)
    except EncodingError:
        return "refused"
    try:
        right = references(model_type, values)
    except Exception:  # noqa: BLE001  what transformers raises on a config that it does not take has no common root
        return "unknown"
    wrong = differs(found, right)
    return "right" if wrong is None else f"wrong: {wrong}"


@pytest.mark.parametrize("model_type", sorted(FAMILIES))
def test_a_known_type_is_right_or_refused_in_every_variant(model_type: str) -> None:
    got = {name: outcome(model_type, name, values) for name, values in variants(model_type).items()}
    wrong = {name: what for name, what in got.items() if what.startswith("wrong")}
    assert not wrong
    if model_type not in _WHOLE:
        assert got["as saved"] == "right"
        assert got["nothing but sizes"] == "right"


_WHOLE = ("qwen2_vl", "qwen2_5_vl")
"""Types of whole models, whose older configs hold the text model's keys at their top."""


@pytest.mark.parametrize("model_type", sorted(FAMILIES))
def test_the_layers_that_rotate_are_those_of_the_code(model_type: str) -> None:
    family = FAMILIES[model_type]
    rules = {RULES[c] for c in conditions(model_type) if c in RULES}
    assert [c for c in conditions(model_type) if c not in RULES and c not in ELSEWHERE] == []
    assert rules == ({family.layers} - {"all", "bases"})


def test_the_page_of_types() -> None:
    right: list[str] = []
    refused: list[str] = []
    wrong: list[str] = []
    for model_type in rotary_reference.model_types():
        if model_type in FAMILIES:
            right.append(model_type)
            continue
        if not rotary_keys(model_type) and rotary_class(model_type) is None:
            continue
        try:
            found = read_rope_layers(default_config(model_type))
        except EncodingError:
            refused.append(model_type)
        else:  # a whole model, read by its text part
            part = default_config(model_type)["text_config"]["model_type"]
            (right if part in FAMILIES and found else wrong).append(model_type)
    assert not wrong
    page = _page(right, refused)
    if os.environ.get("POSGEOM_WRITE_DOCS"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page, "set POSGEOM_WRITE_DOCS=1 to write the page anew"


def rotary_keys(model_type: str) -> bool:
    try:
        values = default_config(model_type)
    except Exception:  # noqa: BLE001  a default config that cannot be made
        return False
    parts = [values, *(value for value in values.values() if isinstance(value, dict))]
    return any("rope_parameters" in part or "rope_theta" in part for part in parts)


def _page(right: list[str], refused: list[str]) -> str:
    import transformers

    def listed(names: list[str]) -> str:
        return ", ".join(f"`{name}`" for name in sorted(names))

    return f"""# Rotary model types

Written by `make test-models` (`tests/models/test_rotary_types.py`) with transformers {transformers.__version__}: every
model type that has rotary options. For each type that is read, frequencies, attention factor and logits of a rotated
query and key are those of the type's own module, for its default config and for {len(CHANGES)} changes of it.

**Read, {len(right)}:** {listed(right)}.

**Refused, {len(refused)}:** {listed(refused)}.

A whole model of images or sound and text is read by its text part. A refused config is read by its keys as they stand
where its `model_type` is taken out.
"""
