"""Theorem 1, necessity: without a positional signal a Transformer permutes its output as its input is permuted.

Run on a model of one's own: the largest |f(x P) - P f(x)| over random permutations P, with the encoding and with it
taken out. Round-off shrinks by nine digits from single to double precision, and anything else stays; a gap is called
round-off where it shrinks by at least half of these digits. The theorem is about attention that sees every token: a
causal mask tells the first token from the last by itself, so that a decoder without an encoding is not equivariant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from posgeom.errors import PosgeomError
from posgeom.models.order import OrderSensitivity, order_sensitivity
from posgeom.theory.verdict import Cell, Check, Verdict

EncodingState = Literal["removed", "kept"]
_SHRINKS = float(np.sqrt(np.finfo(np.float64).eps / np.finfo(np.float32).eps))


@dataclass(frozen=True, kw_only=True)
class NecessityCheck(Check):
    """Theorem 1 on a model."""

    headers = ("encoding", "gap, single precision", "gap, double precision", "of max |f|")

    encoding: EncodingState
    measured: OrderSensitivity

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """What the terminal shows."""
        m = self.measured
        gaps = (("kept", m.gap, m.gap_double), ("removed", m.gap_zeroed, m.gap_zeroed_double))
        return [(name, single, double, single / m.largest if m.largest else None) for name, single, double in gaps]


def necessity(
    model: str | Path,
    *,
    encoding: EncodingState = "removed",
    text: str | None = None,
    n_tokens: int = 32,
    n_permutations: int = 16,
    seed: int = 0,
) -> NecessityCheck:
    """Check Theorem 1 on a model; needs the extra ``models``.

    Parameters
    ----------
    model : str or Path
        A directory or a hub name.
    encoding : {"removed", "kept"}
        What the verdict is about. With the encoding kept it says whether the model as it is permutes its output as its
        input is permuted, which one with a working encoding must not.
    text, n_tokens, n_permutations, seed
        As for `posgeom.order_sensitivity`.

    Returns
    -------
    NecessityCheck
        Holds where the gap is round-off. False where it is not. Under the convention that attention has no mask where
        the model is causal.

    Raises
    ------
    PosgeomError
        When the model cannot be run.
    """
    if encoding not in get_args(EncodingState):
        raise PosgeomError(f"encoding {encoding!r}: expected {' or '.join(get_args(EncodingState))}")
    measured = order_sensitivity(model, text=text, n_tokens=n_tokens, n_permutations=n_permutations, seed=seed)
    single, double = measured.gap, measured.gap_double
    if encoding == "removed":
        single, double = measured.gap_zeroed, measured.gap_zeroed_double
    is_round_off = double <= _SHRINKS * single
    what = "as it is" if encoding == "kept" else "without its encoding"
    because = (
        f"{what}, the model is off permuting its output by {single:.3g} in single and {double:.3g} in double precision "
        f"over {measured.n_permutations} permutations, which is " + ("round-off" if is_round_off else "not round-off")
    )
    verdict = Verdict.HOLDS if is_round_off else Verdict.FALSE
    if not is_round_off and measured.causal and encoding == "removed":
        verdict = Verdict.CONVENTION
        because += "; it is causal, and the theorem holds for attention without a mask: the mask is order of its own"
    return NecessityCheck(verdict=verdict, because=because, encoding=encoding, measured=measured)
