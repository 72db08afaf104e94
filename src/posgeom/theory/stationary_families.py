"""Geometries where distance is a function of the lag by construction: what Section 5.4 of the paper says of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.mds import double_centre
from posgeom.inference.scoring import corpus_scores
from posgeom.theory.stationarity import RATIOS, ratios_of, sinusoidal_axes
from posgeom.theory.verdict import Cell, Check, Verdict

SIZES = (32, 64, 128, 256, 512)
N_DIMS = 64
_RANGE = 8.0
_NEAR = 0.05
"""Shortfall up to which one thing is still called about another."""

Family = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""From lags to squared distances."""
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "exponential": lambda lags: -2 * np.expm1(-lags / _RANGE),
        "Gaussian": lambda lags: -2 * np.expm1(-((lags / _RANGE) ** 2) / 2),
        "root": lambda lags: lags.astype(np.float64),
        "linear": lambda lags: lags.astype(np.float64) ** 2,
    }
)
"""Two whose distance levels off, d^2 = 2 - 2 exp(-lag / 8) and 2 - 2 exp(-(lag / 8)^2 / 2), and two whose distance does
not, d = lag^(1/2) and d = lag."""
_BOUNDED = tuple(FAMILIES)[:2]


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """A family at one number of positions.

    Residuals of B from the nearest Toeplitz and circulant matrix; the worst fit of leading eigenvectors by sinusoids,
    and overlap with Fourier's; share of the inertia on the first axis; alignment and scaled stress of Vaswani's
    sinusoid and of MDS of the same width.
    """

    family: str
    n_positions: int
    toeplitz: float
    circulant: float
    fit: float
    overlap: float
    first_axis: float
    sinusoid: float
    mds: float
    sinusoid_stress: float
    mds_stress: float


@dataclass(frozen=True, kw_only=True)
class StationaryFamilies(Check):
    """Families of growing size, and the exponent of n that the circulant residual of B follows in each."""

    headers: ClassVar[tuple[str, ...]] = (
        *("family", "n", "Toeplitz", "circulant", "fit", "overlap", "axis 1"),
        *("alignment\nsinusoid", "alignment\nMDS", "stress\nsinusoid", "stress\nMDS"),
    )

    families: tuple[FamilyRow, ...]
    rates: dict[str, float]

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """One row a family and size."""
        return [tuple(getattr(row, name) for name in FamilyRow.__slots__) for row in self.families]

    def largest(self) -> list[FamilyRow]:
        """The row of each family with most positions."""
        n = max(row.n_positions for row in self.families)
        return [row for row in self.families if row.n_positions == n]


def stationary_families(
    sizes: Sequence[int] = SIZES, *, n_dims: int = N_DIMS, families: Mapping[str, Family] = FAMILIES
) -> StationaryFamilies:
    """Measure how near B of every family is to a circulant matrix, and its axes to sinusoids, as n grows.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of positions, two at least.
    n_dims : int
        Width of the sinusoidal encoding, and of the MDS beside it.
    families : mapping of str to callable
        From lags, an array of whole numbers, to squared distances.

    Returns
    -------
    StationaryFamilies
        Holds where every family comes near, under a convention where some do, and is false where none does.
    """
    rows = tuple(_row(name, family, n, n_dims) for name, family in families.items() for n in sizes)
    rates = {}
    for name in families:
        residuals = [row.circulant for row in rows if row.family == name]
        rates[name] = float(np.polyfit(np.log(sizes), np.log(residuals), 1)[0])
    # A residual that falls at all fast halves when the positions are doubled; one that does not fall stays.
    near = [name for name, rate in rates.items() if rate < -0.5]
    last = [row for row in rows if row.family in near and row.n_positions == max(sizes)]
    sinusoids = bool(last) and min(row.fit for row in last) > 1 - _NEAR
    told = "; ".join(f"{name}: n^{rates[name]:.2f}" for name in rates)
    if len(near) == len(rates) and sinusoids:
        verdict = Verdict.HOLDS
    elif near and sinusoids:
        verdict = Verdict.CONVENTION
    else:
        verdict = Verdict.FALSE
    because = f"The circulant residual of B follows {told}"
    if sinusoids:
        because += (
            f"; where it falls, sinusoids of some frequency explain {min(row.fit for row in last):.4f} or more of each "
            f"leading eigenvector at n = {max(sizes)}, but their frequencies are not Fourier's: overlap "
            f"{min(row.overlap for row in last):.3f}"
        )
    return StationaryFamilies(families=rows, rates=rates, verdict=verdict, because=f"{because}.")


def sinusoid_is_optimal(check: StationaryFamilies) -> tuple[Verdict, str]:
    """Whether Vaswani's sinusoid is about as near to every family whose distance levels off as MDS of its width."""
    rows = [row for row in check.largest() if row.family in _BOUNDED]
    worst = min(rows, key=lambda row: row.sinusoid - row.mds)
    because = (
        f"At n = {worst.n_positions} and d = {N_DIMS}, on the {worst.family} family, alignment of the sinusoid is "
        f"{worst.sinusoid:.3f} and that of MDS {worst.mds:.3f}; scaled stress {worst.sinusoid_stress:.3f} and "
        f"{worst.mds_stress:.3f}: equal amplitudes at geometric frequencies are not the spectrum of B."
    )
    return (Verdict.HOLDS if worst.mds - worst.sinusoid <= _NEAR else Verdict.FALSE), because


def lag_makes_rank_one(check: StationaryFamilies) -> tuple[Verdict, str]:
    """Whether B of every family has about one axis, as ALiBi's line has."""
    rows = check.largest()
    told = ", ".join(f"{row.first_axis:.3f} ({row.family})" for row in rows)
    ones = [row for row in rows if row.first_axis >= 1 - _NEAR]
    verdict = Verdict.HOLDS if len(ones) == len(rows) else Verdict.FALSE
    return verdict, f"Share of the inertia on the first axis at n = {rows[0].n_positions}: {told}."


def _row(name: str, family: Family, n: int, n_dims: int) -> FamilyRow:
    positions = np.arange(n)
    squared = family(np.abs(positions[:, None] - positions))
    centred = double_centre(squared)
    axes, ratios = sinusoidal_axes(centred, positions), ratios_of(squared, positions)
    distances = DistanceMatrix.from_squared(squared, positions, "given", "given")
    values, vectors = np.linalg.eigh(centred)
    kept = slice(max(n - n_dims, 0), n)
    mds = vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0))
    scores = [corpus_scores(one, distances) for one in (sinusoidal(n, n_dims), mds)]
    return FamilyRow(
        name,
        n,
        float(ratios[RATIOS[1]] or 0),
        float(ratios[RATIOS[2]] or 0),
        axes.worst,
        axes.overlap,
        float(values[-1] / np.maximum(values, 0).sum()),
        *(float(one["alignment"] or 0) for one in scores),
        *(float(one["stress_scaled"] or 0) for one in scores),
    )
