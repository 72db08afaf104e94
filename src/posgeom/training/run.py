"""The paper's experiment: a model trained from scratch or from a checkpoint, its positions watched (Section 6)."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from posgeom.counts.counting import count_texts
from posgeom.errors import GeometryError
from posgeom.estimation.build import geometry
from posgeom.options import ReadOptions
from posgeom.progress import ProgressHook, silent
from posgeom.training.callback import PositionGeometryCallback
from posgeom.training.held_out import held_out_scores
from posgeom.training.hypotheses import hypotheses
from posgeom.training.result import TrainingResult
from posgeom.training.resume import CHECKPOINTS, STEPS, finish, prepare
from posgeom.training.setup import Progress, machine_of, make_model, make_trainer, put_encoding
from posgeom.training.tasks import Vocabulary, make_task
from posgeom.training_options import FIT, TrainOptions


def train(
    corpus: str | Path | Sequence[str | Path],
    directory: str | Path,
    options: TrainOptions,
    *,
    read: ReadOptions | None = None,
    progress: ProgressHook = silent,
) -> TrainingResult:
    """Train a model on a task made from a corpus, and record the geometry of its positions along the way.

    Killed at any step, the same call goes on from the last checkpoint in the directory and ends, on a CPU, with the
    same bits.

    Parameters
    ----------
    corpus : str, Path or sequence of these
        As `posgeom.count` takes it.
    directory : str or Path
        Gets ``steps.parquet``, the records so far, at once; at the end ``run.json``, all numbers of the run, and the
        directory ``model``, which ``from_pretrained`` loads. Checkpoints are kept there until then.
    options : TrainOptions
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
        When the directory holds another run, or one that has ended.
    """
    options.check()
    preset, place = options.sized(), Path(directory)
    files = [str(corpus)] if isinstance(corpus, str | Path) else [str(one) for one in corpus]
    task = make_task(
        options.task,
        files,
        Vocabulary(options.tokenizer or options.model, preset.n_positions),
        options=read or ReadOptions(),
        max_documents=preset.max_documents,
        seed=options.seed,
    )
    counts = count_texts(
        task.texts, task.vocabulary.loaded, n_positions=preset.n_positions, source="documents trained on"
    )
    shape, notes = None, list[str]()
    try:
        shape = geometry(counts)
    except GeometryError as error:
        notes = [f"No alignment, stress or correlation: the documents trained on have no geometry ({error})."]
    model = make_model(options, preset, task)
    encoding = put_encoding(model, options, shape, counts)
    examples = sha256(json.dumps([asdict(one) for one in task.train]).encode()).hexdigest()
    plan = asdict(options) | {"corpus": files, "examples": examples}
    del plan["log_to"]  # which does not change the result
    resumed = prepare(place, plan)
    pad, theorem = task.vocabulary.pad, hypotheses(counts, task, options.seed)
    callback = PositionGeometryCallback(
        shape,
        path=place / STEPS,
        schedule=options.schedule,
        n_positions=preset.n_positions,
        measure=lambda running, _: held_out_scores(running, task.held_out, pad) | theorem(running),
    )
    trainer = make_trainer(model, options, preset, task, folder=place / CHECKPOINTS, callback=callback)
    trainer.add_callback(Progress(progress))
    began = time.perf_counter()
    trainer.train(resume_from_checkpoint=None if resumed is None else str(resumed))
    seconds = {"seconds": time.perf_counter() - began}
    seconds |= {"seconds_recording": callback.seconds, "seconds_measuring": callback.seconds_measuring}
    notes.append("Alignment and stress say how faithful positions are to the corpus. They do not predict performance.")
    if shape is not None and options.encoding.partition(":")[0] in ("mds", FIT):
        notes.append(
            f"{options.encoding} is fitted to the documents that its alignment at step 0 is computed with: that is "
            "in-sample."
        )
    result = TrainingResult(
        model=model,
        options=options,
        preset=preset,
        sources=tuple(files),
        task=task,
        geometry=shape,
        records=tuple(callback.records),
        losses=tuple((row["step"], row["loss"]) for row in trainer.state.log_history if "loss" in row),
        encoding=encoding,
        machine=machine_of(trainer) | seconds | {"resumed_from": None if resumed is None else resumed.name},
        notes=tuple(notes),
    )
    finish(place, result)
    return result
