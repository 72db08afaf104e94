"""The numbers of `PositionCounts`: token counts by (fold, position, token), with the depths and matrices they make."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy  # not its parts: they load when first used, so that importing the package stays quick
from numpy.typing import NDArray

from posgeom.counts.count_entries import check_form, check_values
from posgeom.errors import CountsError
from posgeom.tokenize.tokenizers import CODE_POINTS, TokenizerIdentity


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """Sparse token counts, which `PositionCounts` documents."""

    fold: NDArray[np.int64]
    position: NDArray[np.int64]
    token: NDArray[np.int64]
    count: NDArray[np.int64]
    n_positions: int
    tokenizer: TokenizerIdentity
    documents: NDArray[np.int64]
    empty_documents: int
    vocabulary: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_form(self.fold, self.position, self.token, self.count)
        if not 1 <= self.n_positions < 2**31 or self.n_folds < 1:
            raise CountsError(f"got {self.n_positions} positions and {self.n_folds} folds: both must be at least 1")
        if int(self.documents.min()) < 0 or not 0 <= self.empty_documents <= self.n_documents:
            raise CountsError(f"got {self.empty_documents} empty documents of {self.documents.tolist()} in the folds")
        if (self.vocabulary is not None) != (self.tokenizer.kind == "whitespace") or (
            self.tokenizer.vocab_size is not None and self.tokenizer.vocab_size < 1
        ):
            raise CountsError(f"the vocabulary is not one of a tokenizer of kind {self.tokenizer.kind!r}")
        if self.fold.size:
            bounds = (self.n_folds, self.n_positions, self._token_bound)
            check_values(self.fold, self.position, self.token, self.count, bounds)

    @property
    def _token_bound(self) -> int:
        if self.vocabulary is not None:
            return len(self.vocabulary)
        return self.tokenizer.vocab_size or CODE_POINTS

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.documents.size)

    @property
    def n_documents(self) -> int:
        """Documents counted, empty ones included."""
        return int(self.documents.sum())

    @property
    def n_tokens(self) -> int:
        """Content tokens counted."""
        return int(self.count.sum())

    @cached_property
    def distinct_tokens(self) -> NDArray[np.int64]:
        """Sorted ids of the tokens that occur, shape (n_distinct,)."""
        is_seen = np.zeros(self._token_bound, np.bool_)
        is_seen[self.token] = True
        return np.flatnonzero(is_seen)

    @property
    def vocab_size(self) -> int:
        """V: tokens the tokenizer knows, or distinct tokens seen where the vocabulary is open."""
        return self.tokenizer.vocab_size or int(self.distinct_tokens.size)

    @cached_property
    def depth_by_fold(self) -> NDArray[np.int64]:
        """Sequences of each fold with a token at each position, shape (n_folds, n_positions); tokens of a bin."""
        # CountEntries are sorted by cell: the depth of a cell is a difference of running totals.
        totals = np.concatenate([[0], np.cumsum(self.count)])
        cells = self.fold * self.n_positions + self.position
        bounds = np.searchsorted(cells, np.arange(self.n_folds * self.n_positions + 1))
        return np.diff(totals[bounds]).reshape(self.n_folds, self.n_positions)

    @property
    def depth(self) -> NDArray[np.int64]:
        """N_i: sequences with a token at each position, shape (n_positions,); with bins, tokens of each."""
        return np.asarray(self.depth_by_fold.sum(axis=0))

    @cached_property
    def fold_matrices(self) -> list[scipy.sparse.csr_array]:
        """Counts of each fold as a CSR matrix, shape (n_positions, n_distinct)."""
        column_of_token = np.zeros(self._token_bound, np.int32)
        column_of_token[self.distinct_tokens] = np.arange(self.distinct_tokens.size)
        columns = column_of_token[self.token]
        shape = (self.n_positions, int(self.distinct_tokens.size))
        bounds = np.searchsorted(self.fold, np.arange(self.n_folds + 1))
        rows = np.arange(self.n_positions + 1)
        # CountEntries are sorted by position and token, which is the order of a CSR matrix.
        return [
            scipy.sparse.csr_array(
                (self.count[a:b], columns[a:b], np.searchsorted(self.position[a:b], rows)), shape=shape
            )
            for a, b in itertools.pairwise(bounds)
        ]

    def matrix(self) -> scipy.sparse.csr_array:
        """Counts over all folds, CSR, shape (n_positions, n_distinct); columns follow `distinct_tokens`."""
        return sum_in_pairs(self.fold_matrices)


def sum_in_pairs(matrices: Sequence[scipy.sparse.csr_array]) -> scipy.sparse.csr_array:
    """Sum of sparse matrices by twos, then of those sums: each stored number is copied log F times instead of F."""
    level = list(matrices)
    while len(level) > 1:
        sums = [one + other for one, other in zip(level[::2], level[1::2], strict=False)]
        level = sums + level[2 * len(sums) :]
    return level[0]
