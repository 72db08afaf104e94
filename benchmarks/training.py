"""What training shows, measured: ``python -m benchmarks.training CORPUS TOKENIZER --column NAME``.

The tiny preset on the order task, over seeds: a learned table, MDS of the corpus frozen at the significant rank, and no
encoding; differences are paired by seed, with Student's intervals. Then the share of a run that recording takes.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from posgeom.corpus.documents import ReadOptions
from posgeom.inference.jackknife import Estimate
from posgeom.policies import LEVEL
from posgeom.training.presets import TrainOptions
from posgeom.training.result import TrainingResult
from posgeom.training.run import train

ARMS = {
    "learned": TrainOptions(),
    "mds of the significant rank, frozen": TrainOptions(encoding="fit", trainable=False),
    "sinusoidal, frozen": TrainOptions(encoding="sinusoidal", trainable=False),
    "none": TrainOptions(encoding="none"),
}
LEARNED = "learned"


def run(corpus: str, column: str | None, tokenizer: str, arm: str, seed: int, steps: int | None) -> TrainingResult:
    options = replace(ARMS[arm], tokenizer=tokenizer, seed=seed, schedule=(0,), max_steps=steps)
    with tempfile.TemporaryDirectory() as directory:
        result = train(corpus, Path(directory) / "run", options, read=ReadOptions(column=column))
    last = result.records[-1]
    share = result.machine["seconds_recording"] / result.machine["seconds"]
    print(
        f"{arm:<38} seed {seed}: loss {last['loss']:.4f}, accuracy {last['accuracy']:.4f}, separation "
        f"{last['min_separation']:.4f}, {result.machine['seconds']:.0f} s, recording {share:.2%} of it",
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("tokenizer")
    parser.add_argument("--column")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, help="optimiser steps of a run; by default the preset's epochs")
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS))
    given = parser.parse_args()
    found: dict[str, list[TrainingResult]] = {arm: [] for arm in given.arms}
    for seed in range(given.seeds):
        for arm in given.arms:
            found[arm].append(run(given.corpus, given.column, given.tokenizer, arm, seed, given.steps))
    for name in ("accuracy", "loss"):
        values = {arm: [result.records[-1][name] for result in results] for arm, results in found.items()}
        for arm, of_arm in values.items():
            print(f"held-out {name}, {arm:<38} {mean_over_seeds(of_arm)}")
            if arm != LEARNED and LEARNED in values:
                gaps = [a - b for a, b in zip(of_arm, values[LEARNED], strict=True)]
                print(f"  less that of {LEARNED}, by seed: {mean_over_seeds(gaps)}")


if __name__ == "__main__":
    main()
