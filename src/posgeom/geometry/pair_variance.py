"""Sampling variance of what is a sum of terms, one for each pair of blocks of a corpus.

A term is made of what each of its two blocks has, and of noise of its own. The first adds up in the sums of a block's
terms, the second does not; so the squares of these sums, and of the terms, tell how much there is of either (Hoeffding
1948 for the mean over all pairs).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
import scipy  # its special functions: the distributions of scipy.stats take seconds to load
from numpy.typing import NDArray

_TWO_SIDED = 0.975
_TOLD_APART = 0.05
"""Difference of the two ratios below which the two kinds of noise cannot be told apart."""


@dataclass(frozen=True, eq=False)
class PairVariance:
    """How the variance of the mean, over sets of blocks, of the mean over the pairs of a set follows from its terms.

    Attributes
    ----------
    n_blocks : int
    sets : tuple of tuple of int
        Blocks of each set, three at least.
    on_noise, on_blocks : ndarray of float, shape (k,), or float
        Factors on the variance of noise that a pair of blocks has of its own, and of what a block has in all its pairs.
    """

    n_blocks: int
    sets: tuple[tuple[int, ...], ...]
    on_noise: NDArray[np.float64] | float = 1.0
    on_blocks: NDArray[np.float64] | float = 1.0

    @classmethod
    def of_all(cls, n_blocks: int) -> PairVariance:
        """That of the mean over all pairs."""
        return cls(n_blocks, (tuple(range(n_blocks)),))

    def times(
        self, on_noise: NDArray[np.float64] | float, on_blocks: NDArray[np.float64] | float = 1.0
    ) -> PairVariance:
        """The same with further factors."""
        return replace(self, on_noise=self.on_noise * on_noise, on_blocks=self.on_blocks * on_blocks)

    def column(self, k: int) -> PairVariance:
        """That of one function."""
        noise, blocks = (
            float(np.ravel(factor)[k if np.ndim(factor) else 0]) for factor in (self.on_noise, self.on_blocks)
        )
        return replace(self, on_noise=noise, on_blocks=blocks)

    def is_that_of(self, other: PairVariance) -> bool:
        """Whether terms of both can be subtracted from each other."""
        return (self.n_blocks, self.sets) == (other.n_blocks, other.sets)

    @cached_property
    def of_kinds(self) -> dict[str, tuple[float, float]]:
        """For terms that are all of one kind, ``"blocks"`` or ``"noise"``: two numbers.

        The variance over the sum of the squares of the blocks' sums of terms; and the sum of the squares of the terms
        over the same.
        """
        weights = np.zeros(comb(self.n_blocks, 2))
        to_terms = np.zeros((weights.size,) * 2)
        for inside in self._pairs_of_sets():
            weights += inside / inside.sum() / len(self.sets)
            to_terms += (np.diag(inside) - np.outer(inside, inside) / inside.sum()) / inside.sum() / len(self.sets)
        first, second = np.triu_indices(self.n_blocks, 1)
        in_block = np.stack([(first == f) | (second == f) for f in range(self.n_blocks)]) / 1.0
        out = {}
        for kind, of_pairs in (("blocks", in_block.T), ("noise", np.eye(weights.size))):  # of variance 1
            of_sums = ((in_block @ to_terms @ of_pairs) ** 2).sum()
            variance, of_terms = ((weights @ of_pairs) ** 2).sum(), ((to_terms @ of_pairs) ** 2).sum()
            out[kind] = float(variance / of_sums), float(of_terms / of_sums)
        return out

    def _pairs_of_sets(self) -> list[NDArray[np.float64]]:
        """For each set, 1 for the pairs of blocks in it and 0 for others."""
        first, second = np.triu_indices(self.n_blocks, 1)
        return [(np.isin(first, blocks) & np.isin(second, blocks)) / 1.0 for blocks in self.sets]

    def terms_within(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Terms of the mean over all pairs as those of the mean over these sets, shape (n_terms, k)."""
        out = np.zeros(terms.shape)
        for inside in self._pairs_of_sets():
            rows = inside > 0
            of_set = len(terms) * terms[rows]
            out[rows] += (of_set - of_set.mean(axis=0)) / (rows.sum() * len(self.sets))
        return out

    def __call__(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Variance from terms that sum to 0 in each set, of pairs of blocks in the order of `itertools.combinations`.

        Parameters
        ----------
        terms : ndarray of float, shape (n_blocks (n_blocks - 1) / 2, k)

        Returns
        -------
        ndarray of float, shape (k,)
            Between what it would be with noise of one kind alone.
        """
        of_sums = (block_sums(terms, self.n_blocks) ** 2).sum(axis=0)
        of_terms = (terms**2).sum(axis=0)
        (blocks, blocks_ratio), (noise, noise_ratio) = self.of_kinds["blocks"], self.of_kinds["noise"]
        share = np.ones(of_sums.shape)
        if noise_ratio - blocks_ratio > _TOLD_APART:
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.clip((noise_ratio - of_terms / of_sums) / (noise_ratio - blocks_ratio), 0, 1)
            share[of_sums == 0] = 0
        return np.asarray((share * blocks * self.on_blocks + (1 - share) * noise * self.on_noise) * of_sums)


def block_sums(terms: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """For each of n blocks the sum of the terms of the pairs it is in, shape (n, k).

    Parameters
    ----------
    terms : ndarray of float, shape (n (n - 1) / 2, k)
    n : int

    Returns
    -------
    ndarray of float, shape (n, k)
    """
    out = np.zeros((n, terms.shape[1]))
    for row, (f, g) in zip(terms, combinations(range(n), 2), strict=True):  # without a copy: terms can be a kernel
        out[f] += row
        out[g] += row
    return out


def between(n: int, unbiased: NDArray[np.float64] | float) -> PairVariance:
    """How the variance follows for the mean over all pairs, between the unbiased one and that of leaving blocks out.

    The unbiased variance rests on few terms and is noisy itself, so that intervals made of it cover too seldom; the
    delete-one jackknife overstates it, by 2 (n - 1) / (n - 2) where there is noise alone. Between them intervals cover
    as they should on corpora of known truth.

    Parameters
    ----------
    n : int
        Blocks.
    unbiased : ndarray of float, shape (k,), or float
        Share of the unbiased variance; the rest is the jackknife's.

    Returns
    -------
    PairVariance
    """
    on_noise = np.asarray(unbiased) + (1 - np.asarray(unbiased)) * 2 * (n - 1) / (n - 2)
    return PairVariance.of_all(n).times(on_noise, on_blocks(n))


def on_blocks(n: int) -> float:
    """Factor on the variance of what blocks have, which has n - 1 degrees of freedom where `quantile` has 2 (n - 1).

    That of 95 % intervals: for n = 10, those of 80 % then cover 81.4 % where blocks decide, and those of 99 % 98.7 %.
    """
    fewer, more = (float(scipy.special.stdtrit(freedom, _TWO_SIDED)) for freedom in (n - 1, 2 * (n - 1)))
    return (fewer / more) ** 2


def quantile(level: float, n_blocks: int) -> float:
    """Two-sided quantile of Student's t with 2 (n - 1) degrees of freedom.

    A variance from n blocks has n - 1 where a geometry stands out of its noise, for which `on_blocks` makes up, and up
    to n (n - 1) / 2 where it does not, since each pair then is a term of its own.
    """
    return float(scipy.special.stdtrit(2 * (n_blocks - 1), (1 + level) / 2))
