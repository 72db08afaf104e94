from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.random import random
from posgeom.encodings.registry import SCHEMES, build_encoding
from posgeom.encodings.rope import rope
from posgeom.errors import EncodingError
from posgeom.geometry.build import geometry
from posgeom.studies.synthetic import synthetic


def build(spec: str, **settings: object) -> Encoding:
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
        ("rope:scaling=cubic", "scaling is 'cubic', expected linear or dynamic or yarn or longrope or llama3"),
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
    needed["rope-config"] = f"rope-config:config={tmp_path / 'config.json'}"
    for name in SCHEMES:
        encoding = build(needed.get(name, name), geometry=shape)
        distances = encoding.distances()
        assert distances.shape == (32, 32)
        np.testing.assert_array_equal(distances, distances.T)
        np.testing.assert_array_equal(np.diag(distances), 0)
        assert name in repr(encoding)
