"""H2 of Theorem 4: the rise in a trained model's loss when two tokens change places and the encoding stays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.errors import PosgeomError
from posgeom.inference.jackknife import Estimate
from posgeom.policies import ALPHA
from posgeom.seeds import make_rng
from posgeom.theory.verdict import Cell, Check, Verdict

Loss = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
"""From token ids and attention mask, each of shape (N, n), to the loss of each example, shape (N,)."""
MOST_PAIRS = 64
"""Pairs of positions that are tried where none are named, since each takes a run over all examples."""


@dataclass(frozen=True, slots=True)
class SwappedPair:
    """What swapping the tokens of one pair of positions does.

    Attributes
    ----------
    pair : tuple of int
    rise : Estimate
        Mean of loss(swapped) - loss, paired by example.
    n_examples : int
        Examples that have tokens at both positions.
    p_value : float
        One-sided, of a rise; corrected for the number of pairs (Holm).
    fall_p_value : float
        The same of a fall.
    is_zero : bool
        Whether no example's loss changes by more than round-off.
    """

    pair: tuple[int, int]
    rise: Estimate
    n_examples: int
    p_value: float
    fall_p_value: float
    is_zero: bool


@dataclass(frozen=True, kw_only=True)
class SwapTest(Check):
    """H2 on pairs of positions.

    Attributes
    ----------
    pairs : tuple of SwappedPair
    alpha : float
        Probability that any pair is said to rise that does not.
    n_examples : int
    mean_loss : float
        Of the examples as they are.
    """

    headers = ("positions", "rise in loss", "examples", "p (Holm)")

    pairs: tuple[SwappedPair, ...]
    alpha: float
    n_examples: int
    mean_loss: float

    @property
    def rising(self) -> tuple[tuple[int, int], ...]:
        """Pairs whose swap raises the loss."""
        return tuple(one.pair for one in self.pairs if one.p_value <= self.alpha)

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """What the terminal shows."""
        return [(f"{p.pair[0]}, {p.pair[1]}", p.rise, p.n_examples, p.p_value) for p in self.pairs]


def swap_test(
    loss: Loss,
    ids: NDArray[np.int64],
    mask: NDArray[np.int64],
    *,
    content: NDArray[np.bool_] | None = None,
    pairs: Sequence[tuple[int, int]] | None = None,
    alpha: float = ALPHA,
    precision: float = float(np.finfo(np.float32).eps),
    seed: int = 0,
) -> SwapTest:
    """H2: swap the tokens at positions i and j of real examples, with the positional encoding where it is.

    Parameters
    ----------
    loss : callable
        From ids and mask to the loss of each example; deterministic, and what it masks must not depend on the tokens.
    ids, mask : ndarray of int, shape (N, n)
        Token ids and attention mask of independent examples.
    content : ndarray of bool, shape (N, n), optional
        Tokens that may be swapped, such as all but special ones; by default those of the mask.
    pairs : sequence of pair of int, optional
        By default all that two examples or more have, or 64 of them by the seed.
    alpha : float
    precision : float
        Relative precision that the loss is computed in, for round-off.
    seed : int

    Returns
    -------
    SwapTest
        Intervals and p-values are Student's, of the paired differences.

    Raises
    ------
    PosgeomError
        When sizes do not fit, a pair has fewer than two examples, or the loss is not a finite number each.
    """
    movable = np.asarray(mask != 0 if content is None else content, np.bool_)
    if ids.ndim != 2 or ids.shape != mask.shape or ids.shape != movable.shape:
        raise PosgeomError(
            f"ids, mask and content have shapes {ids.shape}, {mask.shape}, {movable.shape}: expected the same (N, n)"
        )
    chosen = _choose_pairs(movable, pairs, seed)
    plain = _losses(loss, ids, mask)
    floor = 16 * precision * float(np.abs(plain).mean())
    results = []
    for i, j in chosen:
        both = movable[:, i] & movable[:, j]
        if int(both.sum()) < 2:
            raise PosgeomError(f"positions {i} and {j} both have tokens in {int(both.sum())} examples: expected 2")
        swapped = ids.copy()
        swapped[both, i], swapped[both, j] = ids[both, j], ids[both, i]
        results.append(((i, j), (_losses(loss, swapped, mask) - plain)[both]))
    return _tested(results, alpha, floor, plain)


def _choose_pairs(
    movable: NDArray[np.bool_], pairs: Sequence[tuple[int, int]] | None, seed: int
) -> list[tuple[int, int]]:
    n = movable.shape[1]
    if pairs is not None:
        for i, j in pairs:
            if not (0 <= i < n and 0 <= j < n and i != j):
                raise PosgeomError(f"pair ({i}, {j}): expected two different positions from 0 to {n - 1}")
        return [(int(i), int(j)) for i, j in pairs]
    together = movable.T.astype(np.int64) @ movable
    usable = [(i, j) for i, j in combinations(range(n), 2) if together[i, j] >= 2]
    if not usable:
        raise PosgeomError("no two positions have tokens in two examples: give more or longer examples")
    if len(usable) > MOST_PAIRS:
        usable = [usable[k] for k in sorted(make_rng(seed).choice(len(usable), MOST_PAIRS, replace=False))]
    return usable


def _losses(loss: Loss, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float64]:
    values = np.asarray(loss(ids, mask), np.float64)
    if values.shape != ids.shape[:1] or not np.isfinite(values).all():
        raise PosgeomError(f"the loss of {ids.shape[0]} examples has shape {values.shape}: expected a finite one each")
    return values


def _tested(
    results: Sequence[tuple[tuple[int, int], NDArray[np.float64]]],
    alpha: float,
    floor: float,
    plain: NDArray[np.float64],
) -> SwapTest:
    estimates, p_rise, p_fall = [], [], []
    for _, change in results:
        mean, error = float(change.mean()), float(change.std(ddof=1) / np.sqrt(change.size))
        estimates.append(Estimate(mean, error, change.size - 1))
        decided = abs(mean) > floor
        # Student's t is infinite where every example changes alike.
        t = mean / error if error else np.inf * np.sign(mean) if decided else 0.0
        p_rise.append(float(scipy.special.stdtr(change.size - 1, -t)) if decided else 1.0)
        p_fall.append(float(scipy.special.stdtr(change.size - 1, t)) if decided else 1.0)
    rise, fall = holm(np.array(p_rise)), holm(np.array(p_fall))
    pairs = tuple(
        SwappedPair(pair, estimate, change.size, float(up), float(down), bool((np.abs(change) <= floor).all()))
        for (pair, change), estimate, up, down in zip(results, estimates, rise, fall, strict=True)
    )
    verdict, because = _judged(pairs, alpha)
    return SwapTest(
        verdict=verdict, because=because, pairs=pairs, alpha=alpha, n_examples=plain.size, mean_loss=float(plain.mean())
    )


def _judged(pairs: Sequence[SwappedPair], alpha: float) -> tuple[Verdict, str]:
    n_rising = sum(one.p_value <= alpha for one in pairs)
    against = [one for one in pairs if one.is_zero or one.fall_p_value <= alpha]
    shown = f"the loss rises for {n_rising} of {len(pairs)} pairs of positions at level {alpha:g} for all together"
    if n_rising == len(pairs):
        return Verdict.HOLDS, shown
    if against:
        worst = min(against, key=lambda one: one.rise.value or 0.0)
        does = "changes nothing" if worst.is_zero else f"lowers it by {-(worst.rise.value or 0.0):.3g}"
        return Verdict.FALSE, f"{shown}; swapping positions {worst.pair[0]} and {worst.pair[1]} {does}"
    most = max(one.rise.value or 0.0 for one in pairs if one.p_value > alpha)
    return Verdict.NOT_TESTABLE, f"{shown}; the others rise by {most:.3g} at most, which examples cannot tell from none"


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's step-down correction for the number of p-values, shape as given."""
    order = np.argsort(p_values)
    factors = np.arange(p_values.size, 0, -1)
    out = np.empty(p_values.size)
    out[order] = np.minimum(1, np.maximum.accumulate(factors * p_values[order]))
    return out


