"""What to train and how, each option once: the paper's experiment as it was, or small enough for two cores."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, Literal

from posgeom.errors import PosgeomError
from posgeom.messages import shown
from posgeom.options import Option

TaskName = Literal["order", "label", "mlm"]
PresetName = Literal["tiny", "base"]
DEFAULT, NONE, FIT = "default", "none", "fit"
"""Encodings: the table that the model has, none, and MDS of the documents trained on, of the significant rank."""
SCHEDULE = (0, 50, 100, 200, 500, 1000, 2000)
"""Optimiser steps at which the paper looks at positions; the last step of a run is always one more."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Sizes of a model from scratch, as `transformers.BertConfig` names them, and how a model is trained.

    The learning rate is that of AdamW at first, from scratch or from a checkpoint; it falls linearly to 0. Examples are
    made of `max_documents` at most, and a killed run goes on from the last step that `save_every` divides.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    n_positions: int = 128
    batch_size: int = 64
    epochs: int = 3
    rate_from_scratch: float = 2e-4
    rate_from_checkpoint: float = 2e-5
    max_documents: int | None = None
    save_every: int = 500


def _sizes(width: int, n_layers: int, n_heads: int) -> dict[str, int]:
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    return dict(zip(names, (width, n_layers, n_heads, 4 * width), strict=True))


PRESETS: Mapping[PresetName, Preset] = MappingProxyType(
    {
        "tiny": Preset(
            _sizes(64, 2, 4), n_positions=64, epochs=5, rate_from_scratch=1e-3, max_documents=8000, save_every=100
        ),
        "base": Preset(_sizes(768, 12, 12)),
    }
)
"""`base` is BERT-base as in Section 6.1 of the paper; `tiny` needs a higher rate, being small and trained shortly."""


def _steps(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise PosgeomError(f"--schedule {shown(text)}: expected steps such as 0,50,100") from None


def _option(flags: str, text: str, metavar: str | None = None, **more: Any) -> Option:
    return Option(flags, text, "Training", metavar, **more)


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """What to train, on what, and how; None leaves a size to the preset."""

    task: Annotated[
        TaskName, _option("--task", "order (see below), label (a column of the corpus) or mlm.", "TASK")
    ] = "order"
    preset: Annotated[
        PresetName,
        _option("--preset", "tiny (2 layers of width 64, minutes on 2 cores) or base (BERT-base).", "NAME"),
    ] = "tiny"
    model: Annotated[str | None, _option("--model", "Checkpoint to go on from. Default: from scratch.", "MODEL")] = None
    tokenizer: Annotated[
        str | None,
        _option(
            "-t, --tokenizer",
            "A tokenizer.json, a model directory or a hub name. Default: that of --model.",
            "TOKENIZER",
        ),
    ] = None
    encoding: Annotated[
        str,
        _option(
            "-e, --encoding",
            "What positions start as: default (the model's own table), none, fit (MDS of the documents trained on, of "
            "the significant rank), or any encoding with coordinates, scaled to the row norm of that table.",
            "SPEC",
        ),
    ] = DEFAULT
    frozen: Annotated[bool, _option("--frozen", "Keep the positions as they start.")] = False
    rank: Annotated[int | None, _option("--rank", "Learn them as a product of two factors of this rank.", "R")] = None
    n_positions: Annotated[int | None, _option("-n, --n-positions", "Context length; preset.", "N")] = None
    epochs: Annotated[int | None, _option("--epochs", "Times that each example is seen; preset.", "K")] = None
    max_steps: Annotated[int | None, _option("--steps", "Optimiser steps, instead of epochs.", "K")] = None
    batch_size: Annotated[int | None, _option("--batch-size", "Examples of a step; preset.", "K")] = None
    max_documents: Annotated[int | None, _option("--max-documents", "Documents to use, at most; preset.", "K")] = None
    save_every: Annotated[int | None, _option("--save-every", "Steps between checkpoints; preset.", "K")] = None
    learning_rate: Annotated[float | None, _option("--learning-rate", "Rate of AdamW at first; preset.", "RATE")] = None
    schedule: Annotated[
        tuple[int, ...],
        _option(
            "--schedule",
            f"Steps at which positions are looked at, beside the last. Default: {','.join(map(str, SCHEDULE))}.",
            "STEPS",
            cli=str | None,
            parse=_steps,
        ),
    ] = SCHEDULE
    seed: Annotated[int, _option("--seed", "Of weights, order of data and masks.", "S")] = 0
    log_to: Annotated[
        tuple[str, ...],
        _option("--log-to", "tensorboard, wandb, mlflow, ...; may be repeated.", "NAME", cli=list[str], parse=tuple),
    ] = ()

    def check(self) -> None:
        """Refuse what cannot be trained, before anything is read."""
        from posgeom.encodings.registry import check_spec

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
        given = {name: value for name in _SIZES if (value := getattr(self, name)) is not None}
        if self.learning_rate is not None:
            given |= dict.fromkeys(("rate_from_scratch", "rate_from_checkpoint"), self.learning_rate)
        return replace(PRESETS[self.preset], **given)


_SIZES = ("n_positions", "epochs", "batch_size", "max_documents", "save_every")


def checked_schedule(steps: tuple[int, ...]) -> frozenset[int]:
    """Steps to record at, refused where one is negative or no whole number."""
    for step in steps:
        if not isinstance(step, int) or isinstance(step, bool) or step < 0:
            raise PosgeomError(f"schedule: got step {step!r}, expected whole numbers from 0 on")
    return frozenset(steps)
