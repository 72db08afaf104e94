from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.analysis import analyze
from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding, LagEncoding
from posgeom.encodings.random import random
from posgeom.encodings.registry import SCHEMES, build_encoding, register, scheme_names
from posgeom.encodings.rope import rope
from posgeom.encodings.t5 import t5
from posgeom.errors import EncodingError
from posgeom.estimation.build import geometry
from posgeom.simulation.synthetic import synthetic


def build(spec: Any, **settings: object) -> Encoding:
    return build_encoding(spec, **({"n_positions": 32, "n_dims": 16} | settings))  # type: ignore[arg-type]


def test_options_reach_the_scheme() -> None:
    got = build("rope:base=500.5,reference=gaussian,seed=3")
    np.testing.assert_array_equal(got.distances(), rope(32, 16, base=500.5, reference="gaussian", seed=3).distances())
    assert got.name == "rope:base=500.5,reference=gaussian,seed=3"
    np.testing.assert_array_equal(
        build("alibi:form=kernel,heads=8,head=1").distances(), alibi(32, form="kernel", heads=8, head=1).distances()
    )


def test_the_analysis_seed_is_the_default() -> None:
    np.testing.assert_array_equal(build("random", seed=5).coordinates(), random(32, 16, seed=5).coordinates())
    np.testing.assert_array_equal(build("random:seed=1", seed=5).coordinates(), random(32, 16, seed=1).coordinates())


def test_mds_needs_a_geometry() -> None:
    with pytest.raises(EncodingError, match="fitted to a corpus geometry"):
        build("mds")
    assert build("mds:rank=2", geometry=geometry(synthetic().counts)).n_dims == 16


def test_files(tmp_path: Path) -> None:
    table = np.random.default_rng(0).normal(size=(40, 3))
    np.save(tmp_path / "t.npy", table)
    save_file({"a": table, "b": table + 1}, tmp_path / "t.safetensors")
    np.testing.assert_array_equal(build(str(tmp_path / "t.npy")).coordinates(), table[:32])
    spec = f"{tmp_path / 't.safetensors'}:tensor=b"
    assert build(spec).name == spec
    np.testing.assert_array_equal(build(spec).coordinates(), table[:32] + 1)
    with pytest.raises(EncodingError, match=r"no file .*missing.npy"):
        build(str(tmp_path / "missing.npy"))
    with pytest.raises(EncodingError, match="cannot read"):
        build(f"{tmp_path / 'missing.safetensors'}:tensor=b")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("unknown", "no encoding 'unknown': expected one of sinusoidal, rope"),
        ("", "no encoding ''"),
        ("rope:", None),
        ("rope:base", "got 'base', expected option=value"),
        ("rope:colour=red", r"no option 'colour' here; known: base \(a number\), pairing \(interleaved or halves\)"),
        ("rope:scaling=yarn", r"scaling=yarn needs factor \(a number\)"),
        ("rope:scaling=linear,factor=2,beta_fast=3", r"no option 'beta_fast' here; known: .*factor \(a number\)$"),
        ("rope:factor=2", "no option 'factor' here"),
        ("rope:scaling=cubic", "scaling is 'cubic', expected linear or dynamic or alpha or yarn or longrope"),
        ("rope:scaling=yarn,factor=2,original_length=9,truncate=no", "truncate is 'no', expected true or false"),
        ("kerple:r1=1:x", "r1 is '1:x', expected numbers separated by :"),
        ("t5", r"t5 needs table \(a file\)"),
        ("rope:base=ten", "base is 'ten', expected a number"),
        ("rope:reference=mean", "reference is 'mean', expected unit or gaussian or a file"),
        ("rope:offset=1.5", "expected a whole number"),
        ("rope:base=1,base=2", "given twice"),
        ("alibi:head=none", "expected a whole number"),
    ],
)
def test_specs(spec: str, message: str | None) -> None:
    if message is None:
        build(spec)
        return
    with pytest.raises(EncodingError, match=message):
        build(spec)


