"""The parts of a run: a model from scratch or from a checkpoint, the encoding in it, and the Trainer."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.learned import learned
from posgeom.encodings.registry import build_encoding
from posgeom.errors import CheckpointError, EncodingError, PosgeomError
from posgeom.estimation.build import Geometry
from posgeom.fitting import fit_encoding
from posgeom.messages import one_line, shown
from posgeom.progress import ProgressHook
from posgeom.training.apply import apply_encoding, position_table
from posgeom.training.callback import PositionGeometryCallback
from posgeom.training.tasks import Task, collate
from posgeom.training_options import DEFAULT, FIT, NONE, Preset, TrainOptions

_LOG_EVERY = 10


def make_model(options: TrainOptions, preset: Preset, task: Task) -> Any:
    """A model with the head of the task: BERT of the preset's sizes, or that of a checkpoint."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    transformers.set_seed(options.seed)
    masked, vocabulary = task.name == "mlm", task.vocabulary
    labels = {} if masked else {"num_labels": len(task.labels)}
    if options.model is None:
        config = transformers.BertConfig(
            **preset.sizes,
            **labels,
            vocab_size=vocabulary.size,
            max_position_embeddings=preset.n_positions,
            pad_token_id=vocabulary.pad,
        )
        return (transformers.BertForMaskedLM if masked else transformers.BertForSequenceClassification)(config)
    auto = transformers.AutoModelForMaskedLM if masked else transformers.AutoModelForSequenceClassification
    try:
        model = auto.from_pretrained(
            options.model,
            local_files_only=Path(options.model).is_dir(),
            trust_remote_code=False,
            use_safetensors=True,  # nothing of a checkpoint is unpickled
            dtype=torch.float32,
            **labels,
        )
    except Exception as error:  # noqa: BLE001  the library raises errors without a common root
        raise CheckpointError(f"{shown(options.model)} cannot be loaded by transformers: {one_line(error)}") from None
    if model.config.vocab_size < vocabulary.size:
        raise CheckpointError(
            f"{shown(options.model)} has {model.config.vocab_size:,} tokens, the tokenizer {vocabulary.size:,}: leave "
            "-t out for the model's own"
        )
    return model


def put_encoding(
    model: Any, options: TrainOptions, geometry: Geometry | None, counts: PositionCounts
) -> dict[str, Any]:
    """Put the encoding into the model, frozen or not, and tell what it is."""
    own = position_table(model)  # refused where there is none
    n, width = own.shape
    if n < options.sized().n_positions:
        raise CheckpointError(f"{shown(options.model)} has {n} positions: use -n {n}, or less")
    encoding: Any = options.encoding
    if encoding == DEFAULT:
        encoding = learned(own.detach().double().cpu().numpy(), name=DEFAULT)
    elif encoding == FIT:
        if geometry is None:
            raise EncodingError(f"encoding {FIT}: the documents trained on have no geometry that it could be fitted to")
        encoding = fit_encoding(geometry, width, n_positions=n, counts=counts, seed=options.seed)
    elif encoding != NONE:
        encoding = build_encoding(encoding, n_positions=n, n_dims=width, geometry=geometry, seed=options.seed)
    applied = apply_encoding(model, encoding, trainable=not options.frozen, rank=options.rank)
    return dict(applied.record)


def make_trainer(
    model: Any, options: TrainOptions, preset: Preset, task: Task, *, folder: Path, callback: PositionGeometryCallback
) -> Any:
    """The Trainer of a run: AdamW, a rate that falls linearly to 0, mixed precision where there is a GPU for it."""
    has_gpu, n_devices = torch.cuda.is_available(), max(1, torch.cuda.device_count())
    has_bfloat16 = has_gpu and torch.cuda.is_bf16_supported()
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=max(1, preset.batch_size // n_devices),
        num_train_epochs=preset.epochs,
        max_steps=options.max_steps or -1,
        learning_rate=preset.rate_from_scratch if options.model is None else preset.rate_from_checkpoint,
        lr_scheduler_type="linear",
        seed=options.seed,
        bf16=has_bfloat16,
        fp16=has_gpu and not has_bfloat16,
        save_strategy="steps",
        save_steps=preset.save_every,
        save_total_limit=2,
        logging_steps=_LOG_EVERY,
        report_to=list(options.log_to) or "none",
        remove_unused_columns=False,
        dataloader_pin_memory=has_gpu,
        disable_tqdm=True,
    )
    collator = partial(collate, pad=task.vocabulary.pad)
    try:
        trainer = transformers.Trainer(model, arguments, train_dataset=task.train, data_collator=collator)
    except (ImportError, RuntimeError, ValueError) as error:
        if not options.log_to:
            raise
        raise PosgeomError(f"--log-to {', '.join(options.log_to)}: {one_line(error)}") from None
    trainer.remove_callback(transformers.PrinterCallback)  # standard output is for results
    callback.attach(trainer)
    return trainer


def machine_of(trainer: Any) -> dict[str, Any]:
    """What a run was computed on and with."""
    arguments = trainer.args
    return {
        "device": str(arguments.device),
        "precision": "bfloat16, mixed" if arguments.bf16 else "float16, mixed" if arguments.fp16 else "float32",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


class Progress(transformers.TrainerCallback):
    """Tells how far training is, and has the loss logged at checkpoints, which keep no part of a mean loss."""

    def __init__(self, hook: ProgressHook) -> None:
        self._hook = hook

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell after each optimiser step."""
        control.should_log |= state.global_step % args.save_steps == 0
        self._hook("training", state.global_step, state.max_steps)
