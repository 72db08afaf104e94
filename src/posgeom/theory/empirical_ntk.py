"""The empirical neural tangent kernel of a real network, restricted to the rows of its position table.

Linearised in P, gradient descent on a squared loss is dP/dt = b - alpha P, with alpha_ij = (1/d) times the mean over
examples of <df/dp_i, df/dp_j>, f being all outputs. That sum over outputs is taken exactly where they are few, and
without bias by random signs otherwise: E <d(r.f)/dp_i, d(r.f)/dp_j> is the sum. Appendix A asks alpha_ij to be a
function of d_H(mu_i, mu_j). The share of its variance over pairs that the best decreasing function of d_H explains is
compared with three others: that of positions in a random order, that of the lag, and the most that noise leaves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import PosgeomError
from posgeom.policies import ALPHA
from posgeom.seeds import make_rng
from posgeom.theory.verdict import Check, Verdict

_FULL = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class EmpiricalKernel:
    """alpha over positions, from each half of the examples.

    `split` has shape (2, n, n).
    """

    split: NDArray[np.float64]

    @property
    def values(self) -> NDArray[np.float64]:
        """alpha, shape (n, n)."""
        return np.asarray(self.split.mean(axis=0))


def empirical_kernel(
    model: Any,
    parameter: str,
    ids: NDArray[np.int64],
    mask: NDArray[np.int64],
    *,
    offset: int = 0,
    outputs: Callable[[Any], Any] | None = None,
    n_projections: int = 8,
    seed: int = 0,
) -> EmpiricalKernel:
    """The tangent kernel of a torch model restricted to a position table; needs the extra ``models``.

    Parameters
    ----------
    model : torch.nn.Module
        Called with ``input_ids`` and ``attention_mask``.
    parameter : str
        Name of the table, such as ``"embeddings.position_embeddings.weight"``; shape (rows, d).
    ids, mask : ndarray of int, shape (N, n)
        At least two examples.
    offset : int
        Row of the first position.
    outputs : callable, optional
        From what the model returns to a tensor f; by default its logits, or else its last hidden state.
    n_projections : int
        Random sums of outputs an example, where there are more outputs.
    seed : int

    Returns
    -------
    EmpiricalKernel

    Raises
    ------
    PosgeomError
        When there is no such table, or there are fewer than two examples.
    """
    import torch
    from torch.func import functional_call, jacrev

    parameters = {name: one.detach() for name, one in model.named_parameters()}
    n = ids.shape[1]
    if parameter not in parameters or parameters[parameter].ndim != 2 or parameters[parameter].shape[0] < offset + n:
        raise PosgeomError(f"the model has no table {parameter!r} with {offset + n} rows: name one of its parameters")
    if ids.shape != mask.shape or len(ids) < 2:
        raise PosgeomError(f"ids and mask have shapes {ids.shape} and {mask.shape}: expected the same, with 2 examples")
    table, read = parameters[parameter], outputs or _outputs
    generator = torch.Generator().manual_seed(seed)

    def projected(rows: Any, example: Any, visible: Any, signs: list[Any]) -> Any:
        whole = torch.cat([table[:offset], rows, table[offset + n :]])
        given = {"input_ids": example, "attention_mask": visible}
        flat = read(functional_call(model, parameters | {parameter: whole}, (), given)).flatten()
        if not signs:  # chosen once, at the first call, when the number of outputs is known
            exact = flat.numel() <= n_projections
            size = (n_projections, flat.numel())
            random = torch.randint(2, size, generator=generator).to(flat) * 2 - 1
            signs.append(torch.eye(flat.numel()).to(flat) if exact else random / n_projections**0.5)
        return signs[0] @ flat

    was_training = model.training
    model.eval()
    total = np.zeros((2, n, n))
    try:
        for k in range(len(ids)):
            example, visible = (torch.as_tensor(a[k : k + 1], device=table.device) for a in (ids, mask))
            gradient = jacrev(projected)(table[offset : offset + n], example, visible, [])
            total[k % 2] += torch.einsum("oid,ojd->ij", gradient, gradient).double().cpu().numpy()
    finally:
        model.train(was_training)
    sizes = np.array([(len(ids) + 1) // 2, len(ids) // 2])
    return EmpiricalKernel(total / (sizes * table.shape[1])[:, None, None])


def _outputs(result: Any) -> Any:
    return result.logits if hasattr(result, "logits") else result.last_hidden_state


@dataclass(frozen=True, kw_only=True)
class KernelFit(Check):
    """How much of alpha is a function of d_H.

    Shares are None where nothing varies; `p_value` is the share of random orders that explain as much; `ceiling` is the
    most that any function could explain, given the noise of the examples (Spearman-Brown).
    """

    explained: float | None
    by_chance: float | None
    p_value: float
    by_lag: float | None
    ceiling: float | None
    n_pairs: int
    n_orders: int


def kernel_fit(
    kernel: EmpiricalKernel,
    distances: NDArray[np.float64],
    positions: NDArray[np.int64],
    *,
    n_orders: int = 200,
    seed: int = 0,
) -> KernelFit:
    """Compare alpha with decreasing functions of the corpus's distances.

    Parameters
    ----------
    kernel : EmpiricalKernel
        Over positions from 0 on.
    distances : ndarray of float, shape (m, m)
    positions : ndarray of int, shape (m,)
        Of the distances; at least 4.
    n_orders : int
        Random orders of the positions.
    seed : int

    Returns
    -------
    KernelFit
        Holds where a decreasing function of d_H explains all that noise leaves. Otherwise false, and the reason says
        whether it explains more than positions in a random order; not testable where alpha does not vary.

    Raises
    ------
    PosgeomError
        When sizes do not fit.
    """
    m = positions.size
    if m < 4 or distances.shape != (m, m) or positions[-1] >= kernel.values.shape[0]:
        raise PosgeomError(
            f"distances of shape {distances.shape} and a kernel of {kernel.values.shape[0]} positions: expected "
            "distances of 4 positions or more, all of them in the kernel"
        )
    upper = np.triu_indices(m, 1)
    halves = [one[np.ix_(positions, positions)][upper] for one in kernel.split]
    values, lags = np.mean(halves, axis=0), np.abs(np.subtract.outer(positions, positions))[upper]
    explained = decreasing_share(distances[upper], values)
    rng, shares = make_rng(seed), []
    for _ in range(n_orders):
        order = rng.permutation(m)
        shares.append(decreasing_share(distances[np.ix_(order, order)][upper], values))
    chance = [share for share in shares if share is not None]
    p_value = (1 + sum(share >= (explained or 0) for share in chance)) / (1 + n_orders)
    ceiling = _ceiling(*halves)
    holds = explained is not None and explained >= (_FULL if ceiling is None else min(ceiling, _FULL))
    return KernelFit(
        verdict=Verdict.NOT_TESTABLE if explained is None else Verdict.HOLDS if holds else Verdict.FALSE,
        because=_because(explained, ceiling, float(np.mean(chance)) if chance else None, p_value),
        explained=explained,
        by_chance=float(np.mean(chance)) if chance else None,
        p_value=p_value,
        by_lag=_group_share(lags, values),
        ceiling=ceiling,
        n_pairs=values.size,
        n_orders=n_orders,
    )


def _because(explained: float | None, ceiling: float | None, by_chance: float | None, p_value: float) -> str:
    if explained is None or by_chance is None:
        return "the tangent kernel is the same for all pairs of positions, so that there is nothing to explain"
    most = "" if ceiling is None else f" of at most {ceiling:.3f} that noise leaves"
    more = "more than" if p_value <= ALPHA else "no more than"
    return (
        f"a decreasing function of d_H explains {explained:.3f} of the variance of the tangent kernel{most}, {more} "
        f"the {by_chance:.3f} of positions in a random order (p = {p_value:.3g})"
    )


def decreasing_share(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Share of the variance of y that the best decreasing function of x explains; None where y does not vary.

    Shapes: `x, y` (k,).
    """
    from scipy.optimize import isotonic_regression

    levels, place = np.unique(x, return_inverse=True)
    sizes = np.bincount(place)
    fitted = isotonic_regression(np.bincount(place, weights=y) / sizes, weights=sizes, increasing=False).x[place]
    total = float(((y - y.mean()) ** 2).sum())
    return None if total <= levels.size * np.finfo(np.float64).eps * float((y**2).sum()) else _share(y, fitted, total)


