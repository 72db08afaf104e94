"""The warp of a corpus: whether its positions lie on a line, how that is spaced, and how sure that is.

Each family is fitted to half of the folds and aligned with the other half, as all that is fitted here; intervals come
from leaving out folds, and families are compared by their differences, in which common noise cancels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posgeom.encodings.base import Encoding
from posgeom.encodings.line import line
from posgeom.encodings.mds import mds
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.warp_fits import MONOTONE, NAMES, best_warp, check_family, corpus_warp, limits
from posgeom.encodings.warps import Warp
from posgeom.errors import EncodingError, GeometryError, check_type
from posgeom.estimation.build import Geometry
from posgeom.frames import Framed, estimated
from posgeom.inference.alignment import why_undefined
from posgeom.inference.jackknife import Estimate, Interval, Replicates, jackknife
from posgeom.inference.scoring import replicates_of
from posgeom.inference.significance import significance
from posgeom.policies import ENOUGH_FOLDS, LEVEL
from posgeom.progress import ProgressHook, silent

_AT_LIMIT = 1e-3
"""Distance, in logarithms, below which a parameter is at the end of what is searched."""
SINUSOID, LINE = "sinusoidal", "line"
"""What the warped lines are shown beside: the default encoding, and the line without a warp."""
WIDTH = 768


@dataclass(frozen=True, eq=False)
class FittedWarp:
    """One family, fitted.

    Attributes
    ----------
    name : str
    warp : Warp
        Fitted to all folds; what any scheme takes as ``warp=``.
    parameter : float or None
        None of those without a formula.
    parameter_interval : Interval or None
        By the jackknife of its logarithm; None where there are too few folds, or it lies at a limit.
    at_limit : str or None
        Which end of the searched parameters it lies at, ``"low"`` or ``"high"``: the family has no best one inside.
    alignment : Estimate
        Of the line under the warp, fitted on half of the folds and scored on the other where there are folds for it.
    """

    name: str
    warp: Warp
    parameter: float | None
    parameter_interval: Interval | None
    at_limit: str | None
    alignment: Estimate


def _of_best(name: str) -> Any:
    """An attribute that a fit has from its best family."""
    return property(lambda fit: getattr(fit._best, name), doc="As the best family has it.")


@dataclass(frozen=True, eq=False)
class WarpFit(Framed, Warp):
    """The warps of a corpus; as a warp itself it is the best of them, fitted anew wherever it is scored.

    Attributes
    ----------
    families : tuple of FittedWarp
        The best first.
    best : str or None
        Family with the largest alignment; None where alignment is undefined.
    told_apart : bool
        Whether its advantage over each other family has an interval above 0.
    advantages : mapping of str to Estimate
        Alignment of the best less that of each other family.
    sinusoidal, line : Estimate
        Alignment of the sinusoidal encoding of width 768, and of the line without a warp.
    mds : mapping of int to Estimate
        Alignment of MDS by rank: 1, which no line can surpass on what it is fitted to, and the significant rank.
    beyond_lines : Estimate
        Alignment of MDS of rank 1 less that of the best warp, the monotone one included even where it is not asked for.
    is_line : bool or None
        False where that has an interval above 0: positions of this corpus do not lie on a line. None where undefined.
    undefined : str or None
        Why there is nothing to align with.
    out_of_sample : bool
    n_folds : int or None
    level : float
        Of the intervals.
    geometry : Geometry
    """

    families: tuple[FittedWarp, ...]
    best: str | None
    told_apart: bool
    advantages: Mapping[str, Estimate]
    sinusoidal: Estimate
    line: Estimate
    mds: Mapping[int, Estimate]
    beyond_lines: Estimate
    is_line: bool | None
    undefined: str | None
    out_of_sample: bool
    n_folds: int | None
    level: float
    geometry: Geometry = field(repr=False)
    name: ClassVar[str] = "fit"

    def __repr__(self) -> str:
        return f"<WarpFit: {self}, {len(self.families)} families>"

    def __str__(self) -> str:
        return str(self[self.best].warp) if self.best else "no warp"

    def __getitem__(self, family: str | None) -> FittedWarp:
        for one in self.families:
            if one.name == family:
                return one
        raise EncodingError(
            f"no family {family!r} was fitted: expected one of {', '.join(f.name for f in self.families)}"
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per family, the best first, for JSON, CSV or a data frame."""
        rows = []
        for one in self.families:
            row: dict[str, Any] = {"name": one.name, "parameter": one.parameter, "at_limit": one.at_limit}
            row |= estimated({"alignment": one.alignment}, self.level)
            if (bounds := one.parameter_interval) is not None:
                row["intervals"]["parameter"] = {"low": bounds.low, "high": bounds.high}
            rows.append(row)
        return rows

    def apply(self, t: ArrayLike) -> NDArray[np.float64]:
        """f(t) of the best family, as `at` gives it by position."""
        return self._best.apply(t)

    def at(self, positions: ArrayLike) -> NDArray[np.float64]:
        """Values of f at positions, by the best family; what has no formula goes on as the best family that has one.

        Parameters
        ----------
        positions : array_like

        Returns
        -------
        ndarray of float
        """
        return self._best.at(positions)

    @property
    def _best(self) -> Warp:
        if self.best is None:
            raise EncodingError(f"there is no best warp: {self.undefined}")
        return self[self.best].warp

    is_bernstein, origin, parameter, refit = map(_of_best, ("is_bernstein", "origin", "parameter", "refit"))

    @property
    def fitted_to(self) -> Geometry:  # type: ignore[override]
        """What it is fitted to."""
        return self.geometry


