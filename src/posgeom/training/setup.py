"""The parts of a run: a model from scratch or from a checkpoint, the encoding in it, and the Trainer."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding
from posgeom.errors import CheckpointError, EncodingError
from posgeom.estimation.build import Geometry
from posgeom.messages import one_line, shown
from posgeom.progress import ProgressHook
from posgeom.training.apply import apply_encoding, position_table
from posgeom.training.callback import PositionGeometryCallback
from posgeom.training.presets import DEFAULT, NONE, Preset, TrainOptions
from posgeom.training.tasks import Task, collate

_LOG_EVERY = 10


def make_model(options: TrainOptions, preset: Preset, task: Task) -> Any:
    """A model with the head of the task: BERT of the preset's sizes, or that of a checkpoint."""
    transformers.set_seed(options.seed)
    masked = task.name == "mlm"
    labels = {} if masked else {"num_labels": len(task.labels)}
    vocabulary = task.vocabulary
    if options.model is None:
        config = transformers.BertConfig(
            **preset.sizes,
            **labels,
            vocab_size=vocabulary.size,
            max_position_embeddings=preset.n_positions,
            pad_token_id=vocabulary.pad or 0,
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
            f"{shown(options.model)} has {model.config.vocab_size:,} tokens, the tokenizer {vocabulary.size:,}: leave -t "
            "out for the model's own"
        )
    return model


def put_encoding(model: Any, options: TrainOptions, geometry: Geometry | None) -> dict[str, Any] | None:
    """Put the encoding into the model, frozen or not; None where the model keeps the table that it has."""
    if options.encoding == DEFAULT and options.rank is None:
        position_table(model)  # refused where there is none
        if not options.trainable:
            for parameter in _table_parameters(model):
                parameter.requires_grad_(False)
        return None
    applied = apply_encoding(
        model, _encoding(model, options, geometry), trainable=options.trainable, rank=options.rank, seed=options.seed
    )
    return dict(applied.record)
