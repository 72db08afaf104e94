"""`posgeom train` from end to end: what is learned, what is written, and runs that are killed and go on."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.errors import CheckpointError, PosgeomError, RunError
from posgeom.options import ReadOptions
from posgeom.report.run import read_run

READ = ReadOptions(column="text")
SHORT: dict[str, Any] = {"max_steps": 12, "batch_size": 16, "n_positions": 12, "save_every": 4, "schedule": (0, 3, 9)}


def options(tokenizer: Path, **chosen: Any) -> Any:
    from posgeom.training import TrainOptions

    return TrainOptions(tokenizer=str(tokenizer), **(SHORT | chosen))


def train(corpus: Path, directory: Path, chosen: Any, **more: Any) -> Any:
    from posgeom.training import train as run

    return run(corpus, directory, chosen, **({"read": READ} | more))


@pytest.fixture(scope="module")
def whole(corpus: Path, tokenizer: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing interrupts."""
    directory = tmp_path_factory.mktemp("whole") / "run"
    train(corpus, directory, options(tokenizer))
    return directory


def test_what_a_run_leaves(whole: Path) -> None:
    assert sorted(path.name for path in whole.iterdir()) == ["model", "run.json", "steps.parquet"]
    run = read_run(whole).training
    assert run is not None
    assert [record["step"] for record in run["records"]] == [0, 3, 9, 12]
    assert all(record["min_separation"] > 0 for record in run["records"])
    assert [loss["step"] for loss in run["losses"]] == [4, 8, 10, 12]  # every ten steps, and at checkpoints
    from pyarrow import parquet

    assert parquet.read_table(whole / "steps.parquet").to_pylist() == run["records"]
    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(whole / "model")
    table = model.bert.embeddings.position_embeddings.weight.detach().double().numpy()
    gaps = np.linalg.norm(table[:, None] - table, axis=2)[np.triu_indices(12, 1)]
    assert gaps.min() == pytest.approx(run["records"][-1]["min_separation"], rel=1e-9)


KILLED = """
import os, signal, sys
from posgeom.options import ReadOptions
from posgeom.training import TrainOptions, train

def progress(stage, done, total):
    if (stage, done) == ("training", int(sys.argv[4])):
        os.kill(os.getpid(), signal.SIGKILL)

sizes = {"max_steps": 12, "batch_size": 16, "n_positions": 12, "save_every": 4, "schedule": (0, 3, 9)}
chosen = TrainOptions(tokenizer=sys.argv[3], **sizes)
train(sys.argv[1], sys.argv[2], chosen, read=ReadOptions(column="text"), progress=progress)
"""


def kill_at(step: int, corpus: Path, directory: Path, tokenizer: Path) -> None:
    arguments = [str(corpus), str(directory), str(tokenizer), str(step)]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr


def same(one: Path, other: Path) -> None:
    weights = "model/model.safetensors"
    assert (one / weights).read_bytes() == (other / weights).read_bytes()
    runs = [json.loads((directory / "run.json").read_text()) for directory in (one, other)]
    assert runs[0]["records"] == runs[1]["records"]
    assert runs[0]["losses"] == runs[1]["losses"]


