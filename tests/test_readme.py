"""The README is true: every command in it runs, and its figures are computed."""

import gzip
import json
import re
import shlex
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest

from posgeom.analysis import analyze
from posgeom.counts.position_counts import PositionCounts
from posgeom.options import Estimator
from tests.cli.helpers import posgeom
from tests.models.raw import bert_tensors, save_bert

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


ESTIMATORS: tuple[Estimator, Estimator] = ("plugin", "crossval")
COMMANDS = [line for block in blocks("bash") for line in block.splitlines()]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the files that the README names."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    path = tmp_path_factory.mktemp("readme")
    rng = np.random.default_rng(0)
    lines = [" ".join(rng.choice(["a", "b", "c", "d", "e"], 40)) + f" {i}" for i in range(400)]
    (path / "corpus.txt").write_text("\n".join(lines))
    with gzip.open(path / "more.txt.gz", "wt") as stream:
        other = np.random.default_rng(1)
        stream.write(
            "\n".join(" ".join(other.choice(["a", "b", "c", "d", "e"], 40)) + f" more {i}" for i in range(400))
        )
    (path / "reviews.jsonl").write_text("\n".join(json.dumps({"text": line, "label": 1}) for line in lines))
    sites = ["".join(rng.choice(list("ACGT"), 60)) for _ in range(300)]
    (path / "sites.csv").write_text("name,sequence\n" + "\n".join(f"site{i},{s}" for i, s in enumerate(sites)))
    np.save(path / "table.npy", rng.normal(size=(512, 8)))
    save_bert(path / "my-bert", bert_tensors(n_positions=128), max_position_embeddings=128)
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def test_the_first_commands_are_targets_of_the_makefile() -> None:
    assert COMMANDS[:2] == ["make demo", "make test"]
    make = ["make", "--dry-run", "--no-print-directory"]
    recipes = {
        target: subprocess.run([*make, target], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for target in ("demo", "check", "test", "test-models", "benchmark", "coverage")
    }
    assert recipes["demo"].strip().endswith(".venv/bin/posgeom demo --out demo")


@pytest.mark.slow
def test_the_other_commands_run_from_top_to_bottom(workplace: Path) -> None:
    for line in COMMANDS[2:]:
        program, *arguments = shlex.split(line)
        assert program == ".venv/bin/posgeom"
        done = posgeom(*arguments, cwd=workplace)
        assert (done.returncode, done.stderr) == (0, ""), line
        assert done.stdout, line
        if "--json" in arguments:
            assert json.loads(done.stdout)["n_positions"] == 60


@pytest.mark.slow
def test_python(workplace: Path) -> None:
    _, code = blocks("python")
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=workplace, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 4


@pytest.mark.slow
def test_the_first_snippet_shows_what_it_says(workplace: Path) -> None:
    code, _ = blocks("python")
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=workplace, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    plain, sound = (literal_eval(line) for line in done.stdout.splitlines())
    assert max(plain, key=plain.get) == min(sound, key=sound.get) == "random"
    assert (workplace / "scorecard.svg").read_text().startswith("<svg")


def test_the_table_of_figures(imdb: PositionCounts) -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([\d.]*) ?\| ([\d.]+)(?: \[([\d.]+), ([\d.]+)\])? \|$", README, re.MULTILINE)
    assert len(rows) == 5
    plugin, sound = (analyze(imdb, estimator=e, ranks=[3]) for e in ESTIMATORS)
    full_depth = sound.geometry.crossval_full_depth
    assert full_depth is not None
    label, *means, low, high = rows[0]
    known = (plugin.geometry.distances.mean_squared, full_depth.mean_squared)
    assert (label, means) == ("mean squared distance, full depth", [f"{value:.3f}" for value in known])
    names = ("random", "sinusoidal", "alibi", "mds:rank=3")
    for name, (label, left, right, low, high) in zip(names, rows[1:], strict=True):
        assert label.startswith("alignment, ")
        row, interval = sound.scorecard[name], sound.scorecard[name].intervals["alignment"]
        if left:
            assert left == f"{plugin.scorecard[name].alignment:.3f}", label
        assert right == f"{row.alignment:.3f}", label
        assert (low, high) == (f"{interval.low:.3f}".lstrip("0"), f"{interval.high:.3f}".lstrip("0")), label
