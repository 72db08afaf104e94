"""Distributions that break the paper's KL <= 2 sqrt 2 d (Lemma 12), d the unnormalised Hellinger distance."""

from dataclasses import dataclass

import numpy as np

from posgeom.errors import PosgeomError

FLOOR = 0.01
"""Least probability in the search for counterexamples: the paper's lemma asks for distributions bounded away from 0."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two distributions, and both sides of KL <= 2 sqrt 2 d."""

    mu: tuple[float, ...]
    nu: tuple[float, ...]
    kl: float
    bound: float


def told(worst: Counterexample) -> str:
    """A counterexample as a sentence."""
    mu, nu = (f"({', '.join(f'{x:.3g}' for x in one)})" for one in (worst.mu, worst.nu))
    return f"With mu = {mu} and nu = {nu}, KL is {worst.kl:.3f} and 2 sqrt 2 d is {worst.bound:.3f}."


def search_counterexample(floor: float = FLOOR) -> Counterexample | None:
    """The pair with the largest KL among those, of two tokens and none below a floor, that break KL <= 2 sqrt 2 d."""
    if not 0 < floor < 0.5:
        raise PosgeomError(f"least probability {floor}: expected a number between 0 and 1/2")
    p = np.linspace(1 - floor, floor, 199)[:, None]
    q = p.T
    kl = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    bound = 2 * np.sqrt(2) * np.hypot(np.sqrt(p) - np.sqrt(q), np.sqrt(1 - p) - np.sqrt(1 - q))
    i, j = np.unravel_index(int(np.where(kl > bound, kl, -np.inf).argmax()), kl.shape)
    if not kl[i, j] > bound[i, j]:
        return None
    mu, nu = float(p[i, 0]), float(p[j, 0])
    return Counterexample((mu, 1 - mu), (nu, 1 - nu), float(kl[i, j]), float(bound[i, j]))
