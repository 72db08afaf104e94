"""`TrainingResult`: what a run of training gives."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from posgeom.estimation.build import Geometry
from posgeom.training.tasks import HELD_OUT, Task
from posgeom.training_options import Preset, TrainOptions

SCHEMA_VERSION = 2


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A model that was trained, and the geometry of its positions along the way.

    Attributes
    ----------
    model : PreTrainedModel
    options : TrainOptions
    preset : Preset
        The sizes used.
    sources : tuple of str
    task : Task
    geometry : Geometry or None
        Of the documents trained on; None where they have none, which `notes` explain.
    records : tuple of dict
        Positions, and what is held out, at the steps of the schedule.
    losses : tuple of (int, float)
        Mean training loss since the step before.
    encoding : mapping
        What was put into the model.
    machine : mapping
        Device, precision, threads, versions, seconds.
    notes : tuple of str
    """

    model: Any
    options: TrainOptions
    preset: Preset
    sources: tuple[str, ...]
    task: Task
    geometry: Geometry | None
    records: tuple[Mapping[str, Any], ...]
    losses: tuple[tuple[int, float], ...]
    encoding: Mapping[str, Any]
    machine: Mapping[str, Any]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        last = self.records[-1]
        return (
            f"<TrainingResult: task {self.task.name}, encoding {self.options.encoding}, {last['step']:,} steps, "
            f"held-out loss {last['loss']:.4g}>"
        )

    def save_model(self, directory: str | Path) -> None:
        """Write the model, and the tokenizer.json it was trained with."""
        self.model.save_pretrained(str(directory))
        (Path(directory) / "tokenizer.json").write_text(self.task.vocabulary.definition, encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """The content of ``run.json``; an undefined number is None."""
        task, shape, config = self.task, self.geometry, self.model.config
        parameters = list(self.model.parameters())
        return {
            "schema_version": SCHEMA_VERSION,
            "software": {"name": "posgeom", "version": version("posgeom")},
            "sources": list(self.sources),
            "task": {
                "name": task.name,
                "description": task.description,
                "labels": list(task.labels),
                "chance": task.chance,
                "train_examples": len(task.train),
                "held_out_examples": len(task.held_out),
                "train_documents": len(task.texts),
                "held_out_documents": len({one.document for one in task.held_out}),
                "held_out": f"one document in {HELD_OUT}, by a hash of its text",
            },
            "model": {
                "class": type(self.model).__name__,
                "model_type": config.model_type,
                "n_layers": config.num_hidden_layers,
                "n_heads": config.num_attention_heads,
                "width": config.hidden_size,
                "parameters": sum(one.numel() for one in parameters),
                "trained_parameters": sum(one.numel() for one in parameters if one.requires_grad),
            },
            "options": asdict(self.options),
            "preset": asdict(self.preset),
            "encoding": dict(self.encoding),
            "geometry": None
            if shape is None
            else {
                "metric": shape.metric.name,
                "estimator": shape.estimator,
                "n_positions": shape.n_positions,
                "positions_used": shape.positions.tolist(),
                "common_depth": shape.depth,
                "n_fold_groups": len(shape.fold_groups),
            },
            "records": [dict(record) for record in self.records],
            "losses": [{"step": step, "loss": loss} for step, loss in self.losses],
            "machine": dict(self.machine),
            "notes": list(self.notes),
        }
