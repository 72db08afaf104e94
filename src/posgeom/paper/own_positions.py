"""A model's own positions beside the encodings of Figures 6 and 7."""

from collections.abc import Sequence
from dataclasses import dataclass

from posgeom.encodings.base import Encoding
from posgeom.errors import PosgeomError
from posgeom.models.encoding import model_encoding
from posgeom.models.model import Model
from posgeom.paper.inputs import Inputs, is_bert_base, model_missing
from posgeom.paper.result import Missing

MODELS = {"pretrained": "--model PATH", "scratch": "--scratch PATH"}
"""Names of the trained models in the paper's figures, and the options that give them."""


@dataclass(frozen=True)
class Trained:
    """The position encodings of the models that were given.

    Attributes
    ----------
    encodings : dict of str to Encoding
        By the names of `MODELS`.
    missing : tuple of Missing
        Models that were not given, or have too few positions.
    others : tuple of str
        Names of those that have not the sizes of the paper's.
    """

    encodings: dict[str, Encoding]
    missing: tuple[Missing, ...]
    others: tuple[str, ...]


def trained_encodings(inputs: Inputs, n_positions: int) -> Trained:
    """The position encodings of the models that were given."""
    found: dict[str, Encoding] = {}
    missing, others = [], []
    for name, opened in given_models(inputs).items():
        if opened is None:
            missing.append(model_missing(f"{name} model", MODELS[name]))
            continue
        try:
            found[name] = model_encoding(opened, opened.stack(), n_positions, untrained="keep")
        except PosgeomError as error:
            missing.append(Missing(f"{name} model", str(error), None))
            continue
        if not is_bert_base(opened):
            others.append(name)
    return Trained(found, tuple(missing), tuple(others))


def given_models(inputs: Inputs) -> dict[str, Model | None]:
    """The models of the paper's figures by name; None where one was not given."""
    return {"pretrained": inputs.model, "scratch": inputs.scratch}


def model_notes(others: Sequence[str]) -> list[str]:
    """What to know of the models that were given."""
    if not others:
        return []
    return [
        (
            f"{', '.join(others)}: not of the sizes of BERT-base (12 layers, 12 heads, width 768), which the paper's "
            "numbers are of."
        )
    ]
