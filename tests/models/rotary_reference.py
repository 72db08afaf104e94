"""The rotary modules of transformers themselves, as the answer that a reading of a config must give."""

import ast
import importlib
import inspect
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
N_POSITIONS = 5
_MODULE = re.compile(r"Rotary\w*Embedding$|Ro[pP][eE]PositionEmbedding$|RotaryPositionalEmbedding$")
_APPLY = re.compile(r"apply_\w*(rot|rope)\w*$")


@dataclass(frozen=True, eq=False)
class Reference:
    """What transformers makes of a config, for one type of layers.

    Attributes
    ----------
    inv_freq : ndarray of float, shape (r / 2,)
    factor : float
    logits : ndarray of float, shape (n, n), or None
        Of one query and one key at positions 0 to n - 1; None where the module has no function that applies angles.
    """

    inv_freq: Matrix
    factor: float
    logits: Matrix | None


def model_types() -> list[str]:
    """Every model type that transformers has a config and a model for."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return sorted(name for name in CONFIG_MAPPING_NAMES if modeling(name) is not None)


@cache
def modeling(model_type: str) -> Any:
    """The module with the code of a model type, or None."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    try:
        return importlib.import_module(CONFIG_MAPPING[model_type].__module__.replace("configuration_", "modeling_"))
    except (ImportError, AttributeError, ValueError):
        return None


def config_of(model_type: str, values: Mapping[str, Any]) -> Any:
    """A config as transformers reads it from a file."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return CONFIG_MAPPING[model_type].from_dict(deepcopy(dict(values)))  # which it changes


def rotary_class(model_type: str) -> Any:
    """The rotary module of a model type's text side, or None."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    module, config = modeling(model_type), CONFIG_MAPPING[model_type]
    found = [c for n, c in vars(module).items() if _MODULE.search(n) and inspect.isclass(c)]
    found = [c for c in found if c.__module__ == module.__name__]
    own = [c for c in found if _annotation(c) is config]
    # Where classes are shared with the whole model, or copied from another, the annotation names that config.
    shared = [c for c in found if "Vision" not in c.__name__ and not hasattr(_annotation(c), "rope_parameters")]
    chosen = own or shared
    return chosen[0] if len({inspect.getsource(c).split("\n", 1)[1] for c in chosen}) == 1 else None


def references(model_type: str, values: Mapping[str, Any]) -> dict[str | None, Reference]:
    """What transformers makes of a config, by type of layers; None is the key of all layers alike."""
    import torch

    config, cls = config_of(model_type, values), rotary_class(model_type)
    torch.manual_seed(0)
    module = cls(config=config)
    buffers = dict(module.named_buffers())
    if "embed_positions" in buffers:  # sines and cosines themselves, as in GPT-J
        sines = _array(buffers["embed_positions"])[1, : buffers["embed_positions"].shape[1] // 2]
        return {None: Reference(np.arcsin(sines), 1.0, None)}
    labels = [n.removesuffix("_inv_freq") for n in buffers if n.endswith("_inv_freq") and "original" not in n]
    if not labels:
        factor = float(getattr(module, "attention_scaling", 1.0))
        return {None: Reference(_array(buffers["inv_freq"]), factor, _logits(module, config, buffers["inv_freq"], {}))}
    return {
        label: Reference(
            _array(buffers[f"{label}_inv_freq"]),
            float(getattr(module, f"{label}_attention_scaling")),
            _logits(module, config, buffers[f"{label}_inv_freq"], {"layer_type": label}),
        )
        for label in labels
    }


def query_and_key(rotated: int) -> tuple[Matrix, Matrix]:
    """The vectors that logits are of."""
    rng = np.random.default_rng(0)
    return rng.normal(size=rotated), rng.normal(size=rotated)


def conditions(model_type: str) -> set[str]:
    """Conditions on which the code of a model type applies its rotation, in any of its attention classes."""
    found: set[str] = set()

    def visit(node: ast.AST, conds: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call) and _APPLY.search(ast.unparse(child.func)):
                found.update(c for c in conds if not re.search(r"(embeddings|emb|cos) is not None|cross_attention", c))
            visit(child, (*conds, ast.unparse(child.test)) if isinstance(child, ast.If | ast.IfExp) else conds)

    for node in ast.walk(ast.parse(inspect.getsource(modeling(model_type)))):
        if isinstance(node, ast.ClassDef) and "Vision" not in node.name:
            visit(node, ())
    return found


def _annotation(cls: Any) -> Any:
    parameter = inspect.signature(cls.__init__).parameters.get("config")
    return None if parameter is None else parameter.annotation


def _array(tensor: Any) -> Matrix:
    return np.asarray(tensor.double().numpy(), np.float64)


def _logits(module: Any, config: Any, inv_freq: Any, options: Mapping[str, Any]) -> Matrix | None:
    import torch

    code = importlib.import_module(type(module).__module__)
    usual = "apply_rotary_pos_emb"
    names = [n for n in vars(code) if _APPLY.match(n)]
    if not names:
        return None
    name = usual if usual in names else names[0]
    if f"{usual}_interleave" in names and getattr(config, "rope_interleave", True):
        name = f"{usual}_interleave"
    apply = getattr(code, name)
    parameters = list(inspect.signature(apply).parameters)
    query, key = query_and_key(2 * inv_freq.numel())
    states = [torch.tensor(v, dtype=torch.float32).expand(1, 1, N_POSITIONS, -1).clone() for v in (query, key)]
    with torch.no_grad():
        angles = module(states[0], position_ids=torch.arange(N_POSITIONS)[None], **options)
        if isinstance(angles, tuple):
            two = parameters[0] in ("q", "query", "query_states", "xq")
            turned = apply(*states, *angles) if two else [apply(x, *angles, unsqueeze_dim=1) for x in states]
        else:  # complex numbers, with heads after positions or before
            axis = 1 if code.__name__.endswith("llama4") else 2
            turned = [x.transpose(1, axis) for x in apply(*(x.transpose(1, 3 - axis) for x in states), angles)]
            turned = [x.reshape(1, 1, N_POSITIONS, -1) for x in turned]
    rotated_query, rotated_key = (_array(x.reshape(N_POSITIONS, -1)) for x in turned)
    return rotated_query @ rotated_key.T
