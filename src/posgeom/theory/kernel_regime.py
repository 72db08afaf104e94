"""Appendix A as a whole, on one corpus: each statement with its own verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import GeometryError
from posgeom.theory.ntk import (
    Kernel,
    cooperativity_check,
    equal_rows_check,
    flow_check,
    kernel_check,
    kernel_matrix,
    name_of,
)
from posgeom.theory.ntk_bounds import lipschitz_check, lipschitz_search, monotone_search
from posgeom.theory.verdict import Cell, Check, Verdict


@dataclass(frozen=True, kw_only=True)
class Statement(Check):
    """One statement of the appendix."""

    statement: str
    numbers: Check | None


@dataclass(frozen=True, kw_only=True)
class KernelRegime(Check):
    """Appendix A on one corpus."""

    headers = ("statement", "verdict", "because")

    kernel: str
    n_positions: int
    statements: tuple[Statement, ...]

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """What the terminal shows."""
        return [(one.statement, str(one.verdict), one.because) for one in self.statements]


def ntk(distances: NDArray[np.float64], kernel: str | Kernel = "exp(-d^2)", *, seed: int = 0) -> KernelRegime:
    """Check the statements of Appendix A with alpha = f(d) on the distances of a corpus.

    Parameters
    ----------
    distances : ndarray of float, shape (m, m)
        Hellinger distances.
    kernel : str or callable
        A name of `posgeom.theory.ntk.KERNELS`, or f.
    seed : int

    Returns
    -------
    KernelRegime
        False where a statement is; the searches for counterexamples make corpora of their own.

    Raises
    ------
    GeometryError
        When the kernel is not known, or not finite.
    """
    kernel_matrix(distances, kernel)
    checks: dict[str, Callable[[], Check]] = {
        "alpha is positive definite": lambda: kernel_check(distances, kernel),
        "the flow converges": lambda: flow_check(distances, kernel, seed=seed),
        "equal distributions get equal rows": lambda: equal_rows_check(distances, kernel),
        "the flow is cooperative": lambda: cooperativity_check(distances, kernel),
        "rows are Lipschitz in d_H": lambda: lipschitz_check(distances, kernel),
        "one constant for all corpora": lambda: lipschitz_search(kernel),
        "monotone corpora give monotone rows": lambda: monotone_search(kernel, seed=seed),
    }
    statements = tuple(_tried(name, check) for name, check in checks.items())
    verdicts = {one.verdict for one in statements}
    order = (Verdict.FALSE, Verdict.CONVENTION, Verdict.NOT_RUN)
    verdict = next((one for one in order if one in verdicts), Verdict.HOLDS)
    n_false = sum(one.verdict is Verdict.FALSE for one in statements)
    return KernelRegime(
        verdict=verdict,
        because=f"{n_false} of {len(statements)} statements are false with f(d) = {name_of(kernel)}",
        kernel=name_of(kernel),
        n_positions=len(distances),
        statements=statements,
    )


def _tried(statement: str, check: Callable[[], Check]) -> Statement:
    """A statement with the verdict of its check, or with the reason why it could not be run."""
    try:
        numbers = check()
    except GeometryError as error:
        return Statement(verdict=Verdict.NOT_RUN, because=str(error), statement=statement, numbers=None)
    return Statement(verdict=numbers.verdict, because=numbers.because, statement=statement, numbers=numbers)