def fit_warp(
    geometry: Geometry,
    families: Sequence[str] = NAMES,
    *,
    level: float = LEVEL,
    progress: ProgressHook = silent,
) -> WarpFit:
    """Fit warps to a geometry: the monotone spacing of its positions under which a line is aligned with it best.

    A warp describes the data. It is not known to make a better model.

    Parameters
    ----------
    geometry : Geometry
    families : sequence of str
        Of ``"log"`` (log(1 + t / c)), ``"power"`` (t^a), ``"reciprocal"`` (t / (c + t)), ``"monotone"`` (any that
        never falls) and ``"smooth"`` (a curve through the centres of its steps); t counts from the first position used.
    level : float
        Level of the intervals.
    progress : callable
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    WarpFit
        What any scheme takes as ``warp=``.

    Raises
    ------
    GeometryError
        When there are fewer than three positions, or the level is none.
    EncodingError
        When a family is not known, or none is named.

    Examples
    --------
    >>> import posgeom as pg
    >>> texts = [" ".join("ab"[(7 * i + k * k) % 11 < 11 / (k + 1)] for k in range(8)) for i in range(900)]
    >>> fit = fit_warp(pg.geometry(pg.count_texts(texts, "whitespace", n_positions=8)), ["log", "power"])
    >>> pg.sinusoidal(8, 16, warp=fit["log"].warp)
    <Encoding sinusoidal: n = 8, d = 16>
    """
    check_type(geometry, Geometry, "a Geometry; estimate one with geometry", GeometryError)
    names = list(dict.fromkeys(families))
    if isinstance(families, str) or not names:
        raise EncodingError(f"got {families!r} for families: expected a list of some of {', '.join(NAMES)}")
    for name in names:
        check_family(name)
    if not 0 < level < 1:
        raise GeometryError(f"level {level!r}: expected a number between 0 and 1")
    if geometry.positions.size < 3:
        raise GeometryError(f"{geometry.positions.size} positions have no spacing to fit: expected at least 3")
    tested, undefined = significance(geometry, progress=progress), why_undefined(geometry)
    ranks = sorted({1, tested.rank if tested is not None and tested.rank else 1})
    # The monotone warp is always tried: whether positions lie on a line is not for one family to say.
    lines = {
        name: line(geometry.n_positions, warp=corpus_warp(geometry, name)) for name in dict.fromkeys([*names, MONOTONE])
    }
    rivals = {SINUSOID: sinusoidal(geometry.n_positions, WIDTH), LINE: line(geometry.n_positions)}
    known = alignments_of([*lines.values(), *rivals.values(), *(mds(geometry, rank=rank) for rank in ranks)], geometry)
    by_name = dict(zip([*lines, *rivals, *ranks], known, strict=True))
    fitted = [_fitted(name, geometry, by_name[name].estimate, level) for name in names]
    products = geometry.products
    best = None if undefined else max(names, key=lambda name: by_name[name].value)
    order = sorted(fitted, key=lambda one: one.alignment.value or 0.0, reverse=True)
    gaps = {name: by_name[best].minus(by_name[name]).estimate for name in names if name != best} if best else {}
    on_line = max((by_name[name] for name in lines), key=lambda one: one.value)
    beyond = by_name[1].minus(on_line).estimate if best else Estimate(None)
    return WarpFit(
        families=tuple(order),
        best=best,
        told_apart=bool(gaps) and all(is_above_zero(gap, level) for gap in gaps.values()),
        advantages=gaps,
        sinusoidal=by_name[SINUSOID].estimate,
        line=by_name[LINE].estimate,
        mds={rank: by_name[rank].estimate for rank in ranks},
        beyond_lines=beyond,
        is_line=None if beyond.value is None else not is_above_zero(beyond, level),
        undefined=undefined,
        out_of_sample=products is not None and products.n >= ENOUGH_FOLDS,
        n_folds=None if products is None else products.n,
        level=level,
        geometry=geometry,
    )


