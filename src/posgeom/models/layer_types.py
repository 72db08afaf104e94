"""A rotary stack taken apart by types of layers, each with its own rotation or none."""

from dataclasses import replace

from posgeom.encodings.rope_config import read_rope_layers
from posgeom.encodings.rotation import Rotation
from posgeom.models.config import errors_name
from posgeom.models.encoding import model_encoding
from posgeom.models.family import NoPositions, Rotary, Stack
from posgeom.models.model import Model

Layers = tuple[int, ...] | None


def layer_parts(stack: Stack, name: str) -> list[tuple[Stack, Layers]]:
    """A stack for each type of layers, with the numbers of those; the stack itself where all are alike."""
    positions = stack.positions
    if not isinstance(positions, Rotary):
        return [(stack, None)]
    with errors_name(name):
        found = read_rope_layers(positions.config)
    if len(found) == 1 and found[0].settings is not None and found[0].layer_type is None:
        return [(stack, None)]
    parts: list[tuple[Stack, Layers]] = []
    for part in found:
        if part.settings is None:
            own: Rotary | NoPositions = NoPositions(part.temperature, part.layer_type)
        else:
            own = replace(positions, layer_type=part.layer_type)
        parts.append((replace(stack, positions=own), part.layers))
    return parts


def layer_rotations(model: Model, stack: Stack, n_positions: int) -> list[Rotation | None]:
    """The rotation of each layer; None for one that does not rotate."""
    parts = layer_parts(stack, model.checkpoint.name)
    rotations = [model_encoding(model, part, n_positions).rotation for part, _ in parts]
    if len(parts) == 1:
        return rotations * stack.n_layers
    place = {layer: k for k, (_, layers) in enumerate(parts) for layer in layers or ()}
    return [rotations[place[layer]] if layer in place else None for layer in range(stack.n_layers)]
