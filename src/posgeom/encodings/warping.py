"""Schemes under a warp: positions, and lags of biases, where the warp has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.bias import Bias
from posgeom.encodings.warps import Values, Warp
from posgeom.errors import EncodingError

if TYPE_CHECKING:
    from posgeom.estimation.build import Geometry

P = ParamSpec("P")
Built = TypeVar("Built")


def takes_warp(build: Callable[P, Built]) -> Callable[P, Built]:
    """Let the encoding of a builder with an option `warp` be fitted anew wherever its warp is fitted to a corpus."""

    @wraps(build)
    def call(*args: P.args, **options: P.kwargs) -> Built:
        warp: Any = options.get("warp")
        if warp is not None and not isinstance(warp, Warp):
            raise EncodingError(f"got {type(warp).__name__} for a warp: expected a Warp, such as LogWarp(1.0)")
        encoding = build(*args, **options)
        if warp is not None and warp.refit is not None:
            built: Any = encoding
            again: Any = build
            refit: Callable[[Geometry], Warp] = warp.refit
            built.fitted_to = warp.fitted_to
            built.refit = lambda shape: again(*args, **options | {"warp": refit(shape)})
        return encoding

    return call


def warped(positions: NDArray[np.int64], offset: int, warp: Warp | None) -> Values:
    """Where positions lie: i + offset, or f of it."""
    places = np.asarray(positions, np.float64) + offset
    return places if warp is None else warp.at(places)


def at_warped_positions(bias: Bias, warp: Warp | None, offset: int = 0) -> Bias:
    """A bias of key - query with both where the warp has them."""
    if warp is None:
        return bias
    place: Callable[[Any], Any] = lambda positions: warped(positions, offset, warp)  # noqa: E731
    return replace(
        bias, values=lambda query, key: bias.values(place(query), place(key)), relative=False, even=False, drop=None
    )


def warped_lags(lags: Any, warp: Warp | None, *, whole: bool = False) -> Any:
    """f(|lag|) - f(0) with the sign of the lag; `whole`: the nearest whole number, as tables with a row a lag need."""
    if warp is None:
        return lags
    sizes = warp.apply(np.abs(lags)) - warp.apply(0.0)
    return np.sign(lags) * (np.rint(sizes).astype(np.int64) if whole else sizes)


def at_warped_lags(bias: Bias, warp: Warp | None, *, is_bernstein: bool = False, whole: bool = False) -> Bias:
    """A bias of the lag with f(lag) in place of it; `is_bernstein`: whether its drop is a Bernstein function of it."""
    if warp is None:
        return bias

    def lag(distance: Any) -> Any:
        return warped_lags(distance, warp, whole=whole)

    def values(query: Any, key: Any) -> Values:
        lags = lag(np.asarray(query - key))
        return bias.values(lags, np.zeros_like(lags))

    drop = bias.drop
    return replace(
        bias,
        values=values,
        drop=None if drop is None else lambda lags: drop(lag(lags)),
        conditionally_positive=bias.conditionally_positive and is_bernstein and warp.is_bernstein,
    )
