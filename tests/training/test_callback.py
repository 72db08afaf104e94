"""The callback inside the Trainer: when it records, what it logs, and models that are wrapped or sharded."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from posgeom.errors import CheckpointError, GeometryError
from posgeom.estimation.build import Geometry

pytestmark = pytest.mark.filterwarnings("ignore:.*lr_scheduler.step")


def small_bert(**sizes: Any) -> Any:
    import transformers

    transformers.set_seed(0)
    return transformers.BertForSequenceClassification(
        transformers.BertConfig(
            **{
                "vocab_size": 32,
                "hidden_size": 16,
                "num_hidden_layers": 1,
                "num_attention_heads": 2,
                "intermediate_size": 16,
                "max_position_embeddings": 12,
            }
            | sizes
        )
    )


def trainer_of(model: Any, directory: Path, callbacks: Any = (), **arguments: Any) -> Any:
    import torch
    import transformers

    rng = np.random.default_rng(0)
    data = [
        {"input_ids": torch.tensor(rng.integers(5, 32, 10)), "labels": torch.tensor(int(rng.integers(2)))}
        for _ in range(64)
    ]
    defaults = {"per_device_train_batch_size": 4, "num_train_epochs": 1, "report_to": "none", "save_strategy": "no"}
    defaults |= {"use_cpu": True, "disable_tqdm": True, "dataloader_pin_memory": False, "logging_steps": 4}
    options = transformers.TrainingArguments(str(directory), **(defaults | arguments))
    trainer = transformers.Trainer(model, options, train_dataset=data, callbacks=list(callbacks))
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer


def watch(*arguments: Any, **options: Any) -> Any:
    from posgeom.training import PositionGeometryCallback

    return PositionGeometryCallback(*arguments, **options)


def table_of(model: Any) -> np.ndarray:
    return np.asarray(model.bert.embeddings.position_embeddings.weight.detach().double().numpy())


@pytest.mark.parametrize("accumulation", [1, 2])
def test_steps_are_optimiser_steps(tmp_path: Path, shape: Geometry, accumulation: int) -> None:
    callback = watch(shape, path=tmp_path / "steps.parquet", schedule=(0, 4, 5))
    seen: list[int] = []
    trainer = trainer_of(small_bert(), tmp_path, gradient_accumulation_steps=accumulation)
    callback.attach(trainer)
    start = table_of(trainer.model)
    trainer.train()
    last = 16 // accumulation
    seen = [row["step"] for row in callback.records]
    assert seen == [0, 4, 5, last]
    end = table_of(trainer.model)
    final = callback.records[-1]
    moved = np.linalg.norm((end - start)[:10]) / np.linalg.norm(start[:10])
    assert final["moved"] == pytest.approx(moved, rel=1e-9)
    assert moved > 0
    from pyarrow import parquet

    assert parquet.read_table(tmp_path / "steps.parquet").to_pylist() == callback.records


def test_records_go_through_the_trainer_beside_its_own_logs(tmp_path: Path, shape: Geometry) -> None:
    import transformers

    class Reporter(transformers.TrainerCallback):  # where W&B and the like stand
        def __init__(self) -> None:
            self.logs: list[tuple[int, dict[str, Any]]] = []

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            self.logs.append((state.global_step, dict(logs)))

    reporter, callback = Reporter(), watch(shape, schedule=(0, 4))
    trainer = trainer_of(small_bert(), tmp_path, [reporter])
    callback.attach(trainer)
    trainer.train()
    mine = {step: logs for step, logs in reporter.logs if "positions/min_separation" in logs}
    assert sorted(mine) == [0, 4, 16]
    assert mine[4]["positions/alignment"] == callback.records[1]["alignment"]
    # A record at a step does not take the place of the loss that is logged there.
    assert [step for step, logs in reporter.logs if "loss" in logs] == [4, 8, 12, 16]


def test_without_attaching_it_only_keeps_its_records(tmp_path: Path) -> None:
    callback = watch(n_positions=6, schedule=(3,))
    trainer_of(small_bert(), tmp_path, [callback]).train()
    assert [row["step"] for row in callback.records] == [3, 16]
    assert callback.records[0]["alignment"] is None
    assert callback.seconds > 0


def test_the_last_step_is_recorded_where_training_is_stopped(tmp_path: Path) -> None:
    import transformers

    class Stop(transformers.TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop = state.global_step == 7

    callback = watch(schedule=(0, 5))
    trainer_of(small_bert(), tmp_path, [Stop(), callback]).train()
    assert [row["step"] for row in callback.records] == [0, 5, 7]


def test_a_measure_of_ones_own_is_recorded(tmp_path: Path) -> None:
    def measure(model: Any, step: int) -> dict[str, float]:
        return {"norm": float(np.linalg.norm(table_of(model))), "at": step}

    callback = watch(schedule=(2,), measure=measure)
    trainer_of(small_bert(), tmp_path, [callback]).train()
    assert [row["at"] for row in callback.records] == [2, 16]


def test_a_geometry_longer_than_the_table_is_refused(tmp_path: Path, shape: Geometry) -> None:
    trainer = trainer_of(small_bert(max_position_embeddings=10), tmp_path)
    model = small_bert(max_position_embeddings=8)
    trainer.model = trainer.model_wrapped = model
    callback = watch(shape)
    callback.attach(trainer)
    with pytest.raises(GeometryError, match="has 8 positions, 10 are looked at"):
        trainer.train()


def read(model: Any) -> np.ndarray:
    from posgeom.training.model_table import read_table

    return read_table(model)


@pytest.fixture
def one_process(tmp_path: Path) -> Iterator[None]:
    """A process group of one, as each process of a distributed run has it."""
    from torch import distributed

    distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.usefixtures("one_process")
def test_models_are_unwrapped(torch: Any) -> None:
    model = small_bert()
    expected = table_of(model)
    parallel = torch.nn.parallel
    for wrapped in (torch.compile(model), parallel.DataParallel(model), torch.compile(parallel.DataParallel(model))):
        np.testing.assert_array_equal(read(wrapped), expected)
    np.testing.assert_array_equal(read(parallel.DistributedDataParallel(model)), expected)


@pytest.mark.filterwarnings("ignore:FSDP is switching to use `NO_SHARD`")
@pytest.mark.usefixtures("one_process")
def test_sharded_parameters_are_gathered(torch: Any) -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

    expected = table_of(small_bert())
    sharded = fully_shard(small_bert(), mesh=init_device_mesh("cpu", (1,)))
    assert type(sharded.bert.embeddings.position_embeddings.weight).__name__ == "DTensor"
    np.testing.assert_array_equal(read(sharded), expected)
    flat = FullyShardedDataParallel(small_bert(), device_id=torch.device("cpu"))
    np.testing.assert_array_equal(read(flat), expected)


TWO_PROCESSES = """
import json, os, sys
from pathlib import Path

