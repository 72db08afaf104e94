"""What a .gguf file says of positions: its rotary keys as a config, or its table."""

from collections.abc import Mapping
from typing import Any

from posgeom.encodings.rotation import Pairing
from posgeom.errors import CheckpointError
from posgeom.messages import shown, shown_list
from posgeom.models.checkpoint import Checkpoint
from posgeom.models.family import PositionTable, Rotary, Stack
from posgeom.models.gguf_file import GgufFile

_PAIRINGS: Mapping[Pairing, str] = {
    "interleaved": """llama granite granitemoe command-r olmo deepseek internlm2 minicpm xverse arctic arcee ernie4_5
    ernie4_5-moe""",
    "halves": """qwen2 qwen2moe qwen3 qwen3moe phi2 phi3 phimoe gemma gemma2 stablelm starcoder2 gptneox falcon olmo2
    olmoe gpt-oss nomic-bert nemotron exaone seed_oss dots1""",
}
"""Channels that each architecture pairs in its stored weights; one that is not here is refused.

Source: `llama_model_rope_type` in src/llama-model.cpp of llama.cpp (NORM, NEOX). Its converter reorders the rows of
queries and keys where the model's own code pairs halves and the architecture here pairs neighbours, as in Llama. Left
out are architectures whose layers differ, or that have ALiBi in some sizes (Baichuan), which no key of the file tells.
"""
_SWITCHED = ("granite", "granitemoe")
"""Architectures that do not rotate where ``rope.scaling.finetuned`` is false, which elsewhere changes nothing."""
_TABLE = "position_embd.weight"
_KNOWN = {"dimension_count", "freq_base", "scaling.type", "scaling.factor", "scaling.original_context_length"}
_KNOWN |= {"scaling.finetuned", "scaling.attn_factor", "scale_linear"}
_FACTORS = {"short_factor": "rope_factors_short.weight", "long_factor": "rope_factors_long.weight"}


def gguf_stack(checkpoint: Checkpoint, file: GgufFile) -> tuple[str, Stack]:
    """The architecture of a file, and its positions as a stack."""
    found = file.metadata
    name, what = str(found.get("general.architecture")), shown(checkpoint.name)
    if int(found.get("split.count", 1)) > 1:
        raise CheckpointError(
            f"{what} is one of {found['split.count']} parts, and the others may change its positions: merge them, as "
            "llama-gguf-split --merge does"
        )
    sizes = [found.get(f"{name}.{key}") for key in ("embedding_length", "context_length", "block_count")]
    width, length, _ = (value if isinstance(value, int) and value > 0 else None for value in sizes)
    stack = Stack("model", PositionTable(_TABLE), 0, width or 0, 1, 1, 1, None, (0.02, 0.02), n_positions=length)
    if _TABLE in file.entries:
        return name, stack
    pairing = next((pairing for pairing, names in _PAIRINGS.items() if name in names.split()), None)
    if pairing is None:
        raise CheckpointError(
            f"{what} has the architecture {shown(name, 60)}, whose rotary conventions are not known, and no {_TABLE}"
        )
    return name, Stack(**{**vars(stack), "positions": Rotary(_rotary_config(checkpoint, file, name), pairing)})


def _rotary_config(checkpoint: Checkpoint, file: GgufFile, name: str) -> dict[str, Any]:
    """The rotary keys of a file as a config without a model type."""
    found, prefix, what = file.metadata, f"{name}.rope.", shown(checkpoint.name)
    unknown = [k for k in found if k.startswith(prefix) and k.removeprefix(prefix) not in _KNOWN]
    if unknown:
        raise CheckpointError(f"{what} has {shown_list(unknown)}, which is not known and could change the frequencies")
    rope = {key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)}
    if name in _SWITCHED and rope.get("scaling.finetuned") is False:
        raise CheckpointError(f"{what} has {prefix}scaling.finetuned false, without which {name} has no positions")
    width = found.get(f"{name}.attention.key_length")
    if width is None:
        sizes = [found.get(f"{name}.{key}") for key in ("embedding_length", "attention.head_count")]
        if not all(isinstance(value, int) and value > 0 for value in sizes):
            raise CheckpointError(
                f"{what} has no {name}.attention.head_count, or one for each layer: no width of a head"
            )
        width = int(sizes[0] or 0) // int(sizes[1] or 1)
    config: dict[str, Any] = {"head_dim": width, "max_position_embeddings": found.get(f"{name}.context_length")}
    if "dimension_count" in rope:
        config["rotary_dim"] = rope["dimension_count"]
    block: dict[str, Any] = {"rope_theta": rope.get("freq_base", 10000.0)}
    factor = rope.get("scaling.factor", rope.get("scale_linear"))
    kind = rope.get("scaling.type", "linear" if factor else "none")
    if kind == "linear" and not factor:  # no factor, or 0, is no scaling
        kind = "none"
    if name == "olmo2" and kind != "none" and f"{name}.attention.sliding_window" in found:
        raise CheckpointError(f"{what} has scaling {shown(kind)} of some layers only (Olmo 3), which is not known")
    original = rope.get("scaling.original_context_length", found.get(f"{name}.context_length"))
    factors = {key: tensor for key, tensor in _FACTORS.items() if tensor in file.entries}
    if "rope_freqs.weight" in file.entries:
        factors = dict.fromkeys(_FACTORS, "rope_freqs.weight")
    if factors:
        if (
            set(factors) != set(_FACTORS)
            or kind not in ("none", "longrope")
            or (kind == "longrope" and factor not in (None, 0, 1))
        ):
            raise CheckpointError(f"{what} has factors of frequencies and scaling {shown(kind)}: expected one of them")
        block |= {key: checkpoint.read(tensor).reshape(-1).tolist() for key, tensor in factors.items()}
        block |= {"rope_type": "longrope", "factor": 1.0, "attention_factor": rope.get("scaling.attn_factor", 1.0)}
        block["original_max_position_embeddings"] = original
    elif kind != "none":
        if rope.get("scaling.attn_factor", 1.0) != 1.0:
            raise CheckpointError(f"{what} has {prefix}scaling.attn_factor with scaling {shown(kind)}: not known")
        block |= {"rope_type": kind, "factor": factor}
        block |= {"original_max_position_embeddings": original} if kind == "yarn" else {}
    return config | {"rope_parameters": block}