def torch_loss(
    model: Any,
    *,
    labels: NDArray[np.int64] | None = None,
    mask_token: int | None = None,
    share: float = 0.15,
    batch_size: int = 64,
    seed: int = 0,
) -> Loss:
    """The loss of a transformers model by example: of a label, of masked tokens, or of each next token.

    Parameters
    ----------
    model : torch.nn.Module
        Whose output has ``logits``.
    labels : ndarray of int, shape (N,), optional
        Of the examples, for a classifier.
    mask_token : int, optional
        Id that stands in for masked tokens. Which positions are masked is random by the seed, at least one an example,
        and the same in every call with as many examples.
    share : float
        Share of positions masked.
    batch_size : int
    seed : int

    Returns
    -------
    callable
        For `swap_test`. With neither labels nor mask token the loss is that of each next token.
    """
    if labels is not None and mask_token is not None:
        raise PosgeomError("got labels and a mask token: expected one of them")

    def loss(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float64]:
        import torch

        if labels is not None and labels.shape != ids.shape[:1]:
            raise PosgeomError(f"{ids.shape[0]} examples and {labels.shape[0]} labels: expected as many")
        inputs, targets = ids, np.where(mask != 0, ids, -100)
        if mask_token is not None:
            chosen = _masked(mask != 0, share, seed)
            inputs, targets = np.where(chosen, mask_token, ids), np.where(chosen, ids, -100)
        device, out = next(model.parameters()).device, []
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                for start in range(0, len(ids), batch_size):
                    rows = slice(start, start + batch_size)
                    batch = [torch.as_tensor(a[rows], device=device) for a in (inputs, mask, targets)]
                    logits = model(input_ids=batch[0], attention_mask=batch[1]).logits
                    if labels is not None:
                        scores, goal = logits[:, None], torch.as_tensor(labels[rows], device=device)[:, None]
                    else:
                        is_causal = mask_token is None
                        scores, goal = (logits[:, :-1], batch[2][:, 1:]) if is_causal else (logits, batch[2])
                    each = torch.nn.functional.cross_entropy(
                        scores.transpose(1, 2).double(), goal, reduction="none", ignore_index=-100
                    )
                    out.append((each.sum(1) / (goal != -100).sum(1).clamp(min=1)).cpu().numpy())
        finally:
            model.train(was_training)
        return np.concatenate(out)

    return loss


def _masked(mask: NDArray[np.bool_], share: float, seed: int) -> NDArray[np.bool_]:
    """Positions to mask: a share of each example's, and the first by a random order where that is none."""
    order = np.where(mask, make_rng(seed).random(mask.shape), np.inf)
    return np.asarray(mask & ((order < share) | (order == order.min(axis=1, keepdims=True))))
