"""Theorem 4 where one of its hypotheses is made to fail: small problems in which rows of P collapse, or do not.

Every sequence of n tokens is enumerated with its probability, so that nothing is sampled. The model is one head of
attention, softmax(query M (E(x_i) + p_i)) over values E(x_i) + p_i and a linear read-out, without a residual path; P,
the query and the read-out are trained to a minimum of the expected cross-entropy plus a little of |P|^2 + |query|^2.

What collapses, and why: where a minimum without P exists (exchangeable tokens; a label that counts tokens), the penalty
takes P to 0; where M = 0 attention is uniform and only the mean row of P matters, so that the penalty takes the rows to
their mean. Without a penalty nothing would move rows that do not matter: it is weight decay that collapses them.
The hypotheses are sufficient and not necessary: two of the problems violate one, and their rows separate all the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import PosgeomError
from posgeom.estimation.euclidean import euclidean_distances
from posgeom.scores.separation import minimum_separation
from posgeom.theory.verdict import Cell, Check, Verdict

N_POSITIONS, N_DIMS = 4, 8
_PENALTY, _STEPS = 1e-3, 500
_COLLAPSED, _HOLDS_ABOVE = 1e-3, 1e-6
_SEQUENCES = np.array(list(product((0, 1), repeat=N_POSITIONS)))
_PAIRS = tuple(combinations(range(N_POSITIONS), 2))


@dataclass(frozen=True, eq=False)
class Problem:
    """A corpus, a task and the M of attention.

    `weights` are probabilities of sequences, `label` that of label 1 (None where a masked token is predicted); `m_sees`
    is "everything", "nothing", or "no tokens".
    """

    what: str
    weights: NDArray[np.float64]
    label: NDArray[np.float64] | None
    m_sees: str = "everything"


def _independent(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.where(_SEQUENCES == 1, p, 1 - p).prod(axis=1))


def _markov(stay: float) -> NDArray[np.float64]:
    stays = _SEQUENCES[:, 1:] == _SEQUENCES[:, :-1]
    return np.asarray(np.where(stays, stay, 1 - stay).prod(axis=1) / 2)


def _logistic(score: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-score)))


_DRIFTING = _independent(np.array([0.2, 0.4, 0.6, 0.8]))
_ORDERED = _logistic((2 * _SEQUENCES - 1) @ np.array([4.0, 2.0, 1.0, 0.5]))
_COUNTED = _logistic(2.0 * (_SEQUENCES.sum(axis=1) - N_POSITIONS / 2))
PROBLEMS: Mapping[str, Problem] = MappingProxyType(
    {
        "all hold": Problem("tokens drift with position, and the label weighs positions", _DRIFTING, _ORDERED),
        "stationary": Problem(
            "independent tokens of one distribution, one masked", _independent(np.full(4, 0.3)), None
        ),
        "stationary chain": Problem("a stationary Markov chain, one token masked", _markov(0.9), None),
        "bag of words": Problem("tokens drift with position, and the label counts them", _DRIFTING, _COUNTED),
        "M = 0": Problem("the first problem with M = 0", _DRIFTING, _ORDERED, "nothing"),
        "M blind to tokens": Problem("the first with an M that sees P alone", _DRIFTING, _ORDERED, "no tokens"),
    }
)


@dataclass(frozen=True, kw_only=True)
class CollapseCheck(Check):
    """What became of the rows of P.

    `h1`, `h2` and `h3` are the least |e_i - e_j|, rise in expected loss and |M (e_i - e_j)| over pairs of positions;
    `start` and `end` are minimum separations of P.
    """

    problem: str
    what: str
    h1: float
    h2: float
    h3: float
    fails: tuple[str, ...]
    start: float
    end: float
    loss: float
    collapsed: bool


def collapse_check(problem: str, *, seed: int = 0) -> CollapseCheck:
    """Train one of the problems from random rows, and see whether rows of P collapse; needs the extra ``models``.

    Parameters
    ----------
    problem : str
        A name of `PROBLEMS`.
    seed : int
        Of embeddings, of M and of what is trained, at the start.

    Returns
    -------
    CollapseCheck
        False where every hypothesis holds and rows collapse. Holds otherwise: where a hypothesis fails the theorem says
        nothing, and the reason says which rows resulted.

    Raises
    ------
    PosgeomError
        When the problem is not known, or torch is missing.
    """
    if problem not in PROBLEMS:
        raise PosgeomError(f"problem {problem!r}: expected one of {', '.join(PROBLEMS)}")
    chosen, rng = PROBLEMS[problem], np.random.default_rng(seed)
    tokens = rng.standard_normal((2, N_DIMS))
    m = rng.standard_normal((N_DIMS, N_DIMS)) * (chosen.m_sees != "nothing")
    if chosen.m_sees == "no tokens":
        onto_tokens = tokens.T @ np.linalg.pinv(tokens.T)
        m = m @ (np.eye(N_DIMS) - onto_tokens)
    rows, loss, start = _trained(chosen, tokens, m, rng)
    end, plain = minimum_separation(euclidean_distances(rows), np.arange(N_POSITIONS)).distance, loss(_SEQUENCES)
    share = chosen.weights @ _SEQUENCES
    apart = np.array([share[i] - share[j] for i, j in _PAIRS])[:, None] * (tokens[1] - tokens[0])
    rises = []
    for i, j in _PAIRS:
        swapped = _SEQUENCES.copy()
        swapped[:, [i, j]] = _SEQUENCES[:, [j, i]]
        rises.append(float(chosen.weights @ (loss(swapped) - plain)))
    least = {
        "H1": float(np.linalg.norm(apart, axis=1).min()),
        "H2": min(rises),
        "H3": float(np.linalg.norm(apart @ m.T, axis=1).min()),
    }
    fails = tuple(name for name, value in least.items() if value <= _HOLDS_ABOVE)
    collapsed = end <= _COLLAPSED * start
    state = "all hypotheses hold" if not fails else f"{' and '.join(fails)} fail" + ("s" if len(fails) == 1 else "")
    did = "collapse" if collapsed else "stay apart"
    return CollapseCheck(
        verdict=Verdict.FALSE if collapsed and not fails else Verdict.HOLDS,
        because=f"{state}, and rows {did}: {start:.3g} apart before, {end:.3g} after",
        problem=problem,
        what=chosen.what,
        h1=least["H1"],
        h2=least["H2"],
        h3=least["H3"],
        fails=fails,
        start=start,
        end=end,
        loss=float(chosen.weights @ plain),
        collapsed=collapsed,
    )


def _trained(
    problem: Problem, tokens: NDArray[np.float64], m: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float64], Callable[[NDArray[np.int64]], NDArray[np.float64]], float]:
    """P at the minimum, the loss of the trained model by sequence, and the separation at the start."""
    try:
        import torch
    except ImportError:
        raise PosgeomError("training a problem needs torch: install posgeom[models]") from None

    table, seen = torch.as_tensor(tokens), torch.as_tensor(m)
    weights, mask = torch.as_tensor(problem.weights), torch.as_tensor(rng.standard_normal(N_DIMS))
    p, read_out, query = (
        torch.as_tensor(rng.standard_normal(size)).requires_grad_()
        for size in ((N_POSITIONS, N_DIMS), (N_DIMS, 2), N_DIMS)
    )
    bias = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    start = minimum_separation(euclidean_distances(p.detach().numpy()), np.arange(N_POSITIONS)).distance

    def attended(hidden: Any, asks: Any) -> Any:
        scores = torch.einsum("d,de,sne->sn", asks, seen, hidden) / N_DIMS**0.5
        return torch.log_softmax((torch.softmax(scores, 1)[..., None] * hidden).sum(1) @ read_out + bias, 1)

    def losses(sequences: NDArray[np.int64]) -> Any:
        ids = torch.as_tensor(sequences)
        hidden = table[ids] + p
        if problem.label is not None:
            one = torch.as_tensor(problem.label)
            return -(attended(hidden, query) * torch.stack([1 - one, one], 1)).sum(1)
        total = torch.zeros(len(ids), dtype=torch.float64)
        for k in range(N_POSITIONS):
            masked = torch.cat([hidden[:, :k], (mask + p[k]).expand(len(ids), 1, -1), hidden[:, k + 1 :]], 1)
            total = total - attended(masked, mask + p[k] + query).gather(1, ids[:, k : k + 1])[:, 0]
        return total / N_POSITIONS

    trained = [p, read_out, query, bias]
    optimiser = torch.optim.LBFGS(
        trained, max_iter=_STEPS, tolerance_grad=1e-11, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def closure() -> Any:
        optimiser.zero_grad()
        total = weights @ losses(_SEQUENCES) + _PENALTY * ((p**2).sum() + (query**2).sum())
        total.backward()
        return total

    optimiser.step(closure)

    def loss(sequences: NDArray[np.int64]) -> NDArray[np.float64]:
        with torch.no_grad():
            return np.asarray(losses(sequences).numpy())

    return p.detach().numpy(), loss, start


@dataclass(frozen=True, kw_only=True)
class CollapseChecks(Check):
    """All of the problems."""

    headers = ("problem", "fails", "separation before", "after", "rows")

    problems: tuple[CollapseCheck, ...]

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """What the terminal shows."""
        return [
            (p.problem, ", ".join(p.fails) or "none", p.start, p.end, "collapse" if p.collapsed else "stay apart")
            for p in self.problems
        ]


def collapse_checks(*, seed: int = 0) -> CollapseChecks:
    """Train every one of the problems.

    Parameters
    ----------
    seed : int

    Returns
    -------
    CollapseChecks
        False where rows collapse in spite of all hypotheses. Holds where they stay apart under all of them, and
        collapse in some problem in which one fails.
    """
    problems = tuple(collapse_check(name, seed=seed) for name in PROBLEMS)
    against = [p.problem for p in problems if p.verdict is Verdict.FALSE]
    collapsed = [p.problem for p in problems if p.collapsed]
    spared = [p.problem for p in problems if p.fails and not p.collapsed]
    return CollapseChecks(
        verdict=Verdict.FALSE if against else Verdict.HOLDS if collapsed else Verdict.NOT_TESTABLE,
        because=(
            f"rows collapse in {_listed(collapsed)}, where a hypothesis fails; they stay apart in {_listed(spared)}, "
            "although one fails there too, so that the hypotheses are sufficient and not necessary"
            + (f"; in {_listed(against)} they collapse although all hold" if against else "")
        ),
        problems=problems,
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
