"""Appendix A, the kernel regime: alpha_ij = f(d_H(mu_i, mu_j)), the flow dP/dt = b - alpha P, and its fixed point.

The paper asks for f increasing and alpha positive definite. No such matrix exists: the minor of two positions is
f(0)^2 - f(d)^2 where f is positive, and negative there as soon as f(d) > f(0). Decreasing functions work, if not all of
them: Hellinger distances are Euclidean, so that any completely monotone function of d^2 gives a matrix that is positive
definite for distinct distributions (Schoenberg 1938), as the three here do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import GeometryError
from posgeom.estimation.mds import double_centre
from posgeom.seeds import make_rng
from posgeom.theory.verdict import Check, Verdict

Kernel = Callable[[NDArray[np.float64]], NDArray[np.float64]]
KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "exp(-d^2)": lambda d: np.exp(-(d**2)),
        "exp(-d)": lambda d: np.exp(-d),
        "1/(1+d^2)": lambda d: 1 / (1 + d**2),
        "1+d": lambda d: 1 + d,
    }
)
"""Functions f of the distance; the last is increasing, as the paper asks, and gives no positive definite matrix."""
_EPSILON, _RELATIVE = float(np.finfo(np.float64).eps), 1e-9
_SAME = 1e-6
"""Distance below which two rows of the flow are the same."""


def kernel_matrix(distances: NDArray[np.float64], kernel: str | Kernel) -> NDArray[np.float64]:
    """Alpha of some distances, shape (m, m)."""
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1] or distances.shape[0] < 2:
        raise GeometryError(f"distances of shape {distances.shape}: expected (m, m), with 2 positions or more")
    if isinstance(kernel, str) and kernel not in KERNELS:
        raise GeometryError(f"kernel {kernel!r}: expected one of {', '.join(KERNELS)}")
    alpha = np.asarray((KERNELS[kernel] if isinstance(kernel, str) else kernel)(distances), np.float64)
    if alpha.shape != distances.shape or not np.isfinite(alpha).all():
        raise GeometryError("the kernel does not give a finite number for each distance")
    return alpha


def name_of(kernel: str | Kernel) -> str:
    """What a kernel is called."""
    return kernel if isinstance(kernel, str) else getattr(kernel, "__name__", "f").strip("<>")


@dataclass(frozen=True, kw_only=True)
class KernelCheck(Check):
    """Whether alpha is positive definite.

    `witness` is the pair of rows of the most negative minor alpha_ii alpha_jj - alpha_ij^2, None where none is;
    `is_increasing` says so of f on the distances there are.
    """

    kernel: str
    smallest_eigenvalue: float
    largest_eigenvalue: float
    round_off: float
    is_increasing: bool
    witness: tuple[int, int] | None
    minor: float | None


def kernel_check(distances: NDArray[np.float64], kernel: str | Kernel) -> KernelCheck:
    """Hypothesis A1: whether alpha = f(d) is positive definite."""
    alpha = kernel_matrix(distances, kernel)
    values = np.linalg.eigvalsh(alpha)
    round_off = len(alpha) * _EPSILON * float(np.abs(values).max())
    diagonal = np.diagonal(alpha)
    minors = diagonal[:, None] * diagonal - alpha**2
    i, j = (int(k) for k in np.unravel_index(int(minors.argmin()), minors.shape))
    minor = float(minors[i, j])
    has_witness = minor < -round_off * float(np.abs(values).max())
    order = np.argsort(distances, axis=None, kind="stable")
    steps, rises = np.diff(distances.ravel()[order]), np.diff(alpha.ravel()[order])
    smallest = float(values[0])
    verdict, word = Verdict.HOLDS, "positive definite"
    if smallest < -round_off:
        verdict, word = Verdict.FALSE, "not positive semi-definite"
    elif smallest <= round_off:
        verdict, word = Verdict.CONVENTION, "positive semi-definite, and definite only where distributions are distinct"
    because = f"with f(d) = {name_of(kernel)} the matrix is {word}: its smallest eigenvalue is {smallest:.3g}"
    if has_witness:
        because += f", and the minor of positions {i} and {j} is {minor:.3g}"
    return KernelCheck(
        verdict=verdict,
        because=because,
        kernel=name_of(kernel),
        smallest_eigenvalue=smallest,
        largest_eigenvalue=float(values[-1]),
        round_off=round_off,
        is_increasing=bool((rises[steps > _RELATIVE * distances.max()] > 0).all()),
        witness=(i, j) if has_witness else None,
        minor=minor if has_witness else None,
    )


def drive_of(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """A driving term b that is an isometric copy of the corpus: the coordinates of classical MDS, shape (m, k)."""
    values, vectors = np.linalg.eigh(double_centre(distances**2))
    kept = values > len(values) * _EPSILON * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


@dataclass(frozen=True, kw_only=True)
class FlowCheck(Check):
    """Whether the flow converges to alpha^-1 b.

    `remaining` is |P(t) - alpha^-1 b| at the end as a share of that at the start, `growth` the same of max |P|.
    """

    kernel: str
    duration: float
    remaining: float
    growth: float
    smallest_eigenvalue: float


def flow_check(
    distances: NDArray[np.float64], kernel: str | Kernel, *, drive: NDArray[np.float64] | None = None, seed: int = 0
) -> FlowCheck:
    """Lemma 18: follow dP/dt = b - alpha P from random rows, and compare with the fixed point alpha^-1 b."""
    alpha = kernel_matrix(distances, kernel)
    b = (drive_of(distances) if drive is None else drive)[:, :3]
    values = np.linalg.eigvalsh(alpha)
    smallest = float(values[np.abs(values).argmin()])
    if abs(smallest) <= len(alpha) * _EPSILON * float(np.abs(values).max()):
        raise GeometryError("alpha is singular, so that the flow has no single fixed point: leave out equal positions")
    duration, fixed = 20 / abs(float(values[0])), np.linalg.solve(alpha, b)
    start = make_rng(seed).standard_normal(b.shape)
    ends = [_flow(alpha, b[:, k], start[:, k], duration) for k in range(b.shape[1])]
    end = np.stack(ends, axis=1)
    remaining = float(np.linalg.norm(end - fixed) / np.linalg.norm(start - fixed))
    growth = float(np.abs(end).max() / np.abs(start).max())
    converges = remaining < 1e-4  # exp(-20) is below it
    return FlowCheck(
        verdict=Verdict.HOLDS if converges else Verdict.FALSE,
        because=(
            f"after the time {duration:.3g} the rows are {remaining:.3g} of their first distance from alpha^-1 b; the "
            f"smallest eigenvalue of alpha is {float(values[0]):.3g}"
        ),
        kernel=name_of(kernel),
        duration=duration,
        remaining=remaining,
        growth=growth,
        smallest_eigenvalue=float(values[0]),
    )


def _flow(
    alpha: NDArray[np.float64], b: NDArray[np.float64], start: NDArray[np.float64], duration: float
) -> NDArray[np.float64]:
    """One column of P at the end, in the eigenvectors of alpha, whose eigenvalues differ by orders of magnitude."""
    values, vectors = np.linalg.eigh(alpha)
    reached = np.divide(-np.expm1(-values * duration), values, out=np.full_like(values, duration), where=values != 0)
    return np.asarray(vectors @ (np.exp(-values * duration) * (vectors.T @ start) + reached * (vectors.T @ b)))


@dataclass(frozen=True, kw_only=True)
class EqualRowsCheck(Check):
    """What the flow does with two positions of equal distribution.

    Both numbers are |p_i - p_j| at the end: where the rows were equal at the start, and where they were 1 apart.
    """

    kernel: str
    from_equal: float
    from_apart: float
    smallest_eigenvalue: float


def equal_rows_check(distances: NDArray[np.float64], kernel: str | Kernel) -> EqualRowsCheck:
    """Equal distributions get equal rows at the fixed point: give the corpus a second copy of its first position.

    Rows i and j of alpha are then equal, and so are those of b, hence d(p_i - p_j)/dt = 0: the flow keeps the
    difference that there was, and alpha has no inverse.
    """
    rows = np.r_[0, np.arange(len(distances))]
    doubled = distances[np.ix_(rows, rows)]
    alpha, b = kernel_matrix(doubled, kernel), drive_of(doubled)[:, 0]
    values = np.linalg.eigvalsh(alpha)
    round_off = len(alpha) * _EPSILON * float(np.abs(values).max())
    if values[0] < -round_off:
        raise GeometryError(f"alpha has the eigenvalue {values[0]:.3g}: the flow runs away, and has no fixed point")
    duration = 20 / float(values[values > round_off][0])
    if duration * _EPSILON * float(np.abs(b).max()) > _SAME:
        raise GeometryError(f"the flow takes the time {duration:.2g}, in which round-off adds up: take fewer positions")
    equal, apart = np.zeros(len(rows)), np.zeros(len(rows))
    apart[1] = 1
    ends = [_flow(alpha, b, start, duration) for start in (equal, apart)]
    gaps = [abs(float(end[0] - end[1])) for end in ends]
    keeps = gaps[0] < _SAME and abs(gaps[1] - 1) < 1e-4
    smallest = float(values[0])
    return EqualRowsCheck(
        verdict=Verdict.CONVENTION if keeps else Verdict.HOLDS if gaps[1] < 1e-4 else Verdict.FALSE,
        because=(
            f"two positions of equal distribution end {gaps[0]:.2g} apart from equal rows and {gaps[1]:.3g} apart from "
            f"rows 1 apart; alpha has two equal rows and the eigenvalue {smallest:.1g}, so alpha^-1 b is not defined"
        ),
        kernel=name_of(kernel),
        from_equal=gaps[0],
        from_apart=gaps[1],
        smallest_eigenvalue=smallest,
    )


@dataclass(frozen=True, kw_only=True)
class CooperativityCheck(Check):
    """Signs of the Jacobian -alpha off its diagonal."""

    kernel: str
    n_entries: int
    n_negative: int


def cooperativity_check(distances: NDArray[np.float64], kernel: str | Kernel) -> CooperativityCheck:
    """Whether the flow is cooperative (Hirsch): no entry of its Jacobian off the diagonal is negative."""
    jacobian = -kernel_matrix(distances, kernel)
    off = jacobian[~np.eye(len(jacobian), dtype=np.bool_)]
    n_negative = int((off < 0).sum())
    return CooperativityCheck(
        verdict=Verdict.FALSE if n_negative else Verdict.HOLDS,
        because=f"{n_negative:,} of the {off.size:,} entries of the Jacobian -alpha off its diagonal are negative",
        kernel=name_of(kernel),
        n_entries=off.size,
        n_negative=n_negative,
    )
