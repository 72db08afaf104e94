"""Axes against null corpora: level, power, and what must not depend on chance."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posgeom.analysis import analyze
from posgeom.counts.counting import count, count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CountsError
from posgeom.geometry.build import geometry
from posgeom.geometry.significance import Significance, significance
from posgeom.report.document import to_document
from posgeom.studies.synthetic import sample_counts
from tests.conftest import make_counts


def with_nulls(documents: np.ndarray, vocab: int, n_null: int = 4, n_folds: int = 6, seed: int = 0) -> PositionCounts:
    """Counts of documents of one length, shape (n, length), and of permuted copies of them."""
    rng = np.random.default_rng(seed)
    fold = np.arange(len(documents)) % n_folds

    def dense(rows: np.ndarray) -> np.ndarray:
        out = np.zeros((n_folds, rows.shape[1], vocab), int)
        np.add.at(out, (fold[:, None], np.arange(rows.shape[1]), rows), 1)
        return out

    counts = make_counts(dense(documents))
    nulls = [make_counts(dense(rng.permuted(documents, axis=1))) for _ in range(n_null)]
    return counts.with_null([(n.fold, n.position, n.token, n.count) for n in nulls], seed=0)


def drawn(truth: np.ndarray, n_documents: int, rng: np.random.Generator) -> np.ndarray:
    """Documents whose tokens are drawn from one distribution a position."""
    u = rng.random((n_documents, len(truth), 1))
    return np.asarray((u > truth.cumsum(axis=1)[None, :, :-1]).sum(axis=2))


def axes_of(counts: PositionCounts) -> Significance:
    found = significance(counts, geometry(counts))
    assert found is not None
    return found


def test_a_corpus_without_structure_has_no_axis_but_for_the_level() -> None:
    p_values = []
    for seed in range(32):
        rng = np.random.default_rng(seed)
        documents = drawn(np.tile(rng.dirichlet(np.full(12, 0.7)), (8, 1)), 240, rng)
        p_values.append(axes_of(with_nulls(documents, 12, seed=seed)).axes[0].p_value)
    p = np.array(p_values)
    assert (p <= 0.05).sum() <= 5  # 1.6 are expected; 6 or more have a probability of 0.4 %
    assert 0.3 < np.mean(p) < 0.75
    assert p.min() < 0.3
    assert p.max() > 0.7


def test_two_real_axes_are_two() -> None:
    ranks = []
    angle = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        base = np.full(16, 1 / 4)  # unit vector of roots; the two axes are at right angles to it and to each other
        one, other = np.tile([1, -1], 8) / 4, np.repeat([1, -1], 8) / 4
        roots = base + 0.3 * np.cos(angle)[:, None] * one + 0.2 * np.sin(angle)[:, None] * other
        truth = roots**2 / (roots**2).sum(axis=1, keepdims=True)
        found = axes_of(with_nulls(drawn(truth, 600, rng), 16, seed=seed))
        ranks.append(found.rank)
        values = [axis.eigenvalue for axis in found.axes]
        assert values == sorted(values, reverse=True)
    assert ranks.count(2) >= 16
    assert min(ranks) == 2  # neither is missed; at 5 % a third one comes up by chance now and then


def test_what_is_reported() -> None:
    rng = np.random.default_rng(1)
    truth = rng.dirichlet(np.full(12, 0.3), 7)
    counts = with_nulls(drawn(truth, 400, rng), 12)
    shape, found = geometry(counts), axes_of(counts)
    spectrum = shape.spectrum.eigenvalues
    np.testing.assert_allclose([a.eigenvalue for a in found.axes], spectrum[: len(found.axes)], atol=1e-12)
    assert found.null.shape == (4, 7)
    null = geometry(counts.null[2])
    np.testing.assert_allclose(found.null[2], null.spectrum.eigenvalues, atol=1e-12)
    for k, axis in enumerate(found.axes):
        assert (axis.p_value <= found.alpha) == (axis.eigenvalue >= axis.null_upper)
        assert axis.null_mean >= found.null[:, k].mean() - 1e-12
        assert (axis.p_value <= found.alpha) or k >= found.rank
        interval = axis.interval(0.95)
        assert (interval is None) == (axis.corrected is None) == (axis.standard_error is None) == (k >= found.rank)
        if interval is not None and axis.standard_error is not None and axis.corrected is not None:
            reach = 2.228139 * axis.standard_error  # Student's t with 10 degrees of freedom
            assert interval == pytest.approx((axis.corrected - reach, axis.corrected + reach), rel=1e-6)
    assert found.signal_share is not None
    assert 0.9 < found.signal_share < 1.1
    assert repr(found).startswith("<Significance")


def test_the_order_of_null_corpora_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    counts = with_nulls(drawn(rng.dirichlet(np.full(12, 0.8), 7), 300, rng), 12, n_null=4)
    turned = replace(counts, null=counts.null[::-1])
    a, b = axes_of(counts), axes_of(turned)
    assert a.rank == b.rank
    for one, other in zip(a.axes, b.axes, strict=True):
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
        assert one.null_upper == pytest.approx(other.null_upper, rel=1e-9)


def test_too_few_null_corpora_or_a_plugin_geometry_test_nothing() -> None:
    rng = np.random.default_rng(3)
    documents = drawn(rng.dirichlet(np.full(12, 0.8), 7), 300, rng)
    counts = with_nulls(documents, 12, n_null=3)
    assert significance(counts, geometry(counts)) is not None
    assert significance(counts, geometry(counts, estimator="plugin")) is None
    assert significance(counts, geometry(counts, depth="full")) is None
    two = with_nulls(documents, 12, n_null=2)
    assert significance(two, geometry(two)) is None


def test_null_corpora_have_the_lengths_of_the_corpus() -> None:
    texts = [" ".join(f"w{(i * k) % 7}" for k in range(1, 5 + i % 9)) for i in range(300)]
    counts = count_texts(texts, n_positions=16, null_replicates=3)
    found = axes_of(counts)
    assert len(found.null) == 3
    near = counts.position < 8
    with pytest.raises(CountsError, match="its depths differ"):
        counts.with_null([(counts.fold[near], counts.position[near], counts.token[near], counts.count[near])], 0)


def test_null_corpora_that_are_all_alike() -> None:
    """Documents of one token each: permuted copies are the corpus itself, and nothing is undefined or significant."""
    counts = count_texts([f"{'abc'[i % 3]} " * 6 + str(i) for i in range(200)], n_positions=6, null_replicates=3)
    found = axes_of(counts)
    assert found.rank == 0
    assert all(0 <= axis.p_value <= 1 for axis in found.axes)
    analysis = analyze(counts, n_dims=4)
    json.dumps(to_document(analysis), allow_nan=False)
    assert any("nothing here says that position matters" in note for note in analysis.notes)


def test_certain_axes_against_null_corpora_without_spread() -> None:
    """The nulls are given equal ones, so their spread is 0: an axis beyond them is certain, not undefined."""
    rng = np.random.default_rng(0)
    counts = with_nulls(drawn(rng.dirichlet(np.full(12, 0.3), 7), 400, rng), 12)
    same = replace(counts, null=(counts.null[0],) * 3)
    found = significance(same, geometry(same))
    assert found is not None
    assert found.axes[0].p_value == 0
    assert found.rank >= 1


def test_the_uniform_policy() -> None:
    rng = np.random.default_rng(0)
    depths = np.array([0, 300, 300, 300, 300, 0])
    truth = rng.dirichlet(np.full(20, 0.5), 6)
    nulls = [sample_counts(np.tile(truth.mean(axis=0), (6, 1)), depths, n_folds=5, rng=rng) for _ in range(3)]
    counts = sample_counts(truth, depths, n_folds=5, rng=rng)
    counts = counts.with_null([(n.fold, n.position, n.token, n.count) for n in nulls], seed=0)
    found = significance(counts, geometry(counts, empty="uniform"))
    assert found is not None
    assert found.null.shape == (3, 6)
    assert 0 < found.rank < 5


def test_splice_junctions(data_dir: Path, tmp_path: Path) -> None:
    """The axis that parts the two bases after an exon's end is real; in permuted copies nothing is."""
    with (data_dir / "uci_splice.csv").open(newline="") as stream:
        sequences = [row["sequence"].strip() for row in csv.DictReader(stream) if row["label"] == "EI"]
    assert len(sequences) > 700
    rng = np.random.default_rng(0)
    permuted = ["".join(rng.permutation(list(s))) for s in sequences]
    ranks = {}
    for name, texts in (("given", sequences), ("permuted", permuted)):
        file = tmp_path / f"{name}.csv"
        file.write_text("sequence\n" + "\n".join(texts) + "\n")
        counts = count(file, "chars", n_positions=60, column="sequence", null_replicates=5)
        shape = geometry(counts)
        found = significance(counts, shape)
        assert found is not None
        ranks[name] = found.rank
        if name == "given":
            axes = shape.mds().coordinates
            parting = int(np.abs(axes[29] - axes[30]).argmax())
            assert found.axes[parting].p_value < 1e-3
            assert parting < found.rank
    assert ranks["given"] >= 2
    assert ranks["permuted"] == 0
