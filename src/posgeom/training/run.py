"""The paper's experiment: a model trained from scratch or from a checkpoint, its positions watched (Section 6)."""

import json
import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from posgeom.corpus.documents import ReadOptions
from posgeom.counts.counting import count_texts
from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding, check_spec
from posgeom.errors import CheckpointError, GeometryError, PosgeomError, RunError
from posgeom.estimation.build import Geometry, geometry
from posgeom.messages import one_line, shown
from posgeom.progress import ProgressHook, silent
from posgeom.training.held_out import held_out_scores
from posgeom.training.presets import PRESETS, Preset, PresetName
from posgeom.training.result import TrainingResult
from posgeom.training.tasks import Task, TaskName, Vocabulary, collate, make_task
from posgeom.training.tracking import SCHEDULE, checked_schedule

DEFAULT, NONE = "default", "none"
"""Encodings: the table that the model has, and none at all."""
STEPS, PLAN, CHECKPOINTS = "steps.parquet", "plan.json", "checkpoints"
_LOG_EVERY = 10


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
        ``"default"``, the table that the model has; ``"none"``; or a spec or file, as `posgeom.build_encoding` takes
        it, put in its place with the row norm of that.
    trainable : bool
        Whether the table is learned, or frozen as it starts.
    rank : int or None
        Learn the table as a product of two factors of this rank.
    n_positions, epochs, max_steps, batch_size, max_documents : int or None
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
    learning_rate: float | None = None
    schedule: tuple[int, ...] = SCHEDULE
    seed: int = 0
    log_to: tuple[str, ...] = ()

    def sized(self) -> Preset:
        """The preset with the sizes that were given."""
        preset, given = PRESETS[self.preset], ("n_positions", "epochs", "batch_size", "max_documents")
        preset = replace(preset, **{name: value for name in given if (value := getattr(self, name)) is not None})
        if self.learning_rate is None:
            return preset
        return replace(preset, rate_from_scratch=self.learning_rate, rate_from_checkpoint=self.learning_rate)


def train(
    corpus: str | Path | Sequence[str | Path],
    directory: str | Path,
    options: TrainOptions | None = None,
    *,
    read: ReadOptions | None = None,
    progress: ProgressHook = silent,
) -> TrainingResult:
    """Train a model on a task made from a corpus, and record the geometry of its positions along the way.

    Killed at any step, the same call goes on from the last checkpoint in the directory and ends, on a CPU, with the
    same bits. `directory` holds ``steps.parquet`` while it runs and afterwards, and checkpoints while it runs.

    Parameters
    ----------
    corpus : str, Path or sequence of these
        As `posgeom.count` takes it.
    directory : str or Path
    options : TrainOptions, optional
    read : ReadOptions, optional
        How the corpus is read; its `fold_by` names the column of labels for the task ``label``.
    progress : callable
        Called as ``progress("training", step, steps)``.

    Returns
    -------
    TrainingResult

    Raises
    ------
    PosgeomError
        When torch, transformers or accelerate is missing, or an option is out of range.
    CorpusError, TokenizerError, EncodingError, CheckpointError
        When the corpus, the tokenizer, the encoding or the checkpoint cannot be used.
    RunError
        When the directory holds a run with other options.
    """
    options, place = options or TrainOptions(), Path(directory)
    _check(options)
    preset = options.sized()
    files = [str(corpus)] if isinstance(corpus, str | Path) else [str(one) for one in corpus]
    tokenizer = options.tokenizer or options.model
    if tokenizer is None:
        raise PosgeomError("training from scratch needs a tokenizer.json, a model directory or a hub name: give -t")
    vocabulary = Vocabulary(tokenizer, preset.n_positions)
    progress("reading", 0, 1)
    task = make_task(
        options.task,
        files,
        vocabulary,
        options=read or ReadOptions(),
        max_documents=preset.max_documents,
        seed=options.seed,
    )
    progress("reading", 1, 1)
    shape, notes = _geometry(task, preset.n_positions, options)
    checkpoints = place / CHECKPOINTS
    resumed = _prepare(place, options, task)
    run = _Run(options, preset, task, shape, place, progress)
    began = time.perf_counter()
    model, trainer, callback = run.trainer()
    trainer.train(resume_from_checkpoint=None if resumed is None else str(resumed))
    seconds = time.perf_counter() - began
    shutil.rmtree(checkpoints, ignore_errors=True)
    for leftover in (place / PLAN, place / f"{STEPS}.start.npy"):
        leftover.unlink(missing_ok=True)
    return TrainingResult(
        model=model,
        tokenizer=vocabulary.definition,
        options=asdict(options),
        preset=preset,
        sources=tuple(files),
        task=task,
        geometry=shape,
        records=tuple(callback.records),
        losses=tuple((row["step"], row["loss"]) for row in trainer.state.log_history if "loss" in row),
        encoding=run.applied,
        training=run.training(trainer, seconds, callback.seconds),
        notes=tuple(notes),
    )


def _check(options: TrainOptions) -> None:
    """Refuse what cannot be done before anything is read."""
    try:
        import accelerate  # noqa: F401
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise PosgeomError("training needs torch, transformers and accelerate: pip install 'posgeom[models]'") from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    checked_schedule(options.schedule)
    if options.preset not in PRESETS:
        raise PosgeomError(f"preset {shown(options.preset)}: expected one of {', '.join(PRESETS)}")
    if options.seed < 0:
        raise PosgeomError(f"seed {options.seed}: expected 0 or more")
    for name in ("n_positions", "epochs", "max_steps", "batch_size", "max_documents", "rank"):
        value = getattr(options, name)
        if value is not None and value < (2 if name == "n_positions" else 1):
            raise PosgeomError(f"{name.replace('_', ' ')} {value}: expected a positive number")
    if options.learning_rate is not None and not 0 < options.learning_rate < 1:
        raise PosgeomError(f"learning rate {options.learning_rate:g}: expected a number between 0 and 1")
    if options.encoding not in (DEFAULT, NONE):
        check_spec(options.encoding, n_positions=2, n_dims=2)
