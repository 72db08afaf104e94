"""A run that was killed: what it was, and the last step that it can go on from."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posgeom.errors import OutputError, RunError
from posgeom.messages import one_line, shown
from posgeom.training.result import TrainingResult
from posgeom.training.storage import replace_file, start_path

PLAN, CHECKPOINTS, RUN, STEPS, MODEL = "plan.json", "checkpoints", "run.json", "steps.parquet", "model"
_STATE = "trainer_state.json"
"""What the Trainer writes last into a checkpoint."""


def prepare(directory: Path, plan: Mapping[str, Any]) -> Path | None:
    """Make the directory of a run, or find the last checkpoint of the same run in it; None where there is none yet."""
    path, planned = directory / PLAN, json.loads(json.dumps(plan))
    try:
        if (directory / RUN).exists():
            raise RunError(f"{shown(directory)} holds a run that has ended: name another directory, or remove it")
        directory.mkdir(parents=True, exist_ok=True)
        last = _last_checkpoint(directory / CHECKPOINTS)
        stored = planned if last is None else json.loads(path.read_bytes())
        changed = sorted(name for name in planned if name not in stored or stored[name] != planned[name])
        if changed:
            raise RunError(
                f"{shown(directory)} holds a run with another {changed[0]}: name another directory, remove that one, "
                "or train with the options it began with"
            )
        replace_file(path, lambda place: place.write_text(json.dumps(planned, indent=1) + "\n", encoding="ascii"))
    except OSError as error:
        raise OutputError(f"cannot write {shown(directory)}: {error.strerror or one_line(error)}") from None
    except ValueError as error:
        raise RunError(f"{shown(path)} is no JSON: {one_line(error)}; remove {shown(directory)}") from None
    return last


def _last_checkpoint(folder: Path) -> Path | None:
    """The last checkpoint that was written to its end; later ones, cut off by the kill, are removed."""
    steps = sorted((int(path.name.rpartition("-")[2]), path) for path in folder.glob("checkpoint-*"))
    for _, path in reversed(steps):
        try:
            json.loads((path / _STATE).read_bytes())
        except (OSError, ValueError):
            shutil.rmtree(path)
        else:
            return path
    return None


def finish(directory: Path, result: TrainingResult) -> None:
    """Write the model and, last, the result of a run that has ended; what it took to go on is removed."""
    model = directory / MODEL
    scratch = directory / f".{MODEL}"
    for left in (scratch, model):  # of a run that was killed here
        shutil.rmtree(left, ignore_errors=True)
    try:
        scratch.mkdir()
        result.save_model(scratch)
        scratch.replace(model)
        text = json.dumps(result.to_dict(), indent=1, allow_nan=False)
        replace_file(directory / RUN, lambda path: path.write_text(text + "\n", encoding="ascii"))
    except OSError as error:
        raise OutputError(f"cannot write {shown(directory)}: {error.strerror or one_line(error)}") from None
    shutil.rmtree(directory / CHECKPOINTS, ignore_errors=True)
    for left in (directory / PLAN, start_path(directory / STEPS), *directory.glob(f".*{STEPS}*")):
        left.unlink(missing_ok=True)
