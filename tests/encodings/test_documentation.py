"""docs/encodings.md is true: its code runs, its specs build, and it names every scheme and option."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import posgeom as pg
from posgeom.encodings.interpolation import Interpolation
from posgeom.encodings.registry import SCHEMES, check_spec
from posgeom.encodings.rotary_scaling import Scaling

KINDS: tuple[Interpolation, ...] = ("linear", "cubic")
PAGE = (Path(__file__).parents[2] / "docs" / "encodings.md").read_text()


def test_the_code_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_and_option_is_named(name: str) -> None:
    assert f"**{name}**" in PAGE or f"`{name}`" in PAGE
    for option in SCHEMES[name].options:
        assert re.search(rf"[`:,]{option}[`=]", PAGE), option


def test_every_scaling_is_named() -> None:
    for name in Scaling.choices:
        assert f"| `{name}` |" in PAGE


def test_its_exports_are_specs() -> None:
    lines = [line.strip() for line in PAGE.splitlines() if line.startswith("    posgeom export")]
    assert len(lines) == 3
    for line in lines:
        check_spec(shlex.split(line)[2], n_positions=32, n_dims=16)


def test_options_with_a_value_are_read_as_they_stand_there() -> None:
    found = 0
    for name, text in re.findall(r"\*\*(sinusoidal|random|fourier|rope|mds)\*\*(.*?)(?=\n\*\*|\n## )", PAGE, re.DOTALL):
        for option in re.findall(r"`(\w+=[\w.:]+)`", text):
            check_spec(f"{name}:{option}", n_positions=32, n_dims=16)
            found += 1
    assert found > 4


def figures(encoding: pg.Encoding, shape: pg.Geometry) -> str:
    row = pg.score(encoding, shape)
    return f"{row.alignment:.4f} | {row.min_separation:.3f} | {row.effective_rank:.1f}"


def test_the_figures_on_extrapolation(data_dir: Path, imdb: pg.PositionCounts) -> None:
    shape = pg.geometry(imdb)
    few = pg.sinusoidal(64, 64).coordinates()
    trained = pg.load_matrix(
        data_dir / "albert-rxn" / "model.safetensors", "albert.embeddings.position_embeddings.weight"
    )
    assert few is not None
    rows: dict[str, pg.Encoding] = {
        "its positions scaled to 256 exactly": pg.rope(256, 64, scaling=pg.Linear(255 / 63)),
        "its first 256 rows": pg.learned(trained, n_positions=256),
    }
    for kind in KINDS:
        rows[f"the 64 rows stretched, {kind}"] = pg.learned_table(256, table=few, interpolation=kind)
        rows[f"its first 128 rows stretched, {kind}"] = pg.learned_table(256, table=trained[:128], interpolation=kind)
    for label, encoding in rows.items():
        assert f"{label} | {figures(encoding, shape)} |" in PAGE, (label, figures(encoding, shape))
    positions, squared = shape.positions, shape.distances.squared
    for chosen, figure in ((positions < 400, "0.0154"), (positions < 128, "0.0191"), (positions % 2 == 1, "0.0274")):
        part = pg.DistanceMatrix.from_squared(
            squared[np.ix_(chosen, chosen)], positions[chosen], "hellinger", "crossval"
        )
        placed = pg.mds(part, rank=4, beyond=shape)
        assert f"{pg.stress(placed, shape.distances, kind='scaled'):.4f}" == figure  # in-sample, all three
        assert figure in PAGE


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (Path(__file__).parents[2] / "docs" / target).exists(), target
