"""What training shows, measured: ``python -m benchmarks.training CORPUS TOKENIZER --column NAME``.

The tiny preset on one task, over seeds: a learned table, others frozen, and none; differences are paired by seed, with
Student's intervals. With --cost, one run at the default schedule: the time that recording takes against training.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np

from posgeom.inference.jackknife import Estimate
from posgeom.options import ReadOptions
from posgeom.policies import LEVEL
from posgeom.training.result import TrainingResult
from posgeom.training.run import train
from posgeom.training_options import SCHEDULE, TaskName, TrainOptions

ARMS = {
    "learned": TrainOptions(),
    "mds of the significant rank, frozen": TrainOptions(encoding="fit", frozen=True),
    "sinusoidal, frozen": TrainOptions(encoding="sinusoidal", frozen=True),
    "sinusoidal, log warp of the corpus, frozen": TrainOptions(encoding="sinusoidal:warp=corpus:log", frozen=True),
    "none": TrainOptions(encoding="none"),
}
LEARNED, NONE = "learned", "none"


def run(given: argparse.Namespace, arm: str, seed: int, schedule: tuple[int, ...] = (0,)) -> TrainingResult:
    options = replace(
        ARMS[arm], task=given.task, tokenizer=given.tokenizer, seed=seed, schedule=schedule, max_steps=given.steps
    )
    read = ReadOptions(column=given.column, fold_by="text" if given.label is None else f"column:{given.label}")
    with tempfile.TemporaryDirectory() as directory:
        result = train(given.corpus, Path(directory) / "run", options, read=read)
    last, machine = result.records[-1], result.machine
    print(
        f"{arm:<42} seed {seed}: loss {last['loss']:.4f}, accuracy {last['accuracy']:.4f}, separation "
        f"{last['min_separation']:.4f}, {machine['seconds']:.0f} s",
        flush=True,
    )
    return result


def mean_over_seeds(values: Sequence[float]) -> str:
    """Mean with Student's interval."""
    numbers = np.array(values)
    if numbers.size < 2:
        return f"{numbers[0]:.4f}, one seed"
    error = float(numbers.std(ddof=1) / np.sqrt(numbers.size))
    interval = Estimate(float(numbers.mean()), error, numbers.size - 1).interval(LEVEL)
    assert interval is not None
    return (
        f"{numbers.mean():+.4f} ({LEVEL:.0%} interval {interval.low:+.4f} to {interval.high:+.4f}, n = {numbers.size})"
    )


def cost(given: argparse.Namespace) -> None:
    """Print how long recording takes, against the training steps of the same run."""
    result = run(given, LEARNED, 0, SCHEDULE)
    machine, n_records, n_steps = result.machine, len(result.records), result.records[-1]["step"]
    training = machine["seconds"] - machine["seconds_recording"] - machine["seconds_measuring"]
    record, step = machine["seconds_recording"] / n_records, training / n_steps
    print(
        f"a record {1e3 * record:.1f} ms, a step {1e3 * step:.1f} ms; {n_records} records in {n_steps:,} steps: "
        f"{machine['seconds_recording'] / training:.3%} of training"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("tokenizer")
    parser.add_argument("--column")
    parser.add_argument("--task", choices=get_args(TaskName), default="order")
    parser.add_argument("--label", help="column of the labels of --task label")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, help="optimiser steps of a run; by default the preset's epochs")
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS))
    parser.add_argument("--cost", action="store_true", help="one run, for the time that recording takes")
    given = parser.parse_args()
    if given.cost:
        cost(given)
        return
    found: dict[str, list[TrainingResult]] = {arm: [] for arm in given.arms}
    for seed in range(given.seeds):
        for arm in given.arms:
            found[arm].append(run(given, arm, seed))
    for name in ("accuracy", "loss"):
        values = {arm: [result.records[-1][name] for result in results] for arm, results in found.items()}
        for arm, of_arm in values.items():
            print(f"held-out {name}, {arm:<42} {mean_over_seeds(of_arm)}")
            for other in (name for name in (LEARNED, NONE) if name in values and name != arm):
                gaps = [a - b for a, b in zip(of_arm, values[other], strict=True)]
                print(f"  less that of {other}, by seed: {mean_over_seeds(gaps)}")


if __name__ == "__main__":
    main()
