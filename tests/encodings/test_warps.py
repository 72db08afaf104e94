import json
import re
from pathlib import Path

import numpy as np
import pytest

from posgeom.encodings.kerple import kerple
from posgeom.encodings.line import brownian, line
from posgeom.encodings.networks import draw_network
from posgeom.encodings.registry import SCHEMES, build_encoding
from posgeom.encodings.rope import rope
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.tensors import tensors_of
from posgeom.encodings.warps import LogWarp, PowerWarp, ReciprocalWarp, TableWarp, Warp, parse_warp
from posgeom.errors import EncodingError
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.seeds import make_rng

N = 24
WARPS = (LogWarp(0.3), LogWarp(5.0, 2), PowerWarp(0.5), PowerWarp(1.7, 1), ReciprocalWarp(3.0))


def test_formulas() -> None:
    t = np.arange(1, 9.0)
    np.testing.assert_allclose(LogWarp(0.3).apply(t), np.log(1 + t / 0.3), rtol=1e-14)
    np.testing.assert_allclose(PowerWarp(0.3).apply(t), t**0.3, rtol=1e-14)
    np.testing.assert_allclose(ReciprocalWarp(0.3).apply(t), 1 - 1 / (1 + t / 0.3), rtol=1e-13)


@pytest.mark.parametrize("warp", WARPS, ids=str)
def test_it_rises_on_both_sides_of_its_origin(warp: Warp) -> None:
    values = warp.at(np.arange(-5, 30))
    assert (np.diff(values) > 0).all()
    assert warp.at(warp.origin) == 0
    np.testing.assert_array_equal(warp.at(warp.origin - np.arange(4)), -warp.at(warp.origin + np.arange(4)))


@pytest.mark.parametrize("warp", WARPS, ids=str)
def test_a_spec_says_all_of_it(warp: Warp) -> None:
    again = parse_warp(str(warp))
    assert (type(again), again.parameter, again.origin) == (type(warp), warp.parameter, warp.origin)


