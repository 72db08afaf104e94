"""Problems in which a hypothesis of Theorem 4 fails: rows collapse where they are said to."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from posgeom.errors import PosgeomError
from posgeom.theory.collapse import PROBLEMS, collapse_check
from posgeom.theory.verdict import Verdict

pytestmark = pytest.mark.models

EXPECTED = {
    "all hold": ((), False),
    "stationary": (("H1", "H2", "H3"), True),
    "stationary chain": (("H1", "H3"), False),
    "bag of words": (("H2",), True),
    "M = 0": (("H2", "H3"), True),
    "M blind to tokens": (("H3",), False),
}


@pytest.mark.parametrize("problem", EXPECTED)
def test_rows_collapse_or_stay_apart(problem: str) -> None:
    result = collapse_check(problem, seed=1)
    assert (result.fails, result.collapsed) == EXPECTED[problem]
    assert result.verdict is Verdict.HOLDS
    if result.collapsed:
        assert result.end < 1e-5 * result.start
    else:
        assert result.end > 0.03 * result.start


def test_losses_are_those_of_the_best_answer() -> None:
    """The entropy of the label given the tokens, and of one independent token: minima without P are reached."""
    counted = PROBLEMS["bag of words"]
    assert counted.label is not None
    q = counted.label
    entropy = counted.weights @ -(q * np.log(q) + (1 - q) * np.log(1 - q))
    assert collapse_check("bag of words").loss == pytest.approx(entropy, abs=1e-9)
    entropy = -(0.3 * np.log(0.3) + 0.7 * np.log(0.7))
    assert collapse_check("stationary").loss == pytest.approx(entropy, abs=1e-9)


def test_weights_are_distributions_with_the_marginals_that_are_said() -> None:
    from posgeom.theory.collapse import _SEQUENCES

    for name, problem in PROBLEMS.items():
        assert problem.weights.sum() == pytest.approx(1)
        share = problem.weights @ _SEQUENCES
        assert (np.ptp(share) < 1e-12) == name.startswith("stationary")


def test_a_collapse_in_spite_of_all_hypotheses_would_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    collapse = import_module("posgeom.theory.collapse")
    trained = collapse._trained

    def equal_rows(*arguments: Any) -> Any:
        rows, loss, start = trained(*arguments)
        return rows * 0, loss, start

    monkeypatch.setattr(collapse, "_trained", equal_rows)
    assert collapse_check("all hold", seed=1).verdict is Verdict.FALSE


def test_errors() -> None:
    with pytest.raises(PosgeomError, match="expected one of all hold"):
        collapse_check("nothing")