def _group_share(groups: NDArray[np.int64], y: NDArray[np.float64]) -> float | None:
    _, place = np.unique(groups, return_inverse=True)
    fitted = (np.bincount(place, weights=y) / np.bincount(place))[place]
    total = float(((y - y.mean()) ** 2).sum())
    return _share(y, fitted, total) if total > 0 else None


def _share(y: NDArray[np.float64], fitted: NDArray[np.float64], total: float) -> float:
    return 1 - float(((y - fitted) ** 2).sum()) / total


def _ceiling(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Reliability of the mean of two halves, from their correlation."""
    if not (a.std() > 0 and b.std() > 0):
        return None
    r = float(np.corrcoef(a, b)[0, 1])
    return 2 * r / (1 + r) if r > 0 else None


def kernel_drift(kernels: Sequence[EmpiricalKernel]) -> list[float]:
    """1 - <alpha_0, alpha_t> / (|alpha_0| |alpha_t|) along training: 0 where alpha keeps its form, as theory asks.

    Parameters
    ----------
    kernels : sequence of EmpiricalKernel
        The first is that of the beginning.

    Returns
    -------
    list of float
    """
    first = kernels[0].values / np.linalg.norm(kernels[0].values)
    return [float(1 - (first * one.values).sum() / np.linalg.norm(one.values)) for one in kernels]