def warp_band(fit: WarpFit, family: str, positions: NDArray[np.int64]) -> list[tuple[float, Interval | None]]:
    """A fitted warp at some positions, scaled to run from 0 to 1 over those it is fitted to, with its interval."""
    geometry = fit.geometry
    ends = geometry.positions[[0, -1]]

    def values(warp: Warp) -> NDArray[np.float64]:
        low, high = warp.at(ends)
        return np.asarray((warp.at(positions) - low) / (high - low))

    products = geometry.products
    if products is None or products.n < ENOUGH_FOLDS:
        return [(float(value), None) for value in values(fit[family].warp)]
    values_left_out = jackknife(
        lambda groups: values(best_warp(products.centred(groups), geometry.positions, family)), products.n
    )
    return [(one.value, one.estimate.interval(fit.level)) for one in values_left_out]


def alignments_of(encodings: Sequence[Encoding], geometry: Geometry) -> list[Replicates]:
    """Alignment of each with the geometry, over the folds that are left out."""
    return [one["alignment"] for one in replicates_of(encodings, geometry, errors=True)]


def _fitted(name: str, geometry: Geometry, alignment: Estimate, level: float) -> FittedWarp:
    warp, positions, products = corpus_warp(geometry, name), geometry.positions, geometry.products
    if warp.parameter is None:
        return FittedWarp(name, warp, None, None, None, alignment)
    low, high = np.log(limits(name, positions))
    exponent = float(np.log(warp.parameter))
    at_limit = "low" if exponent - low < _AT_LIMIT else "high" if high - exponent < _AT_LIMIT else None
    interval = None
    if products is not None and products.n >= ENOUGH_FOLDS and at_limit is None:

        def exponents(groups: Sequence[int]) -> float:
            return float(np.log(best_warp(products.centred(groups), positions, name).parameter or np.nan))

        known = jackknife(exponents, products.n)[0].estimate.interval(level)
        if known is not None:
            interval = replace(known, low=float(np.exp(known.low)), high=float(np.exp(known.high)))
    return FittedWarp(name, warp, warp.parameter, interval, at_limit, alignment)


def is_above_zero(difference: Estimate, level: float) -> bool:
    """Whether the whole interval of a difference is."""
    interval = difference.interval(level)
    return interval is not None and interval.low > 0
