"""Laws of every scheme, over random options."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from posgeom.encodings.alibi import alibi
from posgeom.encodings.base import Encoding
from posgeom.encodings.fire import fire
from posgeom.encodings.fourier import fourier
from posgeom.encodings.kerple import kerple
from posgeom.encodings.random import random
from posgeom.encodings.rope import rope
from posgeom.encodings.rotary_scaling import DynamicNTK, Linear, Llama3, Proportional, Yarn
from posgeom.encodings.sandwich import sandwich
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.t5 import t5
from posgeom.encodings.xpos import xpos
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.estimation.mds import spectrum_of

N = st.integers(2, 40)
EVEN = st.integers(1, 24).map(lambda half: 2 * half)
BASE = st.floats(2, 1e7)
SEED = st.integers(0, 2**32 - 1)
OFFSET = st.integers(-1000, 100_000)
PAIRING = st.sampled_from(["interleaved", "halves"])
FACTOR = st.floats(1, 64)
LENGTH = st.integers(2, 10_000)
FORM = st.sampled_from(["linear", "kernel", "mds"])
POSITIVE = st.floats(0.01, 10)

SCALINGS = st.one_of(
    st.none(),
    st.builds(Linear, FACTOR),
    st.builds(DynamicNTK, FACTOR, LENGTH),
    st.builds(Yarn, FACTOR, LENGTH, truncate=st.booleans(), beta_fast=st.floats(8, 64), beta_slow=st.floats(0.5, 8)),
    st.builds(Llama3, FACTOR, st.floats(0.5, 2), st.floats(2.5, 8), LENGTH),
    st.builds(Proportional, st.floats(0.3, 1), FACTOR),
)


def t5_table(n: int, heads: int, seed: int, **options: Any) -> Encoding:
    return t5(n, table=np.random.default_rng(seed).normal(size=(32, heads)), **options)


def kerple_of(n: int, kind: str, r1: list[float], r2: float, form: str) -> Encoding:
    shape = r2 if kind == "log" else min(r2, 2.0)
    return kerple(n, kind=kind, r1=tuple(r1), r2=(shape,), form=form)  # type: ignore[arg-type]


LAYOUTS = {
    "frequencies": st.sampled_from(["paper", "tensor2tensor"]),
    "layout": st.sampled_from(["interleaved", "halves"]),
}
FUNCTIONS_OF_THE_LAG: dict[str, st.SearchStrategy[Encoding]] = {
    "sinusoidal": st.builds(sinusoidal, N, EVEN, base=BASE, offset=OFFSET, **LAYOUTS),
    "rope": st.builds(
        rope,
        N,
        EVEN.filter(lambda d: d >= 4),
        base=BASE,
        pairing=PAIRING,
        offset=st.integers(0, 5000),
        scaling=SCALINGS,
        reference=st.sampled_from(["unit", "gaussian"]),
        form=st.sampled_from(["orbit", "kernel"]),
        seed=SEED,
    ),
    "xpos": st.builds(xpos, N, EVEN, base=BASE, gamma=POSITIVE, scale_base=st.floats(1, 1e4), form=FORM),
    "alibi": st.builds(
        alibi,
        N,
        form=st.sampled_from(["zscore", "linear", "kernel", "mds"]),
        heads=st.integers(1, 40),
        causal=st.booleans(),
        max_bias=st.floats(1, 16),
    ),
    "kerple": st.builds(
        kerple_of, N, st.sampled_from(["log", "power"]), st.lists(POSITIVE, min_size=1, max_size=4), POSITIVE, FORM
    ),
    "sandwich": st.builds(sandwich, N, heads=st.integers(1, 16), width=EVEN, base=BASE, form=FORM),
    "fourier features": st.builds(
        fourier, N, EVEN, features=EVEN, gamma=st.floats(0.5, 100), network=st.just("none"), seed=SEED
    ),
}
OTHERS: dict[str, st.SearchStrategy[Encoding]] = {
    "sinusoidal, odd": st.builds(sinusoidal, N, EVEN.map(lambda d: d + 1), base=BASE, offset=OFFSET),
    "sinusoidal, grid": st.builds(sinusoidal, st.integers(2, 24), EVEN.map(lambda d: 3 * d), grid=st.just((2, 3, 4))),
    "random": st.builds(
        random, N, EVEN, std=POSITIVE, distribution=st.sampled_from(["gaussian", "uniform"]), seed=SEED
    ),
    "fourier": st.builds(fourier, N, EVEN, features=EVEN, gamma=st.floats(0.5, 100), seed=SEED),
    "fire": st.builds(fire, N, heads=st.integers(1, 4), threshold=st.floats(1, 100), causal=st.booleans(), seed=SEED),
    "t5": st.builds(t5_table, N, st.integers(1, 4), SEED, causal=st.booleans(), max_distance=st.integers(33, 500)),
}


def check_distances(encoding: Encoding) -> np.ndarray:
    distances = encoding.distances()
    n = encoding.n_positions
    assert distances.shape == (n, n)
    np.testing.assert_array_equal(distances, distances.T)
    assert not np.diagonal(distances).any()
    assert np.isfinite(distances).all()
    assert (distances >= 0).all()
    points = encoding.points(np.arange(n))
    if points is not None:
        atol = 1e-9 * (1 + np.abs(points).max())
        np.testing.assert_allclose(euclidean_distances(points), distances, rtol=1e-6, atol=atol)
    assert spectrum_of(distances**2).negative_mass < 1e-9 or encoding.n_dims is None
    return distances


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(FUNCTIONS_OF_THE_LAG)).flatmap(FUNCTIONS_OF_THE_LAG.get))  # type: ignore[arg-type]
def test_functions_of_the_lag(encoding: Encoding) -> None:
    distances = check_distances(encoding)
    table = encoding.lag_distances()
    lags = np.abs(np.subtract.outer(np.arange(encoding.n_positions), np.arange(encoding.n_positions)))
    if table is None:  # the mds form of a kernel has the distances of the kernel
        table = distances[0]
        np.testing.assert_allclose(distances, table[lags], rtol=1e-5, atol=1e-6 * (1 + distances.max()))
        return
    np.testing.assert_allclose(distances, table[lags], rtol=1e-12)
    chosen = np.arange(0, encoding.n_positions, 3)
    np.testing.assert_allclose(encoding.distances(chosen), distances[np.ix_(chosen, chosen)], rtol=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(list(OTHERS)).flatmap(OTHERS.get))  # type: ignore[arg-type]
def test_other_schemes(encoding: Encoding) -> None:
    distances = check_distances(encoding)
    chosen = np.arange(0, encoding.n_positions, 2)
    atol = 1e-9 * (1 + distances.max())
    np.testing.assert_allclose(encoding.distances(chosen), distances[np.ix_(chosen, chosen)], rtol=1e-6, atol=atol)


@settings(max_examples=40, deadline=None)
@given(N, EVEN, BASE, PAIRING, SEED, st.floats(0.1, 3))
def test_coordinates_of_a_rotary_scheme_whatever_the_pairing(
    n: int, d: int, base: float, pairing: Any, seed: int, attention: float
) -> None:
    scaling = Yarn(4, 64, attention_factor=attention)
    encoding = rope(n, d, base=base, pairing=pairing, scaling=scaling, reference="gaussian", seed=seed)
    points = encoding.coordinates()
    assert points is not None
    np.testing.assert_allclose(euclidean_distances(points), encoding.distances(), rtol=1e-6, atol=1e-9)
    silent = rope(n, d, base=base, scaling=scaling, reference="gaussian", seed=seed)
    np.testing.assert_array_equal(silent.distances(), encoding.distances())
