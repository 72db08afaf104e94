"""Stationarity (Section 5.4 of the paper): distance as a function of the lag, and eigenvectors of B as sinusoids.

Everything is a ratio of bilinear forms of squared distances, such as the squares between lags over all squares. From a
cross-validated geometry each form is the mean over pairs of fold pairs without a common fold, which is free of noise.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.estimation.build import Geometry
from posgeom.estimation.mds import double_centre
from posgeom.inference.alignment import Norm
from posgeom.inference.jackknife import Estimate, jackknife
from posgeom.policies import ENOUGH_FOLDS, LEVEL
from posgeom.theory.verdict import Cell, Check, Verdict

N_AXES = 8
"""Leading eigenvectors that are compared with sinusoids, where there are so many."""
_ROUND_OFF, _SQUARED_ROUND_OFF = 1e-9, 1e-12
_GRID = 8
"""Frequencies tried for each that n positions tell apart, before the best is refined."""

VARIANCE = "variance of d^2"
RATIOS = ("share of the lag", "B, Toeplitz", "B, circulant", "-D^2/2, Toeplitz", "-D^2/2, circulant", VARIANCE)


@dataclass(frozen=True, kw_only=True, eq=False)
class SinusoidalAxes:
    """How near leading eigenvectors of B are to sinusoids.

    `fit` is the share of each that the best a cos(w i) + b sin(w i) + c of half a period or more explains, and
    `frequencies` its w in periods over all positions, where Fourier's are whole numbers; shapes (k,). `overlap` is the
    mean squared cosine of the principal angles with as many of Fourier's sines and cosines, those on which B has most
    inertia, and `largest_angle` the largest of these, in degrees.
    """

    fit: NDArray[np.float64]
    frequencies: NDArray[np.float64]
    overlap: float
    largest_angle: float

    @property
    def worst(self) -> float:
        """The worst fit; NaN where B has no axis."""
        return float(self.fit.min()) if self.fit.size else float("nan")


@dataclass(frozen=True, kw_only=True, eq=False)
class Stationarity(Check):
    """Whether distance is a function of the lag.

    `plugin` and `sound` have what `RATIOS` names: the share of the variance of squared distances that the lag explains,
    and residuals from the nearest Toeplitz and circulant matrix, as shares of the squared norm. `profile` and
    `sinusoid_profile` are shares of the inertia at Fourier's frequencies, shape (m // 2,), of B and of Vaswani's
    encoding, and `profile_distance` half the sum of their absolute differences.
    """

    headers: ClassVar[tuple[str, ...]] = ("quantity", "plug-in", "cross-validated")

    plugin: dict[str, Estimate]
    sound: dict[str, Estimate]
    n_positions: int
    depth: int | None
    axes: SinusoidalAxes
    profile: NDArray[np.float64]
    sinusoid_profile: NDArray[np.float64]
    profile_distance: float

    @property
    def share(self) -> Estimate:
        """Share of the variance of squared distances that the lag explains."""
        return (self.sound or self.plugin)[RATIOS[0]]

    def rows(self) -> Sequence[tuple[Cell, ...]]:
        """Every number, on plug-in and on cross-validated distances."""
        names = (RATIOS[0], *(f"residual of {name}" for name in RATIOS[1:-1]), VARIANCE)
        one = [(name, self.plugin[key], self.sound.get(key)) for name, key in zip(names, RATIOS, strict=True)]
        of_axes = (
            (f"worst fit of {self.axes.fit.size} axes by sinusoids", self.axes.worst),
            ("their overlap with Fourier's basis", self.axes.overlap),
            ("amplitudes against Vaswani's, total variation", self.profile_distance),
        )
        return [*one, *((name, None, value) if self.sound else (name, value, None) for name, value in of_axes)]


def stationarity(geometry: Geometry, *, n_dims: int = 768) -> Stationarity:
    """Measure how far the geometry of a corpus is a function of the lag, and how near its axes are to sinusoids.

    Parameters
    ----------
    geometry : Geometry
    n_dims : int
        Width of the sinusoidal encoding whose amplitudes are compared with the spectrum of B.

    Returns
    -------
    Stationarity
        Holds where the 95 % interval of the share that the lag explains reaches 1, and is false where it does not. Not
        testable where squared distances vary by no more than noise, or are plug-in ones, whose noise no lag explains.
    """
    positions, centred = geometry.positions, double_centre(geometry.distances.squared)
    plugin = {name: Estimate(value) for name, value in ratios_of(geometry.plugin.squared, positions).items()}
    sound = _sound_ratios(geometry)
    profile = frequency_profile(centred)
    of_sinusoid = _profile_of(sinusoidal(geometry.n_positions, n_dims), positions)
    verdict, because = _judge(plugin, sound)
    return Stationarity(
        plugin=plugin,
        sound=sound,
        n_positions=int(positions.size),
        depth=geometry.depth,
        axes=sinusoidal_axes(centred, positions),
        profile=profile,
        sinusoid_profile=of_sinusoid,
        profile_distance=float(np.abs(profile - of_sinusoid).sum() / 2),
        verdict=verdict,
        because=because,
    )


def _judge(plugin: Mapping[str, Estimate], sound: Mapping[str, Estimate]) -> tuple[Verdict, str]:
    share = (sound or plugin)[RATIOS[0]]
    varies = (sound or plugin)[VARIANCE].interval(LEVEL)
    if share.value is None or (varies is not None and varies.low <= 0):
        return (
            Verdict.NOT_TESTABLE,
            "Squared distances vary by no more than noise, so that there is nothing to explain.",
        )
    interval = share.interval(LEVEL)
    high = share.value if interval is None else interval.high
    reach = "" if interval is None else f" ({interval.low:.3f} to {interval.high:.3f})"
    told = f"The lag explains a share {share.value:.3f}{reach} of the variance of squared distances"
    if high >= 1 - _ROUND_OFF:
        return Verdict.HOLDS, f"{told}."
    if not sound:
        return Verdict.NOT_TESTABLE, f"{told}, some of which is noise: cross-validated distances would tell."
    return Verdict.FALSE, f"{told}, so distance is no function of the lag."


@dataclass(frozen=True, eq=False)
class _Forms:
    """Bilinear forms of B_p and B_q, for p and q in a number of matrices; each of shape (n, n).

    The classes of pairs of positions are lags, or lags round a circle; a form of class means is what the nearest
    Toeplitz, or circulant, matrix has.
    """

    squared: NDArray[np.float64]
    squared_lag: NDArray[np.float64]
    forms: tuple[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], ...]
    n_positions: int

    @classmethod
    def of(
        cls,
        row_blocks: Iterable[tuple[slice, NDArray[np.float64]]],
        inner: NDArray[np.float64],
        positions: NDArray[np.int64],
    ) -> "_Forms":
        """From blocks of rows of B, each of shape (n, k, m), and the inner products of the B."""
        n, m = inner.shape[0], positions.size
        lags = np.abs(positions[:, None] - positions)
        length = int(lags.max()) + 1
        sums, diagonal = np.zeros((n, length)), np.empty((n, m))
        for rows, block in row_blocks:
            own = np.arange(rows.start, rows.stop)
            diagonal[:, own] = block[:, np.arange(own.size), own]
            flat = lags[own].ravel()
            sums += np.stack([np.bincount(flat, one.ravel(), length) for one in block])
        occurrences = np.stack([np.bincount(row, minlength=length) for row in lags]).astype(np.float64)
        count = occurrences.sum(axis=0)
        # d^2_ij = B_ii + B_jj - 2 B_ij, and the rows of B add up to 0.
        trace = diagonal.sum(axis=1)
        squared = 2 * m * diagonal @ diagonal.T + 2 * np.outer(trace, trace) + 4 * inner
        squared_sums = 2 * diagonal @ occurrences - 2 * sums
        circle = np.minimum(np.arange(length), length - np.arange(length))
        to_circle = (circle[:, None] == np.arange(length // 2 + 1)).astype(np.float64)
        forms = tuple(
            (total, _of_means(one, count), _of_means(one @ to_circle, count @ to_circle))
            for total, one in ((inner, sums), (squared, squared_sums))
        )
        # The pairs i = j have d^2 = 0 by definition, and are no distances: the variance is over the others.
        mean = np.outer(*2 * (squared_sums.sum(axis=1),)) / (m * (m - 1))
        return cls(squared - mean, _of_means(squared_sums[:, 1:], count[1:]) - mean, forms, m)

    def ratios(self, mean: Callable[[NDArray[np.float64]], float]) -> list[float]:
        """The numbers that `RATIOS` names, NaN where one is undefined, from a way to make a form a number."""
        total, m = mean(self.squared), self.n_positions
        is_more = total > max(_ROUND_OFF * mean(self.forms[1][0]), (_SQUARED_ROUND_OFF * m) ** 2)  # than round-off
        out = [mean(self.squared_lag) / total if is_more else np.nan]
        for whole, *parts in self.forms:
            total = mean(whole)
            out += [1 - mean(part) / total if total > 0 else np.nan for part in parts]
        return [*out, mean(self.squared) / (m * (m - 1))]


def _of_means(sums: NDArray[np.float64], count: NDArray[np.float64]) -> NDArray[np.float64]:
    used = count > 0
    return np.asarray(sums[:, used] / count[used] @ sums[:, used].T)


def ratios_of(squared: NDArray[np.float64], positions: NDArray[np.int64]) -> dict[str, float | None]:
    """The numbers that `RATIOS` names, of squared distances as they are; None where one is undefined."""
    centred = double_centre(squared)
    inner = np.array([[float((centred**2).sum())]])
    forms = _Forms.of([(slice(0, positions.size), centred[None])], inner, positions)
    values = forms.ratios(lambda form: float(form[0, 0]))
    return {name: value if np.isfinite(value) else None for name, value in zip(RATIOS, values, strict=True)}


def _sound_ratios(geometry: Geometry) -> dict[str, Estimate]:
    products = geometry.products
    if products is None or products.n < ENOUGH_FOLDS:
        return {}
    norm = Norm(products)
    forms = _Forms.of(products.row_blocks(), products.inner_products, geometry.positions)

    def of_groups(groups: Sequence[int]) -> list[float]:
        return forms.ratios(lambda form: norm.mean_of_disjoint(form, groups))

    return {name: one.estimate for name, one in zip(RATIOS, jackknife(of_groups, products.n), strict=True)}


def sinusoidal_axes(centred: NDArray[np.float64], positions: NDArray[np.int64], n_axes: int = N_AXES) -> SinusoidalAxes:
    """Compare leading eigenvectors of B with sinusoids of any frequency, and with Fourier's."""
    m = positions.size
    values, vectors = np.linalg.eigh(centred)
    n_axes = min(n_axes, int((values > _ROUND_OFF * np.abs(values).max()).sum()))
    if not n_axes:
        return SinusoidalAxes(fit=np.empty(0), frequencies=np.empty(0), overlap=np.nan, largest_angle=np.nan)
    vectors = vectors[:, ::-1][:, :n_axes]
    fits = [_best_sinusoid(vector, positions) for vector in vectors.T]
    basis = fourier_basis(m)
    strongest = np.argsort(-np.einsum("ik,ij,jk->k", basis, centred, basis, optimize=True), kind="stable")
    cosines = np.clip(np.linalg.svd(vectors.T @ basis[:, strongest[:n_axes]], compute_uv=False), 0, 1)
    return SinusoidalAxes(
        fit=np.array([fit for fit, _ in fits]),
        frequencies=np.array([frequency for _, frequency in fits]),
        overlap=float((cosines**2).mean()),
        largest_angle=float(np.degrees(np.arccos(cosines.min()))),
    )