@pytest.mark.parametrize("warp", WARPS, ids=str)
@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_a_warped_sinusoid_is_the_sinusoid_at_the_warped_positions(warp: Warp, layout: str) -> None:
    d, offset = 10, 3
    points = sinusoidal(N, d, offset=offset, layout=layout, warp=warp).coordinates()  # type: ignore[arg-type]
    assert points is not None
    places = warp.at(np.arange(N) + offset)
    angles = places[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    sines, cosines = np.sin(angles), np.cos(angles)
    expected = np.hstack([sines, cosines]) if layout == "halves" else np.stack([sines, cosines], 2).reshape(N, d)
    np.testing.assert_allclose(points, expected, atol=1e-15)


@pytest.mark.parametrize("warp", WARPS, ids=str)
def test_no_scheme_has_a_lag_under_a_warp_of_positions(warp: Warp) -> None:
    for spec in ("line", "sinusoidal", "rope", "xpos", "fourier:network=none", "brownian"):
        encoding = build_encoding(f"{spec}{',' if ':' in spec else ':'}warp={warp}", n_positions=N, n_dims=8)
        assert encoding.lag_distances() is None
        distances = encoding.distances()
        points = encoding.coordinates() if encoding.n_dims and spec != "rope" else None
        if points is not None:
            np.testing.assert_allclose(distances, euclidean_distances(points), rtol=1e-9, atol=1e-12)
        some = np.array([1, 4, 20])
        np.testing.assert_allclose(encoding.distances(some), distances[np.ix_(some, some)], rtol=1e-9)


def test_the_identity_changes_nothing() -> None:
    for spec in ("line", "brownian", "sinusoidal", "rope", "rope:form=kernel", "xpos", "fourier", "rope:base=3"):
        plain = build_encoding(spec, n_positions=N, n_dims=8).distances()
        same = build_encoding(f"{spec}{',' if ':' in spec else ':'}warp=power:1", n_positions=N, n_dims=8).distances()
        np.testing.assert_allclose(same, plain, rtol=1e-6, atol=1e-9)
    for spec in ("alibi:form=linear", "alibi:form=kernel", "kerple:r1=2", "sandwich:heads=3"):
        plain = build_encoding(spec, n_positions=N, n_dims=8).distances()
        same = build_encoding(f"{spec},warp=power:1", n_positions=N, n_dims=8).distances()
        np.testing.assert_allclose(same, plain, rtol=1e-9)


def test_line_and_brownian_motion() -> None:
    warp = LogWarp(2.0)
    gaps = np.abs(np.subtract.outer(warp.at(np.arange(N) + 1), warp.at(np.arange(N) + 1)))
    np.testing.assert_allclose(line(N, offset=1, warp=warp).distances(), gaps, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(brownian(N, offset=1, warp=warp).distances() ** 2, gaps, rtol=1e-9, atol=1e-12)
    points = brownian(N, offset=1, warp=warp, form="mds").coordinates()
    assert points is not None
    np.testing.assert_allclose(euclidean_distances(points) ** 2, gaps, rtol=1e-6, atol=1e-9)


def test_orbit_and_kernel_agree_under_a_warp() -> None:
    for reference in ("unit", "gaussian"):
        orbit, kernel = (rope(N, 12, warp=LogWarp(3.0), reference=reference, form=form) for form in ("orbit", "kernel"))
        np.testing.assert_allclose(orbit.distances(), kernel.distances(), rtol=1e-6, atol=1e-7)


def test_each_coordinate_of_a_grid_is_warped() -> None:
    warp = LogWarp(2.0)
    points = build_encoding("sinusoidal:grid=3:8,warp=log:2", n_positions=N, n_dims=8).coordinates()
    assert points is not None
    x, y = sinusoidal(3, 4, warp=warp).coordinates(), sinusoidal(8, 4, warp=warp).coordinates()
    assert x is not None
    assert y is not None
    np.testing.assert_allclose(points[2 * 8 + 5], np.concatenate([x[2], y[5]]), atol=1e-15)
    turned = build_encoding("rope-grid:grid=3:8,warp=log:2", n_positions=N, n_dims=8).distances()
    np.testing.assert_allclose(turned, euclidean_distances(points), atol=1e-9)
    with pytest.raises(EncodingError, match="layout unit"):
        build_encoding("rope-grid:grid=3:8,layout=unit,warp=log:2", n_positions=N, n_dims=8)


def test_a_bias_takes_a_warp_of_the_lag() -> None:
    lags = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
    warp = LogWarp(2.0, 5)  # lags are counted from 0, whatever the origin of positions
    encoding = build_encoding("alibi:form=kernel,heads=8,head=2,warp=log:2:5", n_positions=N, n_dims=8)
    np.testing.assert_allclose(encoding.distances() ** 2, 2 * 2.0**-3 * warp.apply(lags), rtol=1e-12)
    assert encoding.bias is not None
    np.testing.assert_allclose(encoding.bias.matrix(np.arange(N))[0], -(2.0**-3) * warp.apply(lags), rtol=1e-12)


def test_lags_under_the_warp_of_a_corpus_count_from_its_first_position() -> None:
    t = np.arange(9.0)
    warp = TableWarp(np.log1p(t), t, "corpus:monotone", LogWarp(1.0, 5), origin=5)
    np.testing.assert_allclose(warp.at(np.arange(2, 24)), LogWarp(1.0, 5).at(np.arange(2, 24)), rtol=1e-12)
    for name, encoding in (("kerple", kerple(N, warp=warp)), ("line", line(N, warp=warp))):
        of_family = build_encoding(f"{name}:warp=log:1:5", n_positions=N, n_dims=8)
        np.testing.assert_allclose(encoding.distances(), of_family.distances(), atol=1e-9)


def test_a_bias_of_continuous_lags_takes_them_from_the_warp() -> None:
    positions, warp = np.arange(N), PowerWarp(0.5)
    lags = np.subtract.outer(positions, positions)
    places = np.sqrt(np.abs(lags))
    fire = build_encoding("fire:heads=3,threshold=9,warp=power:.5", n_positions=N, n_dims=8).bias
    assert fire is not None
    network = draw_network(1, 32, 3, make_rng(0), activation="relu")
    shares = np.log1p(0.1 * places) / (np.log1p(0.1 * np.sqrt(np.maximum(positions, 9)))[:, None] + 1e-6)
    expected = np.moveaxis(network(shares[..., None]), -1, 0)
    past = lags >= 0
    np.testing.assert_allclose(fire.matrix(positions)[:, past], expected[:, past], rtol=1e-12)
    sandwich = build_encoding("sandwich:heads=2,width=8,warp=power:.5", n_positions=N, n_dims=8).bias
    assert sandwich is not None
    omega = 10000.0 ** (-2 * np.arange(1, 5) / 8)
    drops = sum(1 - np.cos(frequency * warp.apply(np.arange(N))) for frequency in omega)
    np.testing.assert_allclose(sandwich.drops(np.arange(N))[0], 2 / 8 * drops, atol=1e-12)


def test_a_table_of_lags_is_looked_up_at_the_nearest_whole_lag(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "t5.npy", rng.normal(size=(8, 2)))
    np.save(tmp_path / "q.npy", rng.normal(size=4))
    np.save(tmp_path / "a.npy", rng.normal(size=(11, 4)))
    np.save(tmp_path / "f.npy", np.arange(N) // 3)  # lags in groups of three
    lags = np.subtract.outer(np.arange(N), np.arange(N))
    whole = np.sign(lags) * (np.abs(lags) // 3)
    for spec in (f"t5:table={tmp_path}/t5.npy", f"relative:query={tmp_path}/q.npy,table={tmp_path}/a.npy"):
        plain, warped = (
            build_encoding(spec + more, n_positions=N, n_dims=8).bias for more in ("", f",warp=table:{tmp_path}/f.npy")
        )
        assert plain is not None
        assert warped is not None
        np.testing.assert_array_equal(warped.matrix(np.arange(N)), plain.values(whole, np.zeros_like(whole)))
    sines = f"relative:kind=transformer-xl,query={tmp_path}/q.npy,warp=power:.5"
    bias = build_encoding(sines, n_positions=N, n_dims=8).bias
    assert bias is not None
    angles = (np.sign(lags) * np.sqrt(np.abs(lags)))[..., None] * 10000.0 ** (-np.arange(0, 4, 2) / 4)
    vectors = np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
    np.testing.assert_allclose(bias.matrix(np.arange(N))[0], vectors @ np.load(tmp_path / "q.npy"), rtol=1e-10)


NEEDED = {
    "rope-grid": "grid=3:8",
    "rope-config": "config={files}/config.json",
    "alibi": "form=kernel",
    "t5": "table={files}/t5.npy",
    "relative": "query={files}/q.npy,table={files}/a.npy",
    "swin": "grid=3:8,table={files}/t5.npy",
    "learned": "table={files}/t5.npy",
}
"""What schemes need to be built."""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, shape in (("t5", (N, 2)), ("q", (4,)), ("a", (2 * N - 1, 4))):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=shape))
    config = {"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "rope_theta": 10000.0}
    (tmp_path / "config.json").write_text(json.dumps(config))
    return tmp_path


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_takes_a_warp_or_says_why_not(name: str, files: Path) -> None:
    spec = f"{name}:{NEEDED[name].format(files=files)}," if name in NEEDED else f"{name}:"
    if name in ("swin", "learned", "random", "nope", "mds"):
        with pytest.raises(EncodingError, match=rf"{name}.* takes no warp: [a-z ]+"):
            build_encoding(f"{spec}warp=log:1", n_positions=N, n_dims=8)
        return
    plain, same, other = (
        build_encoding(text, n_positions=N, n_dims=8).distances()
        for text in (spec.rstrip(":,"), f"{spec}warp=power:1", f"{spec}warp=power:.6")
    )
    np.testing.assert_allclose(same, plain, atol=1e-6)  # a root of a difference of numbers that round off
    assert np.abs(other - plain).max() > 0.05 * plain.max()


def test_the_page_says_what_each_scheme_does_with_a_warp() -> None:
    page = (Path(__file__).parents[2] / "docs" / "warp.md").read_text()
    table = page[page.index("| scheme") : page.index("## Fitting")]
    assert set(re.findall(r"`([\w-]+)`", table)) >= set(SCHEMES)


def test_a_power_above_one_may_be_no_kernel_and_is_looked_at() -> None:
    with pytest.raises(EncodingError, match="of the spectrum of its bias is negative"):
        build_encoding("alibi:form=kernel,warp=power:3", n_positions=N, n_dims=8).distances()


def test_tables(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.sqrt(np.arange(N)))
    encoding = build_encoding(f"line:warp=table:{tmp_path}/f.npy", n_positions=N, n_dims=8)
    np.testing.assert_allclose(encoding.distances(), line(N, warp=PowerWarp(0.5)).distances(), atol=1e-12)
    with pytest.raises(EncodingError, match="known for positions 0 to 23, asked for 24"):
        build_encoding(f"line:warp=table:{tmp_path}/f.npy", n_positions=N + 1, n_dims=8).distances()
    for bad, message in (([0.0, 2, 1], "falls from 2 to 1 at position 2"), ([0.0, np.nan], "not finite")):
        with pytest.raises(EncodingError, match=message):
            TableWarp(np.array(bad))
    with pytest.raises(EncodingError, match="which increase"):
        TableWarp(np.arange(3.0), np.array([0.0, 2, 1]))


def test_what_is_exported_says_the_warp() -> None:
    tensors = tensors_of(build_encoding("rope:pairing=halves,warp=log:2", n_positions=N, n_dims=8))
    np.testing.assert_allclose(tensors.arrays["position_ids"], np.log1p(np.arange(N) / 2))
    assert tensors.metadata["options"]["warp"] == "log:2"
    assert "f(i + 0)" in tensors.metadata["conventions"]["rows"]


@pytest.mark.models
@pytest.mark.parametrize("warp", ["log:3", "power:.5", "reciprocal:20:1"])
def test_rotary_is_that_of_transformers_called_with_warped_ids(warp: str) -> None:
    import torch
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    encoding = build_encoding(f"rope:pairing=halves,base=500000,warp={warp}", n_positions=N, n_dims=16)
    arrays = tensors_of(encoding).arrays
    config = LlamaConfig(
        hidden_size=64, num_attention_heads=4, rope_parameters={"rope_theta": 5e5, "rope_type": "default"}
    )
    module = LlamaRotaryEmbedding(config)
    cosines, sines = module(torch.zeros(1, N, 64), torch.as_tensor(arrays["position_ids"])[None])
    np.testing.assert_allclose(arrays["cos"], cosines[0].numpy(), atol=3e-6)
    np.testing.assert_allclose(arrays["sin"], sines[0].numpy(), atol=3e-6)


@pytest.mark.models
def test_a_warped_sinusoid_goes_into_a_model() -> None:
    import torch
    from transformers import BertConfig, BertModel

    from posgeom.training import apply_encoding

    torch.manual_seed(0)
    model = BertModel(
        BertConfig(vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
                   max_position_embeddings=N)
    )  # fmt: skip
    table = model.embeddings.position_embeddings.weight
    norm = float((table.detach() ** 2).sum(dim=1).mean())
    applied = apply_encoding(model, "sinusoidal:warp=log:3:1")
    assert applied.record["options"]["warp"] == "log:3:1"
    expected = sinusoidal(N, 16, warp=LogWarp(3.0, 1)).coordinates()
    assert expected is not None
    rows = model.embeddings.position_embeddings.weight.detach().numpy()
    np.testing.assert_allclose(rows, expected * np.sqrt(norm / (expected**2).sum(axis=1).mean()), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("line:warp=log", "warp is 'log', expected log:C, power:A"),
        ("line:warp=log:0", "warp log, parameter 0: expected a positive number"),
        ("line:warp=log:nan", "parameter nan"),
        ("line:warp=cosine:1", "expected log:C"),
        ("line:warp=log:1:x", "expected log:C"),
        ("line:warp=log:1:9999999999999", "at most 2\\^40"),
        ("line:warp=corpus", "is fitted to a corpus geometry"),
        ("line:warp=corpus:cubic", "corpus:FAMILY"),
        ("line:warp=table:none.npy", "cannot read"),
        ("alibi:warp=log:1", "use line:warp"),
    ],
)
def test_bad_warps(spec: str, message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        build_encoding(spec, n_positions=N, n_dims=8)


def test_no_text_is_a_warp_in_python() -> None:
    with pytest.raises(EncodingError, match="got str for a warp"):
        sinusoidal(N, 8, warp="log:1")  # type: ignore[arg-type]
