"""What rows need beside a corpus: synthetic corpora, seeds, and the trained models of Figures 6 to 8."""

from collections.abc import Callable
from dataclasses import dataclass

from posgeom.errors import PosgeomError
from posgeom.models.encoding import model_encoding
from posgeom.models.model import Model
from posgeom.paper.inputs import SST2, Given, Inputs
from posgeom.paper.result import Missing

MODELS: dict[str, tuple[Callable[[Inputs], Model | None], str]] = {
    "pretrained": (lambda inputs: inputs.model, "--model PATH"),
    "scratch": (lambda inputs: inputs.scratch, "--scratch PATH"),
}
"""The trained models of the paper's figures by name: where each comes from, and the option that gives it. Figures 6
and 7 have rows for each of them, so that a model of another training run is one more line here."""
N_LAYERS = 12
"""Layers of the paper's model."""
_BERT_BASE = ("bert", N_LAYERS, 12, 768)


@dataclass(frozen=True)
class Sample:
    """Something with a value for each seed: a row is the mean over them, with the smallest and the largest."""

    of: Callable[[Inputs], Given]
    inputs: frozenset[str] = frozenset()


def _synthetic(inputs: Inputs) -> Given:
    note = (
        "The paper gives n = 32, V = 200, N = 5,000 and three regimes, and says no more of its corpus. Ours are drawn "
        f"with seeds {inputs.seeds.start} to {inputs.seeds.stop - 1}: means, and the smallest to the largest."
    )
    return Given(inputs.synthetic, notes=(note,))


RUN = Sample(_synthetic)
"""A synthetic corpus."""
SEED = Sample(lambda inputs: Given(tuple(inputs.seeds)))
"""A seed that an encoding is drawn with."""


@dataclass(frozen=True)
class Positions:
    """The position encoding of a trained model, over the positions of SST-2."""

    model: str
    inputs: frozenset[str] = frozenset({"model"})

    def of(self, inputs: Inputs) -> Given:
        """The encoding, where there is such a model with enough positions."""
        n = SST2.n_positions
        return of_model(inputs, self.model, lambda opened: model_encoding(opened, opened.stack(), n, untrained="keep"))


def of_model(inputs: Inputs, name: str, compute: Callable[[Model], object]) -> Given:
    """Something of a trained model: missing where none was given, or where it cannot be computed, with the reason."""
    source, option = MODELS[name]
    opened = source(inputs)
    if opened is None:
        missing = Missing(f"{name} model", "weights are not part of posgeom, and none were named", option)
        return Given(missing=(missing,))
    try:
        value = compute(opened)
    except PosgeomError as error:
        return Given(missing=(Missing(f"{name} model", str(error), None),))
    stack = opened.stack()
    sizes = (opened.model_type, stack.n_uses or stack.n_layers, stack.n_heads, stack.width)
    is_base = sizes == _BERT_BASE
    return Given((value,), is_the_papers=is_base, other_model=None if is_base else name)
