"""Order beyond lengths: against null corpora of both kinds."""

import numpy as np
import pytest

from posgeom.analysis import analyze
from posgeom.counts.counting import count_texts
from posgeom.estimation.build import geometry
from posgeom.inference.null_corpora import CAVEAT, order_beyond_lengths
from posgeom.inference.significance import significance
from posgeom.simulation.standard_library import demo_texts


def ordered(rng: np.random.Generator, n: int = 600) -> list[str]:
    """Documents that begin with a few words and end with others."""
    return [
        " ".join([f"a{rng.integers(6)}" for _ in range(4)] + [f"b{rng.integers(6)}" for _ in range(4)]) + f" c{k}"
        for k in range(n)
    ]


def of_two_lengths(rng: np.random.Generator, n: int = 600) -> list[str]:
    """Short documents have other words than long ones, and inside a document order means nothing."""
    return [" ".join(f"{'s' if k % 2 else 'l'}{rng.integers(20)}" for _ in range(4 if k % 2 else 9)) for k in range(n)]


@pytest.mark.parametrize("kind", ["permute", "rotate"])
def test_order_is_found_beside_lengths(kind: str) -> None:
    counts = count_texts(ordered(np.random.default_rng(0)), n_positions=9, null_replicates=4, null_kind=kind)  # type: ignore[arg-type]
    shape = geometry(counts)
    found = order_beyond_lengths(counts, shape)
    assert found is not None
    assert (found.kind, found.null.shape) == (kind, (4, shape.positions.size))
    assert found.rank >= 1
    assert found.p_values[0] < 0.01
    assert [p <= 0.05 for p in found.p_values] == [k < found.rank for k in range(len(found.p_values))]
    null = geometry(counts.null[2], min_depth=int(counts.depth.min()))
    np.testing.assert_allclose(found.null[2], null.spectrum.eigenvalues, atol=1e-10)


def test_lengths_alone_are_structure_but_no_order_beyond_them() -> None:
    counts = count_texts(
        of_two_lengths(np.random.default_rng(1)), n_positions=9, null_replicates=5, null_kind="permute"
    )
    shape = geometry(counts)
    tested, found = significance(shape), order_beyond_lengths(counts, shape)
    assert tested is not None
    assert found is not None
    assert tested.rank >= 1
    assert found.rank == 0
    analysis = analyze(counts, n_dims=4, encodings=["alibi"], default_encodings=False)
    (note,) = (note for note in analysis.notes if note.startswith("Order beyond lengths: 0 axes"))
    assert CAVEAT["permute"] in note


def test_null_corpora_without_spread() -> None:
    """Documents of one word each: every null corpus is the corpus itself."""
    counts = count_texts([f"{'abc'[i % 3]} " * 6 for i in range(200)], n_positions=6, null_replicates=3, fold_by="row")
    found = order_beyond_lengths(counts, geometry(counts))
    assert found is not None
    assert found.rank == 0
    assert found.p_values[0] >= 0.5


def test_too_few_null_corpora_test_nothing() -> None:
    texts = ordered(np.random.default_rng(2), 200)
    two, three = (count_texts(texts, n_positions=9, null_replicates=k) for k in (2, 3))
    assert order_beyond_lengths(two, geometry(two)) is None
    assert order_beyond_lengths(three, geometry(three)) is not None
    assert order_beyond_lengths(three, geometry(three, estimator="plugin")) is None


@pytest.mark.slow
def test_axes_that_are_noise_do_not_go_beyond_lengths() -> None:
    counts = count_texts(demo_texts()[:2000], "whitespace", n_positions=24, null_replicates=3)
    known = geometry(counts)
    tested, beyond = significance(known), order_beyond_lengths(counts, known)
    assert tested is not None
    assert beyond is not None
    assert 0 < beyond.rank <= len(beyond.p_values) <= tested.rank < 24
