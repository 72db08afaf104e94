"""What to train and how: the paper's experiment as it was, or so small that two cores do it in minutes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from posgeom.encodings.registry import check_spec
from posgeom.errors import PosgeomError
from posgeom.messages import shown
from posgeom.training.tasks import TaskName
from posgeom.training.tracking import SCHEDULE, checked_schedule

DEFAULT, NONE, FIT = "default", "none", "fit"
"""Encodings: the table that the model has, none, and MDS of the documents trained on, of the significant rank."""
PresetName = Literal["tiny", "base"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A model and how it is trained.

    Attributes
    ----------
    sizes : mapping
        Of a model from scratch, as `transformers.BertConfig` names them.
    n_positions : int
        Context length n.
    batch_size, epochs : int
    rate_from_scratch, rate_from_checkpoint : float
        Highest learning rate of AdamW; it falls linearly to 0.
    max_documents : int or None
        Documents that examples are made of, at most.
    save_every : int
        Steps between checkpoints, from which a killed run goes on.
    """

    sizes: Mapping[str, Any] = field(default_factory=dict)
    n_positions: int = 128
    batch_size: int = 64
    epochs: int = 3
    rate_from_scratch: float = 2e-4
    rate_from_checkpoint: float = 2e-5
    max_documents: int | None = None
    save_every: int = 500


PRESETS: Mapping[PresetName, Preset] = MappingProxyType(
    {
        "tiny": Preset(
            sizes={
                "hidden_size": 64,
                "num_hidden_layers": 2,
                "num_attention_heads": 4,
                "intermediate_size": 256,
            },
            n_positions=64,
            epochs=5,
            rate_from_scratch=1e-3,
            max_documents=8000,
            save_every=100,
        ),
        "base": Preset(
            sizes={
                "hidden_size": 768,
                "num_hidden_layers": 12,
                "num_attention_heads": 12,
                "intermediate_size": 3072,
            },
        ),
    }
)
"""`base` is BERT-base as in Section 6.1 of the paper; `tiny` needs a higher rate, being small and trained shortly."""
_SIZES = ("n_positions", "epochs", "batch_size", "max_documents", "save_every")


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """What to train, on what, and how; None leaves a size to the preset.

    Attributes
    ----------
    task : {"order", "label", "mlm"}
    preset : {"tiny", "base"}
    model : str or None
        A checkpoint to go on from; None trains from scratch.
    tokenizer : str or None
        By default that of `model`.
    encoding : str
        ``"default"``, the table that the model has; ``"none"``; ``"fit"``, MDS of the documents trained on, of the
        significant rank, as `posgeom.fit_encoding` builds it; or a spec or file, as `posgeom.build_encoding` takes it.
        What is put in the place of the model's table gets the row norm of that.
    trainable : bool
        Whether the table is learned, or frozen as it starts.
    rank : int or None
        Learn the table as a product of two factors of this rank.
    n_positions, epochs, max_steps, batch_size, max_documents, save_every : int or None
    learning_rate : float or None
    schedule : tuple of int
        Steps at which positions are looked at.
    seed : int
    log_to : tuple of str
        What else the Trainer reports to, such as tensorboard or wandb.
    """

    task: TaskName = "order"
    preset: PresetName = "tiny"
    model: str | None = None
    tokenizer: str | None = None
    encoding: str = DEFAULT
    trainable: bool = True
    rank: int | None = None
    n_positions: int | None = None
    epochs: int | None = None
    max_steps: int | None = None
    batch_size: int | None = None
    max_documents: int | None = None
    save_every: int | None = None
    learning_rate: float | None = None
    schedule: tuple[int, ...] = SCHEDULE
    seed: int = 0
    log_to: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse what cannot be trained, before anything is read."""
        checked_schedule(self.schedule)
        if self.preset not in PRESETS:
            raise PosgeomError(f"preset {shown(self.preset)}: expected one of {', '.join(PRESETS)}")
        if self.seed < 0:
            raise PosgeomError(f"seed {self.seed}: expected 0 or more")
        for name in (*_SIZES, "max_steps", "rank"):
            least, value = (2 if name == "n_positions" else 1), getattr(self, name)
            if value is not None and value < least:
                raise PosgeomError(f"{name.replace('_', ' ')} {value}: expected at least {least}")
        if self.learning_rate is not None and not 0 < self.learning_rate < 1:
            raise PosgeomError(f"learning rate {self.learning_rate:g}: expected a number between 0 and 1")
        if self.model is None and self.tokenizer is None:
            raise PosgeomError("training from scratch needs a tokenizer.json, a model directory or a hub name: give -t")
        if self.encoding not in (DEFAULT, NONE, FIT):
            check_spec(self.encoding, n_positions=2, n_dims=2)

    def sized(self) -> Preset:
        """The preset with the sizes that were given."""
        preset = PRESETS[self.preset]
        preset = replace(preset, **{name: value for name in _SIZES if (value := getattr(self, name)) is not None})
        if self.learning_rate is None:
            return preset
        return replace(preset, rate_from_scratch=self.learning_rate, rate_from_checkpoint=self.learning_rate)
