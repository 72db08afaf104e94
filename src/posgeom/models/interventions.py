"""Taking the encoding of position out of a running torch model, or shuffling it, for as long as a block lasts."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import singledispatch
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.checkpoint import WRAPPERS, names_by_suffix
from posgeom.models.family import Alibi, NoPositions, PositionTable, Rotary, Sinusoids, Stack, T5Bias
from posgeom.models.model import Model
from posgeom.models.relative_kinds import Disentangled, RelativeSines

How = Literal["zeroed", "shuffled"]
_ALIBI_METHODS = ("build_alibi_tensor", "build_mpt_alibi_tensor")


@contextmanager
def altered(torch_model: Any, model: Model, stack: Stack, how: How, order: NDArray[np.int64]) -> Iterator[None]:
    """Zero or shuffle every positional scheme of a stack inside the block.

    Shapes: `order` (n,).
    """
    with ExitStack() as undo:
        for positions in (stack.positions, *stack.also):
            _alter(positions, torch_model, model, how, order, undo)
        yield


@singledispatch
def _alter(positions: object, *_: Any) -> None:
    raise TypeError(f"positions of type {type(positions).__name__}: expected one of those in posgeom.models.family")


@_alter.register
def _(
    positions: PositionTable, torch_model: Any, model: Model, how: How, order: NDArray[np.int64], undo: ExitStack
) -> None:
    weight = _parameter(torch_model, model, positions.tensor)
    rows = positions.offset + np.arange(order.size)
    _replace(weight, rows, positions.offset + order, how, undo)


@_alter.register
def _(positions: T5Bias, torch_model: Any, model: Model, how: How, order: NDArray[np.int64], undo: ExitStack) -> None:
    for layer in range(positions.n_layers or 1):
        weight = _parameter(torch_model, model, positions.tensor.format(layer=layer))
        buckets = np.random.default_rng(int(order[0])).permutation(weight.shape[0])
        _replace(weight, np.arange(weight.shape[0]), buckets, how, undo)


@_alter.register
def _(
    positions: Disentangled, torch_model: Any, model: Model, how: How, order: NDArray[np.int64], undo: ExitStack
) -> None:
    weight = _parameter(torch_model, model, positions.tensor)
    rows = np.random.default_rng(int(order[0])).permutation(weight.shape[0])
    _replace(weight, np.arange(weight.shape[0]), rows, how, undo)


@_alter.register
def _(
    positions: RelativeSines,  # noqa: ARG001
    torch_model: Any,
    model: Model,
    how: How,
    order: NDArray[np.int64],
    undo: ExitStack,
) -> None:
    name = "relative_positional_encoding"
    found = [module for module in torch_model.modules() if hasattr(module, name)]
    if not found:
        raise CheckpointError(f"{shown(model.checkpoint.name)}: no relative sines were found in the running model")
    build = getattr(found[0], name)

    def changed(*arguments: Any, **options: Any) -> Any:
        import torch

        sines = build(*arguments, **options)
        if how == "zeroed":
            return torch.zeros_like(sines)
        return sines[torch.as_tensor(np.random.default_rng(int(order[0])).permutation(sines.shape[0]))]

    setattr(found[0], name, changed)
    undo.callback(delattr, found[0], name)


@_alter.register
def _(positions: Rotary, torch_model: Any, model: Model, how: How, order: NDArray[np.int64], undo: ExitStack) -> None:  # noqa: ARG001
    import torch

    def turned(_: Any, __: Any, output: Any) -> Any:
        cosines, sines = output
        if how == "zeroed":
            # Keeps an attention factor, the same to the last digit at every position.
            factor = torch.hypot(cosines, sines).mean(dim=-2, keepdim=True)
            return factor.expand_as(cosines), torch.zeros_like(sines)
        chosen = torch.as_tensor(order)
        return cosines[..., chosen, :], sines[..., chosen, :]

    modules = [m for m in torch_model.modules() if type(m).__name__.endswith("RotaryEmbedding")]
    for module in modules:
        undo.callback(module.register_forward_hook(turned).remove)
    tables = [] if modules else [m.embed_positions for m in torch_model.modules() if hasattr(m, "embed_positions")]
    for table in tables:  # GPT-J: sines in the first half, cosines in the second
        _turn_table(table, how, order, undo)
    if not modules and not tables:
        raise CheckpointError(f"{shown(model.checkpoint.name)}: no rotary module was found in the running model")


@_alter.register
def _(positions: Alibi, torch_model: Any, model: Model, how: How, order: NDArray[np.int64], undo: ExitStack) -> None:  # noqa: ARG001
    found = [(m, name) for m in torch_model.modules() for name in _ALIBI_METHODS if hasattr(m, name)]
    code = sys.modules[type(torch_model).__module__]
    if not found and hasattr(code, _ALIBI_METHODS[0]):  # Falcon's is a function
        build = getattr(code, _ALIBI_METHODS[0])
        setattr(code, _ALIBI_METHODS[0], _changed_bias(build, how, order))
        undo.callback(setattr, code, _ALIBI_METHODS[0], build)
        return
    if not found:
        raise CheckpointError(f"{shown(model.checkpoint.name)}: no ALiBi bias was found in the running model")
    for module, name in found:
        setattr(module, name, _changed_bias(getattr(module, name), how, order))
        undo.callback(delattr, module, name)


@_alter.register
def _(positions: Sinusoids, _: Any, model: Model, *rest: Any) -> None:  # noqa: ARG001
    raise CheckpointError(f"{shown(model.checkpoint.name)}: its sines are computed in its code, and are not taken out")


@_alter.register
def _(positions: NoPositions, *_: Any) -> None:  # noqa: ARG001
    return


def _changed_bias(build: Callable[..., Any], how: How, order: NDArray[np.int64]) -> Callable[..., Any]:
    import torch

    def changed(*arguments: Any, **options: Any) -> Any:
        bias = build(*arguments, **options)
        if how == "zeroed":
            return torch.zeros_like(bias)
        out = bias.clone()
        out[..., -order.size :] = bias[..., -order.size :][..., torch.as_tensor(order)]
        return out

    return changed


def _parameter(torch_model: Any, model: Model, name: str) -> Any:
    """A parameter of the running model by its name in the family."""
    return torch_model.get_parameter(parameter_name(torch_model, model, name)).data


def parameter_name(torch_model: Any, model: Model, name: str) -> str:
    """What the running model calls a parameter, by its name in the family."""
    names = (stored for stored, _ in torch_model.named_parameters(remove_duplicate=False))
    return running_name(names, name, model.tensors.prefixes, model.checkpoint.name)


def running_name(names: Iterable[str], name: str, prefixes: frozenset[str], model: str) -> str:
    """Which of a running model's parameters is the one that its family calls `name`."""
    found = names_by_suffix(names, WRAPPERS | prefixes).get(name, [])
    if len(found) != 1:
        raise CheckpointError(f"{shown(model)}: the running model has no parameter {shown(name)}")
    return found[0]


def _replace(weight: Any, rows: NDArray[np.int64], sources: NDArray[np.int64], how: How, undo: ExitStack) -> None:
    import torch

    kept, place = weight.clone(), torch.as_tensor(rows)
    undo.callback(weight.copy_, kept)
    weight[place] = 0 if how == "zeroed" else kept[torch.as_tensor(sources)]


def _turn_table(table: Any, how: How, order: NDArray[np.int64], undo: ExitStack) -> None:
    kept = table.clone()
    undo.callback(table.copy_, kept)
    if how == "zeroed":
        half = table.shape[1] // 2
        table[:, :half], table[:, half:] = 0, 1
    else:
        table[: order.size] = kept[order]
