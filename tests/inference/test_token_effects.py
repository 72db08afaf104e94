"""Tokens that set positions apart: parts add up, agree with a slow form, find what was put there, and nothing else."""

import numpy as np
import pytest

from posgeom.counts.counting import count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.token_names import token_names
from posgeom.errors import GeometryError, TokenizerError
from posgeom.estimation.build import geometry
from posgeom.inference.token_effects import _shares, token_effects

N = 8


def corpus(n: int, *, seed: int, planted: bool) -> PositionCounts:
    """Letters at random, all positions alike; where planted, x stands at position 3 in three documents of four."""
    rng = np.random.default_rng(seed)
    letters = rng.choice(list("abcdefx"), (n, N))
    if planted:
        letters[rng.random(n) < 0.75, 3] = "x"
    return count_texts(["".join(row) for row in letters], "chars", n_positions=N, n_folds=10)


def test_a_planted_token_is_found_where_it_stands() -> None:
    counts = corpus(2000, seed=0, planted=True)
    found = token_effects(counts, geometry(counts), n_positions=1)
    axis, position = found[0], found[-1]
    assert (position.kind, position.number) == ("position", 3)
    effect = position.effects[0]
    assert chr(effect.token) == "x"
    assert effect.deviation.value is not None
    assert effect.deviation.value > 0
    assert effect.frequency == pytest.approx(0.75 + 0.25 / 7, abs=0.03)
    assert effect.share > 0.5
    assert axis.ends[0][0] == 3 or axis.ends[1][0] == 3
    assert chr(axis.effects[0].token) == "x"


def test_parts_add_up_and_agree_with_products_of_folds_written_out() -> None:
    counts = corpus(300, seed=1, planted=True)
    shape = geometry(counts)
    assert shape.products is not None
    roots = [part.toarray()[shape.products.row_of_position] for part in shape.products.roots]
    deviations = [root[3] - root.mean(axis=0) for root in roots]
    n, length = len(roots), shape.products.centred()[3, 3]
    slow = np.zeros(deviations[0].size)
    for f in range(n):
        for g in range(n):
            if f != g:
                slow += deviations[f] * deviations[g] / (n * (n - 1))
    shares = _shares(np.stack(deviations), length, 1.0)
    np.testing.assert_allclose(shares, slow / length, rtol=1e-12)
    assert shares.sum() == pytest.approx(1, rel=1e-12)
    found = token_effects(counts, shape, positions=[3], n_axes=0)
    assert found[0].size == pytest.approx(length)
    known = dict(zip(counts.distinct_tokens.tolist(), shares, strict=False))
    for effect in found[0].effects:
        assert effect.share == pytest.approx(known[effect.token])


def test_parts_of_an_axis_add_up_to_its_eigenvalue() -> None:
    counts = corpus(500, seed=2, planted=True)
    shape = geometry(counts)
    axis = token_effects(counts, shape, n_positions=0, n_axes=1, alpha=1)[0]  # all tokens pass
    assert shape.products is not None
    assert axis.size == pytest.approx(np.linalg.eigvalsh(shape.products.centred())[-1])
    assert len(axis.effects) == axis.n_tested == counts.distinct_tokens.size
    assert sum(effect.share for effect in axis.effects) == pytest.approx(1)


@pytest.mark.slow
def test_without_structure_hardly_a_corpus_has_a_token_told_from_noise() -> None:
    found = []
    for seed in range(60):
        counts = corpus(200, seed=100 + seed, planted=False)
        found.append(any(one.effects for one in token_effects(counts, geometry(counts), positions=[3], n_axes=0)))
    assert sum(found) <= 9  # 5 % of 60 are expected, and more than 9 once in 1,000 times


def test_rare_tokens_are_not_told_from_noise_by_being_rare() -> None:
    """Zipf's law with most tokens seen nowhere near once a position: their deviations are far from normal."""
    rng = np.random.default_rng(5)
    share = 1 / np.arange(1, 20_001)
    told, tested = 0, 0
    for _ in range(8):
        tokens = rng.choice(share.size, (1500, 6), p=share / share.sum())
        counts = count_texts([" ".join(f"w{t}" for t in row) for row in tokens], n_positions=6)
        looked_at = token_effects(counts, geometry(counts), positions=[0, 3], n_axes=1)
        told += sum(len(one.effects) for one in looked_at)
        tested += sum(one.n_tested for one in looked_at)
    assert tested > 40
    assert told <= 5


def test_order_of_documents_does_not_matter() -> None:
    texts = ["abcd", "xbca", "bcda", "xcab"] * 60
    texts = [text + str(i % 7) for i, text in enumerate(texts)]
    one, other = (count_texts(order, "chars", n_positions=5) for order in (texts, texts[::-1]))
    assert repr(token_effects(one, geometry(one))) == repr(token_effects(other, geometry(other)))


def test_refusals() -> None:
    counts = corpus(200, seed=3, planted=True)
    with pytest.raises(GeometryError, match="cross-validated"):
        token_effects(counts, geometry(counts, estimator="plugin"))
    with pytest.raises(GeometryError, match="position 99"):
        token_effects(counts, geometry(counts), positions=[99])


def test_names_of_tokens() -> None:
    words = count_texts(["one two", "two one"] * 3, n_positions=2)
    assert sorted(token_names(words, words.distinct_tokens.tolist())) == ["one", "two"]
    letters = count_texts(["a b"] * 3, "chars", n_positions=3)
    assert token_names(letters, [ord("a"), ord(" ")]) == ["a", "space"]
    octets = count_texts(["a\n"] * 3, "bytes", n_positions=2)
    assert token_names(octets, [97, 10]) == ["a", "<0x0A>"]
    with pytest.raises(TokenizerError, match="not the one of these counts"):
        token_names(letters, [97], "bytes")