def test_a_killed_run_goes_on_to_the_same_bits(whole: Path, corpus: Path, tokenizer: Path, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    kill_at(2, corpus, directory, tokenizer)  # before the first checkpoint
    kill_at(7, corpus, directory, tokenizer)  # from the start again, and past one
    assert [path.name for path in (directory / "checkpoints").iterdir()] == ["checkpoint-4"]
    kill_at(11, corpus, directory, tokenizer)  # from step 4, past a record that checkpoint 8 has not
    cut_off = directory / "checkpoints" / "checkpoint-8" / "trainer_state.json"
    cut_off.write_text(cut_off.read_text()[:100])  # as a kill while it is written would leave it
    result = train(corpus, directory, options(tokenizer))
    assert result.machine["resumed_from"] == "checkpoint-4"
    same(whole, directory)


def test_seeds_decide(whole: Path, corpus: Path, tokenizer: Path, tmp_path: Path) -> None:
    train(corpus, tmp_path / "again", options(tokenizer))
    same(whole, tmp_path / "again")
    other = train(corpus, tmp_path / "other", options(tokenizer, seed=1, schedule=()))
    mine = json.loads((whole / "run.json").read_text())
    assert other.records[-1]["loss"] != mine["records"][-1]["loss"]


def test_another_run_in_the_directory_is_refused(whole: Path, corpus: Path, tokenizer: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds a run that has ended: name another directory"):
        train(corpus, whole, options(tokenizer))
    kill_at(5, corpus, tmp_path / "run", tokenizer)
    with pytest.raises(RunError, match="holds a run with another seed"):
        train(corpus, tmp_path / "run", options(tokenizer, seed=1))


@pytest.mark.parametrize("encoding", ["default", "sinusoidal", "fit"])
def test_a_frozen_table_stays(corpus: Path, tokenizer: Path, tmp_path: Path, encoding: str) -> None:
    result = train(corpus, tmp_path / "run", options(tokenizer, encoding=encoding, frozen=True, schedule=(0,)))
    assert [record["moved"] for record in result.records] == [0, 0]
    first, last = result.records
    assert first["loss"] != last["loss"]
    assert result.encoding["trainable"] is False


def test_it_is_learned_with_an_encoding_and_not_without(corpus: Path, tokenizer: Path, tmp_path: Path) -> None:
    """Theorem 1 and what follows from it: exactly chance, as every document stands beside its twin."""
    longer = {"max_steps": 240, "batch_size": 32, "schedule": (0,), "learning_rate": 2e-3}
    learned = train(corpus, tmp_path / "learned", options(tokenizer, **longer)).records[-1]
    without = train(corpus, tmp_path / "none", options(tokenizer, encoding="none", **longer)).records[-1]
    assert learned["accuracy"] - 4 * learned["accuracy_error"] > 0.6
    assert (without["accuracy"], without["accuracy_error"]) == (0.5, 0)
    assert without["min_separation"] == without["effective_rank"] == 0
    assert without["loss"] > 0.69 > learned["loss"]


def test_a_checkpoint_is_trained_on(whole: Path, corpus: Path, tokenizer: Path, tmp_path: Path) -> None:
    mine = read_run(whole).training
    assert mine is not None
    chosen = replace(options(tokenizer), tokenizer=None, model=str(whole / "model"))
    result = train(corpus, tmp_path / "run", chosen)
    assert result.records[0]["min_separation"] == mine["records"][-1]["min_separation"]
    assert result.records[0]["loss"] == pytest.approx(mine["records"][-1]["loss"], rel=1e-5)
    assert result.preset.rate_from_checkpoint == 2e-5
    with pytest.raises(CheckpointError, match="has 12 positions: use -n 12, or less"):
        train(corpus, tmp_path / "long", replace(chosen, n_positions=16))
    with pytest.raises(CheckpointError, match="cannot be loaded by transformers"):
        train(corpus, tmp_path / "bad", replace(chosen, model=str(tmp_path), tokenizer=str(tokenizer)))


@pytest.mark.parametrize("task", ["label", "mlm"])
def test_other_tasks(corpus: Path, tokenizer: Path, tmp_path: Path, task: str) -> None:
    read = ReadOptions(column="text", fold_by="column:label") if task == "label" else READ
    result = train(corpus, tmp_path / "run", options(tokenizer, task=task), read=read)
    first, last = result.records[0], result.records[-1]
    assert last["loss"] != first["loss"]
    assert (result.task.chance is None) == (task == "mlm")
    assert first["loss"] == pytest.approx(np.log(31) if task == "mlm" else np.log(2), rel=0.1)


def test_low_rank_tables_are_trained(corpus: Path, tokenizer: Path, tmp_path: Path) -> None:
    result = train(corpus, tmp_path / "run", options(tokenizer, encoding="fit", rank=2, schedule=(0,)))
    assert result.encoding["n_parameters"] == 2 * (12 + 64)
    assert result.records[-1]["moved"] > 0
    assert result.records[-1]["effective_rank"] <= 2 + 1e-9


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"seed": -1}, "seed -1: expected 0 or more"),
        ({"max_steps": 0}, "max steps 0: expected at least 1"),
        ({"n_positions": 1}, "n positions 1: expected at least 2"),
        ({"learning_rate": 2.0}, "learning rate 2: expected a number between 0 and 1"),
        ({"preset": "huge"}, "preset 'huge': expected one of tiny, base"),
        ({"encoding": "nothing"}, "no encoding 'nothing'"),
        ({"encoding": "alibi:form=kernel"}, "distances but no vectors"),
        ({"tokenizer": None}, "give -t"),
        ({"schedule": (-5,)}, "schedule: got step -5"),
    ],
)
def test_bad_options_are_one_line(
    corpus: Path, tokenizer: Path, tmp_path: Path, chosen: dict[str, Any], message: str
) -> None:
    with pytest.raises(PosgeomError, match=message) as caught:
        train(corpus, tmp_path / "run", replace(options(tokenizer), **chosen))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_reporter_that_is_not_there_is_refused(corpus: Path, tokenizer: Path, tmp_path: Path) -> None:
    with pytest.raises(PosgeomError, match="--log-to nothing: nothing is not supported"):
        train(corpus, tmp_path / "run", options(tokenizer, log_to=("nothing",)))
    other = train(corpus, tmp_path / "run", options(tokenizer, seed=3))  # nothing of the first run is there to go on
    assert other.records[-1]["step"] == 12
