"""The claims about the kernel regime of Appendix A: numbers 29 and 33 to 36 of the ledger, on a synthetic corpus."""

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import GeometryError
from posgeom.theory.evidence import Evidence
from posgeom.theory.ntk import KERNELS, FlowCheck, cooperativity_check, equal_rows_check, flow_check, kernel_check
from posgeom.theory.ntk_bounds import lipschitz_check, lipschitz_search, monotone_search
from posgeom.theory.verdict import Finding, Verdict

INCREASING = "1+d"
SMOOTH = "exp(-d^2)"


def kernel_exists(evidence: Evidence) -> Finding:
    """Build alpha with an increasing f, as the paper asks, and with a decreasing one."""
    distances = _distances(evidence)
    increasing, decreasing = (kernel_check(distances, name) for name in (INCREASING, SMOOTH))
    because = f"{increasing.because}; {decreasing.because}, and that f decreases."
    numbers = {"increasing": increasing.smallest_eigenvalue, "decreasing": decreasing.smallest_eigenvalue}
    return Finding(increasing.verdict, because, numbers | {"minor": increasing.minor, "positions": increasing.witness})


def flow_converges(evidence: Evidence) -> Finding:
    """Integrate the flow with every kernel."""
    distances = _distances(evidence)
    checks: dict[str, FlowCheck] = {}
    for name in KERNELS:
        checks[name] = flow_check(distances, name, seed=evidence.seed)
    converging = [name for name, check in checks.items() if check.verdict == Verdict.HOLDS]
    is_definite = [name for name, check in checks.items() if check.smallest_eigenvalue > 0]
    told = "; ".join(
        f"f = {name}: {check.remaining:.2g} of the first distance is left, smallest eigenvalue "
        f"{check.smallest_eigenvalue:.2g}"
        for name, check in checks.items()
    )
    verdict = Verdict.FALSE
    if converging == is_definite and converging:
        verdict = Verdict.HOLDS if len(converging) == len(checks) else Verdict.CONVENTION
    because = f"It converges with {', '.join(converging) or 'none'}, where alpha is positive definite. {told}."
    return Finding(verdict, because, {name: check.remaining for name, check in checks.items()})


def fixed_point_monotone(evidence: Evidence) -> Finding:
    """Look for a corpus that breaks monotonicity, and for one that breaks any constant."""
    monotone, constant = monotone_search(SMOOTH, seed=evidence.seed), lipschitz_search(SMOOTH)
    because = f"{monotone.because}; {constant.because}"
    try:
        own = lipschitz_check(_distances(evidence), SMOOTH)
        because += f"; {own.because}"
    except GeometryError as error:
        because += f"; on the synthetic corpus: {error}"
    is_false = Verdict.FALSE in (monotone.verdict, constant.verdict)
    numbers = {"angles": monotone.angles, "counterexamples": monotone.n_counterexamples, "ratios": constant.ratios}
    return Finding(Verdict.FALSE if is_false else Verdict.HOLDS, f"{because}.", numbers)


def equal_rows(evidence: Evidence) -> Finding:
    """Give a corpus a second copy of a position."""
    check = equal_rows_check(_distances(evidence), SMOOTH)
    return Finding(check.verdict, f"{check.because}.", {"equal": check.from_equal, "apart": check.from_apart})


def cooperative(evidence: Evidence) -> Finding:
    """Look at the signs of the Jacobian."""
    check = cooperativity_check(_distances(evidence), SMOOTH)
    return Finding(check.verdict, f"{check.because}.", {"entries": check.n_entries, "negative": check.n_negative})


def _distances(evidence: Evidence) -> NDArray[np.float64]:
    return evidence.inputs.synthetic[0].paper.distances.values
