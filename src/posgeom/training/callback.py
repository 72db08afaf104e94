"""`PositionGeometryCallback`: the geometry of a model's positions, watched while the transformers Trainer trains it."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import TrainerCallback

from posgeom.estimation.build import Geometry
from posgeom.training.model_table import read_table, unwrapped
from posgeom.training.storage import Row, read_start_and_records, replace_file, start_path, write_records
from posgeom.training.tracking import TableTracker
from posgeom.training_options import SCHEDULE, checked_schedule

Measure = Callable[[Any, int], Mapping[str, float | None]]


class PositionGeometryCallback(TrainerCallback):
    """Records the geometry of a model's position table along training (Section 6.5 of the paper).

    Each record has the minimum separation and its pair, violations of monotonicity, effective rank, row norm and the
    distance moved from the start; with a geometry, also alignment with its interval, stress (raw, scaled) and
    correlation. A step is an optimiser step, whatever the accumulation of gradients. Models inside
    `torch.compile`, DataParallel or DDP are unwrapped, parameters sharded by DeepSpeed or FSDP are gathered; what is
    not whole is refused and never scored.

    Parameters
    ----------
    geometry : Geometry, optional
        What tables are scored against; the positions 0 to n - 1 of its context length are looked at.
    path : str or Path, optional
        Parquet file of the records, one a row, replaced as a whole at each record. The table of step 0 is kept
        beside it as ``PATH.start.npy``, so that a resumed run goes on with both.
    schedule : sequence of int
        Steps to record at; the last step is always one more.
    n_positions : int, optional
        Positions to look at where there is no geometry. By default all.
    measure : callable, optional
        Called as ``measure(model, step)`` with the unwrapped model; what it returns, numbers by name, is recorded too.
    read : callable, optional
        From the model to its table, shape (rows, d), for a model of a family that posgeom does not know.

    Attributes
    ----------
    records : list of dict
        One for each step recorded so far; an undefined number is None.
    seconds, seconds_measuring : float
        Time that recording took in this process, and that `measure` took beside it.

    Examples
    --------
    >>> callback = PositionGeometryCallback(geometry, path="steps.parquet")  # doctest: +SKIP
    >>> trainer = transformers.Trainer(model, arguments, train_dataset=data)  # doctest: +SKIP
    >>> callback.attach(trainer)  # doctest: +SKIP
    """

    def __init__(
        self,
        geometry: Geometry | None = None,
        *,
        path: str | Path | None = None,
        schedule: Sequence[int] = SCHEDULE,
        n_positions: int | None = None,
        measure: Measure | None = None,
        read: Callable[[Any], NDArray[np.float64]] = read_table,
    ) -> None:
        self._tracker = TableTracker(geometry, n_positions)
        self._path = None if path is None else Path(path)
        self._schedule = checked_schedule(tuple(schedule))
        self._measure, self._read = measure, read
        self._trainer: Any = None
        self._start: NDArray[np.float64] | None = None
        self.records: list[Row] = []
        self.seconds = self.seconds_measuring = 0.0

    def attach(self, trainer: Any) -> None:
        """Watch a Trainer, and log through it, so that W&B, TensorBoard, MLflow and the like see every record.

        As one of a Trainer's `callbacks` alone it cannot reach these, and only keeps and writes its records.

        Parameters
        ----------
        trainer : transformers.Trainer
        """
        trainer.add_callback(self)
        self._trainer = trainer

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:  # noqa: ARG002
        """Record the table that training begins with, or take up the records of a run that is resumed."""
        if not state.global_step:
            self.records = []
            self._record(state, control, model, is_start=True)
        elif self._path is not None and (stored := read_start_and_records(self._path)) is not None:
            self._start, records = stored
            self.records = [row for row in records if row["step"] <= state.global_step]  # later ones are made again

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:  # noqa: ARG002
        """Record a step of the schedule, and the last one."""
        if state.global_step in self._schedule or state.global_step >= state.max_steps:
            self._record(state, control, model)

    def on_train_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Record where training was stopped early, unless the Trainer has put an earlier model in its place."""
        is_replaced = args.load_best_model_at_end and state.best_model_checkpoint is not None
        if not is_replaced and (not self.records or self.records[-1]["step"] != state.global_step):
            self._record(state, control, model)

    def _record(self, state: Any, control: Any, model: Any, *, is_start: bool = False) -> None:
        began = time.perf_counter()
        measuring = 0.0
        table = self._read(model)  # by every process, as sharded parameters must be gathered by all
        if is_start:
            self._start = table
            if self._path is not None and state.is_world_process_zero:
                replace_file(start_path(self._path), lambda path: np.save(path, table, allow_pickle=False))
        if state.is_world_process_zero and (not is_start or 0 in self._schedule):
            row: Row = {"step": state.global_step} | self._tracker.scores(table, self._start)
            if self._measure is not None:
                measured = time.perf_counter()
                row |= self._measure(unwrapped(model), state.global_step)
                measuring = time.perf_counter() - measured
            self.records.append(row)
            if self._path is not None:
                write_records(self.records, self._path)
            if self._trainer is not None:
                should_log = control.should_log  # which logging takes for done
                logs = {name: value for name, value in row.items() if value is not None and name != "step"}
                self._trainer.log({f"positions/{name}": value for name, value in logs.items()})
                control.should_log = should_log
        self.seconds += time.perf_counter() - began - measuring
        self.seconds_measuring += measuring
