"""The hypotheses of Theorem 4 at a step of training: how many pairs of positions each is shown for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CheckpointError, GeometryError
from posgeom.messages import shown
from posgeom.models.checkpoint import WRAPPERS, names_by_suffix
from posgeom.models.config import ModelConfig
from posgeom.models.family import Stack
from posgeom.models.query_key import HeadShape, Tensors
from posgeom.models.registry import find_family
from posgeom.seeds import make_rng
from posgeom.theory.mean_embeddings import mean_embedding_test, projected_embedding_test
from posgeom.theory.separation import separation
from posgeom.theory.swap import SwapTest, swap_test, torch_loss
from posgeom.training.tasks import Task

MOST_PROBES, MOST_SWAPS, FEWEST_PROBES = 128, 16, 20
"""Held-out documents whose tokens are swapped, once for every pair of positions tried, pairs that are, and documents
that must have tokens at both: a run over all documents for each pair is what this costs."""
NAMES = ("h1", "h2", "h3", "all")
"""H1 and H3 are of the documents trained on, H2 of some held out; each is corrected for its number of pairs."""


@dataclass(frozen=True)
class _Running(Tensors):
    """Tensors of a running model by their names in its family."""

    checkpoint: Any  # the model itself

    def find(self, name: str) -> str | None:
        """The full name of a parameter, or None."""
        names = [stored for stored, _ in self.checkpoint.named_parameters(remove_duplicate=False)]
        return next(iter(names_by_suffix(names, WRAPPERS | self.prefixes).get(name, [])), None)

    def read(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """A parameter of a known shape."""
        stored = self.find(name)
        if stored is None:
            raise CheckpointError(f"{type(self.checkpoint).__name__} has no parameter {shown(name)}")
        return np.asarray(self.checkpoint.get_parameter(stored).detach().cpu().double().numpy()).reshape(shape)


def hypotheses(counts: PositionCounts, task: Task, seed: int) -> Callable[[Any], dict[str, int | None]]:
    """A function from a running model to the pairs of positions that each of `NAMES` is shown for, and is tested on."""
    ids, mask, content, labels = _probes(task)
    together = content.T.astype(np.int64) @ content
    pairs = np.argwhere(np.triu(together >= FEWEST_PROBES, 1))
    if len(pairs) > MOST_SWAPS:
        pairs = pairs[np.sort(make_rng(seed).choice(len(pairs), MOST_SWAPS, replace=False))]
    tried = [(int(i), int(j)) for i, j in pairs]

    def measure(model: Any) -> dict[str, int | None]:
        row: dict[str, int | None] = {key: None for name in NAMES for key in (name, f"{name}_pairs")}
        swaps: SwapTest | None = None
        if tried:
            mask_token = task.vocabulary.mask if labels is None else None
            loss = torch_loss(model, labels=labels, mask_token=mask_token, seed=seed)
            swaps = swap_test(loss, ids, mask, content=content, pairs=tried, seed=seed)
            row |= {"h2": len(swaps.rising), "h2_pairs": len(swaps.pairs)}
        try:
            embedding = model.get_input_embeddings().weight.detach().cpu().double().numpy()
            h1 = mean_embedding_test(counts, embedding, seed=seed)
            row |= {"h1": h1.n_told_apart, "h1_pairs": h1.n_pairs}
            h3 = projected_embedding_test(counts, embedding, *_first_layer(model), seed=seed)
            row |= {"h3": h3.n_told_apart, "h3_pairs": h3.n_pairs}
        except (GeometryError, CheckpointError):  # too little text, or a model that has no such product
            return row
        if swaps is not None:
            theorem = separation(h1, h3, swaps)
            row |= {"all": theorem.n_covered, "all_pairs": theorem.n_pairs}
        return row

    return measure


def _probes(task: Task) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64] | None]:
    """Ids, attention mask, and which tokens may be swapped, each of shape (N, n); labels, shape (N,)."""
    # Without the longest tenth, whose length all others would be padded to.
    longest = int(np.quantile([len(one.ids) for one in task.probes], 0.9))
    probes = [one for one in task.probes if len(one.ids) <= longest][:MOST_PROBES]
    ids = np.full((len(probes), longest), task.vocabulary.pad)
    mask, content = np.zeros_like(ids), np.zeros(ids.shape, np.bool_)
    for row, one in enumerate(probes):
        ids[row, : len(one.ids)] = one.ids
        mask[row, : len(one.ids)] = 1
        content[row, one.places] = True
    return ids, mask, content, np.array([one.label for one in probes]) if task.labels else None


def _first_layer(model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """W_Q and W_K of the first layer."""
    family = find_family(model.config.model_type)
    stack: Stack | None = None if family is None else family.stacks(ModelConfig(model.config.to_dict(), "the model"))[0]
    if family is None or stack is None or stack.layout is None:
        raise CheckpointError(f"{type(model).__name__} has no known query and key projections")
    shape = HeadShape(stack.n_heads, stack.n_key_heads, stack.head_dim, stack.width)
    return stack.layout.read(_Running(model, family.prefixes), 0, shape).whole