def test_every_scheme_builds_with_its_defaults(tmp_path: Path) -> None:
    shape = geometry(synthetic().counts)
    np.save(tmp_path / "t.npy", np.random.default_rng(0).normal(size=(32, 4)))
    (tmp_path / "config.json").write_text('{"head_dim": 8, "rope_theta": 10000}')
    needed = {name: f"{name}:table={tmp_path / 't.npy'}" for name in ("t5", "learned")}
    needed |= {"rope-grid": "rope-grid:grid=4:8", "swin": f"swin:table={tmp_path / 's.npy'},grid=4:8"}
    np.save(tmp_path / "s.npy", np.random.default_rng(0).normal(size=(7 * 15, 4)))
    np.save(tmp_path / "q.npy", np.random.default_rng(0).normal(size=8))
    needed["relative"] = f"relative:query={tmp_path / 'q.npy'},kind=transformer-xl"
    needed["rope-config"] = f"rope-config:config={tmp_path / 'config.json'}"
    for name in SCHEMES:
        encoding = build(needed.get(name, name), geometry=shape)
        distances = encoding.distances()
        assert distances.shape == (32, 32)
        np.testing.assert_array_equal(distances, distances.T)
        np.testing.assert_array_equal(np.diag(distances), 0)
        assert name in repr(encoding)


def steps(n_positions: int, *, size: int = 4) -> np.ndarray:
    """Positions in blocks.

    Parameters
    ----------
    size : int
        Positions in a block.
    """
    return np.arange(n_positions)[:, None] // size


class Ring(LagEncoding):
    def __init__(self, n_positions: int, turns: int = 1) -> None:
        super().__init__("ring", n_positions, None, lambda lags: 2 * np.sin(np.pi * turns * lags / n_positions) ** 2)


def test_a_scheme_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("posgeom.encodings.registry._REGISTERED", {})
    register("steps", steps, source="Own 2026")
    register("ring", Ring)
    np.testing.assert_array_equal(build("steps:size=8").coordinates(), np.arange(32)[:, None] // 8)
    assert build("ring:turns=2").lag_distances() is not None
    assert "steps" in scheme_names()
    with pytest.raises(EncodingError, match="no option 'sise' here; known: size"):
        build("steps:sise=8")
    register("steps", Ring)  # replaces the former
    assert build("steps").coordinates() is None
    for name, what, message in (
        ("sinusoidal", steps, "posgeom's own"),
        ("a:b", steps, "expected a letter"),
        ("own", 3, "got int, expected a function or a class"),
    ):
        with pytest.raises(EncodingError, match=message):
            register(name, what)  # type: ignore[arg-type]


def test_a_function_or_class_without_a_name() -> None:
    assert build(steps).name == "steps"
    assert build(Ring).scheme == "Ring"
    with pytest.raises(EncodingError, match="encoding t5 needs 'table'"):
        build(t5)

    def short(n_positions: int) -> np.ndarray:
        return np.ones((n_positions - 1, 2))

    with pytest.raises(EncodingError, match="short has 31 positions, n = 32 was asked for"):
        build(short)

    def broken(n_positions: int) -> np.ndarray:
        return np.ones(n_positions)

    with pytest.raises(EncodingError, match="broken has shape"):
        build(broken)


def test_an_object_of_ones_own_keeps_its_name() -> None:
    ring = Ring(32)
    assert build(lambda n_positions: ring).name == "<lambda>"
    assert ring.name == "ring"


def test_analyses_take_functions_and_classes_too() -> None:
    card = analyze(synthetic().counts, n_dims=4, encodings=[steps, Ring], default_encodings=False).scorecard
    assert [row.name for row in card] == ["steps", "Ring"]
    with pytest.raises(EncodingError, match="for encodings: expected a list"):
        analyze(synthetic().counts, encodings=Ring)  # type: ignore[arg-type]
