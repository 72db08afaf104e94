"""Bins of consecutive positions, so that positions that few documents reach are deep enough together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.count_entries import CountEntries, sum_count_entries
from posgeom.errors import CountsError
from posgeom.messages import shown

_FORM = "expected uniform:K or geometric:K with K bins, as in uniform:32"


@dataclass(frozen=True)
class Bins:
    """Bins that take in all positions 0 to n - 1, each with the position at its centre standing for it.

    Attributes
    ----------
    kind : str
        ``"uniform"``: bins of equal width, or off by one. ``"geometric"``: widths that grow by a constant factor, as
        nearly as whole positions allow. ``"given"``: edges of your own.
    edges : tuple of int, length K + 1
        Bin k holds the positions from ``edges[k]`` up to, not including, ``edges[k + 1]``. Increasing, from 0 to n.
    """

    kind: str
    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.edges) < 3:
            raise CountsError(f"{max(len(self.edges) - 1, 0)} bins: a distance needs at least 2")
        if self.edges[0] != 0 or any(b <= a for a, b in zip(self.edges, self.edges[1:], strict=False)):
            raise CountsError(f"bin edges {shown(self.edges, 60)}: expected increasing positions from 0 to n")

    def __repr__(self) -> str:
        return f"<Bins: {self.spec} of n = {self.edges[-1]:,} positions>"

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def spec(self) -> str:
        """As in ``"uniform:32"``."""
        return f"{self.kind}:{len(self)}"

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Positions in each bin, shape (K,)."""
        edges = np.array(self.edges, np.int64)
        return edges[1:] - edges[:-1]

    @cached_property
    def centres(self) -> NDArray[np.int64]:
        """The position that stands for each bin, shape (K,): the middle one, or the first of the middle two."""
        edges = np.array(self.edges, np.int64)
        return np.asarray((edges[:-1] + edges[1:] - 1) // 2)

    def binned(
        self, fold: NDArray[np.int64], position: NDArray[np.int64], token: NDArray[np.int64], count: NDArray[np.int64]
    ) -> CountEntries:
        """CountEntries by (fold, bin centre, token), from those by (fold, position, token).

        Parameters
        ----------
        fold, position, token, count : ndarray of int64, shape (n_entries,)

        Returns
        -------
        CountEntries
        """
        which = np.searchsorted(np.array(self.edges), position, side="right") - 1
        return sum_count_entries(fold, self.centres[which], token, count)


def _uniform(n_positions: int, n_bins: int) -> list[int]:
    return [k * n_positions // n_bins for k in range(n_bins + 1)]


def _geometric(n_positions: int, n_bins: int) -> list[int]:
    # Equal steps of log(position + 1); where that is less than a position, one position. The curve is convex, so
    # that it is ahead of one position a bin from some bin on.
    ideal = [(n_positions + 1) ** (k / n_bins) - 1 for k in range(n_bins)]
    return [max(k, int(edge + 0.5)) for k, edge in enumerate(ideal)] + [n_positions]


_KINDS: dict[str, Callable[[int, int], list[int]]] = {"uniform": _uniform, "geometric": _geometric}


def make_bins(bins: "str | Sequence[int] | Bins", n_positions: int) -> Bins:
    """Bins of a context of n positions, from ``"uniform:K"``, ``"geometric:K"``, or K + 1 edges from 0 to n."""
    if isinstance(bins, str):
        made = Bins(*_parsed(bins, n_positions))
    else:
        made = bins if isinstance(bins, Bins) else Bins("given", tuple(int(edge) for edge in bins))
    if made.edges[-1] != n_positions:
        raise CountsError(f"bins end at {made.edges[-1]:,}: expected the context length n = {n_positions:,}")
    return made


def _parsed(text: str, n_positions: int) -> tuple[str, tuple[int, ...]]:
    kind, _, number = text.partition(":")
    if kind not in _KINDS or not number.isdecimal() or not number.isascii():
        raise CountsError(f"bins {shown(text, 60)}: {_FORM}")
    n_bins = int(number[:18])
    if not 2 <= n_bins <= n_positions:
        raise CountsError(f"{n_bins:,} bins of n = {n_positions:,} positions: expected 2 to {n_positions:,}")
    return kind, tuple(_KINDS[kind](n_positions, n_bins))
