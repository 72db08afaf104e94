"""H2 of Theorem 4: the swap test on losses of known answer, and on torch models."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

from posgeom.errors import PosgeomError
from posgeom.theory.swap import holm, swap_test, torch_loss
from posgeom.theory.verdict import Verdict

N, n = 400, 5


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 6, (N, n))
    return ids, np.ones_like(ids)


def ordered(ids: np.ndarray, _: np.ndarray) -> np.ndarray:
    """Trained, as it were, on tokens that equal their position plus noise: every swap costs."""
    return np.asarray(((ids - np.arange(n)) ** 2).sum(axis=1), np.float64)


def bag(ids: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.asarray((ids % 3).sum(axis=1), np.float64)


def in_order() -> np.ndarray:
    return np.asarray(np.arange(n) + np.random.default_rng(1).integers(-1, 2, (N, n)))


def test_every_swap_of_an_ordered_corpus_raises_the_loss() -> None:
    ids = in_order()
    result = swap_test(ordered, ids, np.ones_like(ids))
    assert result.verdict is Verdict.HOLDS
    assert len(result.rising) == len(result.pairs) == 10


def test_agrees_with_a_paired_t_test_by_hand() -> None:
    ids, mask = in_order(), np.ones((N, n), np.int64)
    mask[: N // 2, 4] = 0
    result = swap_test(ordered, ids, mask, pairs=[(0, 1), (3, 4)])
    swapped = ids[N // 2 :].copy()
    swapped[:, [3, 4]] = swapped[:, [4, 3]]
    by_hand = scipy.stats.ttest_rel(ordered(swapped, mask), ordered(ids[N // 2 :], mask), alternative="greater")
    one = result.pairs[1]
    assert (one.pair, one.n_examples) == ((3, 4), N // 2)
    assert one.rise.value == pytest.approx(np.mean(ordered(swapped, mask) - ordered(ids[N // 2 :], mask)))
    interval = one.rise.interval(0.95)
    assert interval is not None
    expected = scipy.stats.ttest_rel(ordered(swapped, mask), ordered(ids[N // 2 :], mask)).confidence_interval()
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert by_hand.pvalue <= one.p_value <= 2 * by_hand.pvalue


def test_a_bag_of_words_is_a_counterexample() -> None:
    result = swap_test(bag, *data())
    assert result.verdict is Verdict.FALSE
    assert result.rising == ()
    assert all(one.is_zero for one in result.pairs)


def test_round_off_is_no_rise() -> None:
    def noisy(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.asarray(bag(ids, mask) * (1 + 1e-8 * (ids[:, 0] > ids[:, 1])))

    assert swap_test(noisy, *data()).rising == ()


def test_a_fall_is_a_counterexample() -> None:
    ids = in_order()
    result = swap_test(lambda a, m: 1000 - ordered(a, m), ids, np.ones_like(ids))
    assert result.verdict is Verdict.FALSE
    assert "lowers it" in result.because


def test_pairs_without_effect_are_neither_shown_nor_refuted() -> None:
    """Independent tokens whose loss depends on order, but on average not on the order of 0 and 1."""
    ids, mask = data()
    result = swap_test(lambda a, _: 10.0 + a[:, 0] * a[:, 2] - a[:, 1] * a[:, 2], ids, mask, pairs=[(0, 1)])
    assert result.verdict is Verdict.NOT_TESTABLE


def test_level_of_the_corrected_test() -> None:
    false_alarms = 0
    for seed in range(200):
        ids, mask = data(seed)
        false_alarms += bool(swap_test(lambda a, _: a @ np.array([1.0, -2, 3, 0.5, 7]), ids, mask).rising)
    assert false_alarms <= 200 * 0.05 + 3 * np.sqrt(200 * 0.05 * 0.95)


def test_holm() -> None:
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03])), [0.06, 0.03, 0.06])


def test_errors() -> None:
    ids, mask = data()
    with pytest.raises(PosgeomError, match="two different positions from 0 to 4"):
        swap_test(bag, ids, mask, pairs=[(0, 5)])
    with pytest.raises(PosgeomError, match="in 0 examples"):
        swap_test(bag, ids, np.tile([1, 1, 0, 0, 0], (N, 1)), pairs=[(2, 3)])
    with pytest.raises(PosgeomError, match="a finite one each"):
        swap_test(lambda a, _: np.full(len(a), np.nan), ids, mask)
    with pytest.raises(PosgeomError, match=r"expected the same \(N, n\)"):
        swap_test(bag, ids, mask[:5])
    with pytest.raises(PosgeomError, match="no two positions"):
        swap_test(bag, ids, mask * 0)
    with pytest.raises(PosgeomError, match="expected one of them"):
        torch_loss(None, labels=np.zeros(3, np.int64), mask_token=1)


class Logits:
    def __init__(self, logits: Any) -> None:
        self.logits = logits


def model_of(width: int) -> Any:
    """Logits that depend on token and position, in double precision."""
    import torch

    class Tiny(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.tokens = torch.nn.Embedding(9, width).double()
            self.rows = torch.nn.Parameter(torch.randn(n, width).double())

        def forward(self, input_ids: Any, attention_mask: Any) -> Logits:
            hidden = (self.tokens(input_ids) * torch.tanh(self.rows) + self.rows) * attention_mask[..., None]
            return Logits(hidden.sum(1) if width == 3 else hidden)

    return Tiny().train()


@pytest.mark.models
def test_torch_losses_agree_with_loops() -> None:
    import torch

    ids, mask = data(3)
    ids, mask = ids[:70], mask[:70]
    mask[:30, 3:] = 0
    classifier, labels = model_of(3), np.arange(70) % 3
    got = torch_loss(classifier, labels=labels, batch_size=16)(ids, mask)
    logits = classifier(torch.as_tensor(ids), torch.as_tensor(mask)).logits
    expected = [-torch.log_softmax(row, 0)[label].item() for row, label in zip(logits, labels, strict=True)]
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert classifier.training

    decoder = model_of(6)
    scores = torch.log_softmax(decoder(torch.as_tensor(ids), torch.as_tensor(mask)).logits, -1).detach().numpy()
    got = torch_loss(decoder, batch_size=16)(ids, mask)
    expected = [-np.mean([scores[r, t - 1, ids[r, t]] for t in range(1, n) if mask[r, t]]) for r in range(70)]
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.models
def test_masked_loss_masks_the_same_places_whatever_the_tokens() -> None:
    ids, mask = data(4)
    mask[:100, 2:] = 0
    model = model_of(6)
    seen: list[np.ndarray] = []
    model.register_forward_pre_hook(lambda _, __, given: seen.append(given["input_ids"].numpy()), with_kwargs=True)
    loss = torch_loss(model, mask_token=8, batch_size=N)
    loss(ids, mask)
    loss(ids[:, ::-1].copy() % 6, mask)
    first, second = (one == 8 for one in seen)
    np.testing.assert_array_equal(first, second)
    assert (first.sum(1) >= 1).all()
    assert not (first & (mask == 0)).any()
    assert 0.12 < first[100:].mean() < 0.35  # 15 %, and one where an example would have none