def fourier_basis(m: int) -> NDArray[np.float64]:
    """Fourier's sines and cosines without the constant, orthonormal columns by frequency, shape (m, m - 1)."""
    angles = 2 * np.pi * np.outer(np.arange(m), np.arange(1, m // 2 + 1)) / m
    columns = np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(m, -1)[:, : m - 1]
    return np.asarray(columns / np.linalg.norm(columns, axis=0))


def frequency_profile(centred: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the inertia of B at each of Fourier's frequencies, shape (m // 2,)."""
    basis = fourier_basis(centred.shape[0])
    inertia = np.einsum("ik,ij,jk->k", basis, centred, basis, optimize=True)
    by_frequency = np.bincount(np.arange(inertia.size) // 2, inertia)
    total = by_frequency.sum()
    return np.asarray(by_frequency / total if total > 0 else np.full_like(by_frequency, np.nan))


def _profile_of(encoding: Encoding, positions: NDArray[np.int64]) -> NDArray[np.float64]:
    return frequency_profile(double_centre(encoding.distances(positions) ** 2))


def _best_sinusoid(vector: NDArray[np.float64], positions: NDArray[np.int64]) -> tuple[float, float]:
    """Share of a unit vector, of mean 0, that a sinusoid of the best frequency explains; and that, in periods."""
    length = positions[-1] - positions[0] + 1
    places = (positions - positions.mean()) / length

    def missing(periods: float) -> float:
        angles = 2 * np.pi * periods * places
        design = np.linalg.qr(np.stack([np.ones_like(angles), np.cos(angles), np.sin(angles)], axis=1))[0]
        return float(1 - ((design.T @ vector) ** 2).sum())

    # Candidates from the periodogram, and the lowest frequencies, where that is blunt. A sinusoid of less than half a
    # period could not be told from a straight line.
    spread = np.zeros(length)
    spread[positions - positions[0]] = vector
    power = np.abs(np.fft.rfft(spread, _GRID * length))
    lowest = _GRID // 2
    candidates = [lowest + int(power[lowest:].argmax()), *range(lowest, min(2 * _GRID, power.size))]
    best = min(candidates, key=lambda k: missing(k / _GRID)) / _GRID
    bounds = (max(best - 1 / _GRID, lowest / _GRID), best + 1 / _GRID)
    refined = scipy.optimize.minimize_scalar(missing, bounds=bounds, method="bounded")
    return 1 - float(refined.fun), float(refined.x)