import numpy as np
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from tests.training.test_callback import read, small_bert, table_of, trainer_of, watch

place = Path(sys.argv[1])
callback = watch(n_positions=10, path=place / "steps.parquet", schedule=(0, 2))
trainer = trainer_of(small_bert(), place, gradient_accumulation_steps=2, ddp_backend="gloo")
callback.attach(trainer)
trainer.train()
expected = table_of(small_bert())
sharded = fully_shard(small_bert(), mesh=init_device_mesh("cpu", (2,)))
own = sharded.bert.embeddings.position_embeddings.weight.to_local().shape[0]
told = {"wrapped": type(trainer.model_wrapped).__name__, "steps": [row["step"] for row in callback.records]}
told |= {"own_rows": own, "gathered": bool(np.array_equal(read(sharded), expected))}
(place / f"{os.environ['RANK']}.json").write_text(json.dumps(told))
distributed.barrier()
distributed.destroy_process_group()
os._exit(0)  # at once: threads of torch that run on while Python ends would abort it
"""


def test_two_processes_record_once_and_gather_what_they_share(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(TWO_PROCESSES)
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(root)]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    arguments = [*command, str(script), str(tmp_path)]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    both = {"wrapped": "DistributedDataParallel", "own_rows": 6, "gathered": True}
    # 64 examples, 2 processes, batches of 4, 2 of them a step.
    assert first == both | {"steps": [0, 2, 4]}
    assert second == both | {"steps": []}
    assert (tmp_path / "steps.parquet").is_file()


def test_what_deepspeed_has_spread_is_gathered_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 21: a parameter of shape (0,)."""
    import torch

    model = small_bert()
    weight = model.bert.embeddings.position_embeddings.weight
    whole = weight.data
    expected = table_of(model)
    weight.data = torch.empty(0)
    with pytest.raises(CheckpointError, match=r"has shape \(0,\) in this process"):
        read(model)

    @contextmanager
    def gathered(parameters: list[Any]) -> Iterator[None]:
        assert parameters == [weight]
        weight.data = whole
        yield
        weight.data = torch.empty(0)

    weight.ds_id = 7
    zero = SimpleNamespace(GatheredParameters=gathered)
    package = ModuleType("deepspeed")
    monkeypatch.setitem(sys.modules, "deepspeed", package)
    monkeypatch.setitem(sys.modules, "deepspeed.zero", zero)
    np.testing.assert_array_equal(read(model), expected)
    assert weight.shape == (0,)


def test_tables_of_low_rank_and_in_half_precision_are_read(torch: Any, training: Any) -> None:
    model = small_bert()
    training.apply_encoding(model, "random", rank=3)
    table = read(model)
    assert table.shape == (12, 16)
    assert np.linalg.matrix_rank(table, tol=1e-5) == 3
    model = small_bert().to(torch.bfloat16)
    np.testing.assert_array_equal(read(model), table_of(model))


def test_positions_start_where_the_family_says() -> None:
    import transformers

    config = transformers.RobertaConfig(
        vocab_size=30,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=14,
        pad_token_id=1,
    )
    model = transformers.RobertaModel(config)
    whole = model.embeddings.position_embeddings.weight.detach().double().numpy()
    np.testing.assert_array_equal(read(model), whole[2:])


def test_a_model_without_a_table_is_refused() -> None:
    import transformers

    config = transformers.GPTNeoXConfig(
        vocab_size=30, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    with pytest.raises(CheckpointError, match="positions of kind rotary"):
        read(transformers.GPTNeoXModel(config))


def test_a_real_model_keeps_its_separation(minilm: Path, tmp_path: Path) -> None:
    """all-MiniLM-L6-v2: .1975, and within 1 % of it after a few steps of fine-tuning (Section 6.5)."""
    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(minilm, local_files_only=True)
    callback = watch(n_positions=128)
    trainer_of(model, tmp_path, [callback], max_steps=3, learning_rate=2e-5).train()
    first, last = callback.records
    assert first["min_separation"] == pytest.approx(0.1975, abs=5e-5)
    assert last["moved"] > 0
    assert last["min_separation"] == pytest.approx(first["min_separation"], rel=0.01)
