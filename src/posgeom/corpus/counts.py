"""`PositionCounts`: how often each token stands at each position, fold by fold."""

from __future__ import annotations

import copy
import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy  # not its parts: they load when first used, so that importing the package stays quick
from numpy.typing import NDArray

from posgeom.corpus.entries import Entries, sum_entries
from posgeom.corpus.tokenizers import CODE_POINTS, TokenizerIdentity
from posgeom.errors import CountsError


@dataclass(frozen=True, eq=False)
class PositionCounts:
    """Sparse token counts by (fold, position, token), sorted in that order.

    Attributes
    ----------
    fold, position, token, count : ndarray of int64, shape (n_entries,)
        The non-zero counts. Positions are 0-based and number special tokens, which are not counted themselves.
    n_positions : int
        Context length that sequences were truncated to.
    tokenizer : TokenizerIdentity
    documents : ndarray of int64, shape (n_folds,)
        Documents read, empty ones included.
    empty_documents : int
        Documents without any content token.
    vocabulary : tuple of str or None
        Token strings by id where the vocabulary is that of the corpus; None where ids are fixed.
    sources : tuple of str
        What was read, as the user named it.
    columns : tuple of str
        Text columns that were read; empty for plain text and FASTA.
    grouped_by : str or None
        Column that decided the folds; None when the text did.
    engines : tuple of str
        What computed the token ids, for tokenizers that leave a choice.
    engine_notes : tuple of str
        What went wrong with a faster engine; its counts were thrown away.
    null : tuple of PositionCounts
        Counts of null corpora: the same documents, the tokens of each permuted over its own positions.
    null_seed : int or None
        Seed of these permutations.
    """

    fold: NDArray[np.int64]
    position: NDArray[np.int64]
    token: NDArray[np.int64]
    count: NDArray[np.int64]
    n_positions: int
    tokenizer: TokenizerIdentity
    documents: NDArray[np.int64]
    empty_documents: int
    vocabulary: tuple[str, ...] | None = None
    sources: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    grouped_by: str | None = None
    engines: tuple[str, ...] = ()
    engine_notes: tuple[str, ...] = ()
    null: tuple[PositionCounts, ...] = ()
    null_seed: int | None = None

    def __post_init__(self) -> None:
        arrays = (self.fold, self.position, self.token, self.count)
        if any(a.ndim != 1 or a.dtype != np.int64 for a in arrays) or len({a.size for a in arrays}) != 1:
            raise CountsError("fold, position, token and count must be one-dimensional int64 arrays of one length")
        if not 1 <= self.n_positions < 2**31 or self.n_folds < 1:
            raise CountsError(f"got {self.n_positions} positions and {self.n_folds} folds: both must be at least 1")
        if int(self.documents.min()) < 0 or not 0 <= self.empty_documents <= self.n_documents:
            raise CountsError(f"got {self.empty_documents} empty documents of {self.documents.tolist()} in the folds")
        if (self.vocabulary is not None) != (self.tokenizer.kind == "whitespace") or (
            self.tokenizer.vocab_size is not None and self.tokenizer.vocab_size < 1
        ):
            raise CountsError(f"the vocabulary is not one of a tokenizer of kind {self.tokenizer.kind!r}")
        if not self.fold.size:
            return
        for name, array, bound in (
            ("fold", self.fold, self.n_folds),
            ("position", self.position, self.n_positions),
            ("token", self.token, self._token_bound),
        ):
            if int(array.min()) < 0 or int(array.max()) >= bound:
                raise CountsError(f"{name} {int(array.max())} is out of range: expected 0 to {bound - 1}")
        if int(self.count.min()) < 1:
            raise CountsError(f"a count is {int(self.count.min())}: counts are at least 1")
        self._check_order()
        if (self.depth_by_fold > self.documents[:, None]).any():
            raise CountsError("a position has more tokens than there are documents")
        self._check_null()

    def _check_order(self) -> None:
        keys = self.fold * self.n_positions
        keys += self.position
        if self.n_folds * self.n_positions * self._token_bound < 2**63:
            keys *= self._token_bound
            keys += self.token
            if (keys[1:] > keys[:-1]).all():
                return
        steps = np.diff(self.fold * self.n_positions + self.position)
        within = np.diff(self.token)[steps == 0]
        if (steps < 0).any() or (within < 0).any():
            raise CountsError("entries are not sorted by (fold, position, token)")
        if (within == 0).any():
            raise CountsError("an entry (fold, position, token) occurs twice")

    def _check_null(self) -> None:
        if (self.null_seed is None) != (not self.null):
            raise CountsError("null counts come with the seed of their permutations, and only they do")
        if any((null.depth_by_fold != self.depth_by_fold).any() for null in self.null):
            raise CountsError("a null corpus has other documents: its depths differ")

    def __repr__(self) -> str:
        return (
            f"<PositionCounts: {self.n_documents:,} documents, {self.n_tokens:,} tokens, n = {self.n_positions:,}, "
            f"V = {self.vocab_size:,}, {self.n_folds} folds, tokenizer {self.tokenizer.name}>"
        )

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
        """Documents read, empty ones included."""
        return int(self.documents.sum())

    @property
    def n_tokens(self) -> int:
        """Content tokens counted."""
        return int(self.count.sum())

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the numbers, in hexadecimal: equal where counts are, whatever counted them and where.

        Over context length, folds, documents by fold, empty documents, fold, position, token and count of every
        entry as little-endian 64-bit integers, then the words of an open vocabulary, then the null corpora.
        """
        digest = hashlib.sha256()
        sizes = np.array([self.n_positions, self.n_folds, self.empty_documents, len(self.null)])
        for array in (sizes, self.documents, self.fold, self.position, self.token, self.count):
            digest.update(array.astype("<i8").tobytes())
        for word in self.vocabulary or ():
            digest.update(word.encode() + b"\0")
        for null in self.null:
            digest.update(null.checksum.encode())
        return digest.hexdigest()

    @cached_property
    def distinct_tokens(self) -> NDArray[np.int64]:
        """Sorted ids of the tokens that occur, shape (n_distinct,)."""
        return np.unique(self.token)

    @property
    def vocab_size(self) -> int:
        """V: tokens the tokenizer knows, or distinct tokens seen where the vocabulary is open."""
        return self.tokenizer.vocab_size or int(self.distinct_tokens.size)

    @cached_property
    def depth_by_fold(self) -> NDArray[np.int64]:
        """Sequences of each fold with a token at each position, shape (n_folds, n_positions)."""
        # Entries are sorted by cell: the depth of a cell is a difference of running totals.
        totals = np.concatenate([[0], np.cumsum(self.count)])
        cells = self.fold * self.n_positions + self.position
        bounds = np.searchsorted(cells, np.arange(self.n_folds * self.n_positions + 1))
        return np.diff(totals[bounds]).reshape(self.n_folds, self.n_positions)

    @property
    def depth(self) -> NDArray[np.int64]:
        """N_i: sequences with a token at each position, shape (n_positions,)."""
        return np.asarray(self.depth_by_fold.sum(axis=0))

    @cached_property
    def fold_matrices(self) -> list[scipy.sparse.csr_array]:
        """Counts of each fold as a CSR matrix, shape (n_positions, n_distinct)."""
        columns = np.searchsorted(self.distinct_tokens, self.token)
        shape = (self.n_positions, int(self.distinct_tokens.size))
        bounds = np.searchsorted(self.fold, np.arange(self.n_folds + 1))
        return [
            scipy.sparse.csr_array((self.count[a:b], (self.position[a:b], columns[a:b])), shape=shape)
            for a, b in itertools.pairwise(bounds)
        ]

    def matrix(self) -> scipy.sparse.csr_array:
        """Counts over all folds, CSR, shape (n_positions, n_distinct); columns follow `distinct_tokens`."""
        total = self.fold_matrices[0]
        for other in self.fold_matrices[1:]:
            total = total + other
        return total

    def with_null(self, null: Sequence[Entries], seed: int, *, check: bool = True) -> PositionCounts:
        """These counts together with those of null corpora.

        Parameters
        ----------
        null : sequence of tuple of ndarray
            Fold, position, token and count of each.
        seed : int
            Of the permutations.
        check : bool
            Look at the entries, as those of a file; False for those just counted.

        Returns
        -------
        PositionCounts
        """
        parts = []
        for entries in null:
            fields: dict[str, Any] = dict(zip(("fold", "position", "token", "count"), entries, strict=True))
            parts.append(replace(self, **fields) if check else self._relabelled(**fields))
        together = self._relabelled(null=tuple(parts), null_seed=seed)
        if check:
            together._check_null()
        return together

    def with_sources(self, sources: Sequence[str]) -> PositionCounts:
        """These counts under the names of what was read.

        Parameters
        ----------
        sources : sequence of str

        Returns
        -------
        PositionCounts
        """
        null = tuple(part._relabelled(sources=tuple(sources)) for part in self.null)
        return self._relabelled(sources=tuple(sources), null=null)

    def _relabelled(self, **fields: object) -> PositionCounts:
        """A copy in which this is other, and not checked again."""
        other = copy.copy(self)
        for derived in ("depth_by_fold", "distinct_tokens", "fold_matrices", "checksum"):
            other.__dict__.pop(derived, None)
        for name, value in fields.items():
            object.__setattr__(other, name, value)
        return other

    def merge(self, *others: PositionCounts) -> PositionCounts:
        """Add the counts of other corpora, counted with the same settings.

        Parameters
        ----------
        *others : PositionCounts

        Returns
        -------
        PositionCounts

        Raises
        ------
        CountsError
            When context length, folds, grouping or tokenizer differ.
        """
        parts = (self, *others)
        for other in others:
            self._check_mergeable(other)
        vocabulary, ids = _merge_vocabularies(parts)
        fold, position, token, count = sum_entries(
            np.concatenate([p.fold for p in parts]),
            np.concatenate([p.position for p in parts]),
            np.concatenate(ids),
            np.concatenate([p.count for p in parts]),
        )
        return replace(
            self,
            fold=fold,
            position=position,
            token=token,
            count=count,
            documents=np.sum([p.documents for p in parts], axis=0, dtype=np.int64),
            empty_documents=sum(p.empty_documents for p in parts),
            vocabulary=vocabulary,
            sources=tuple(s for p in parts for s in p.sources),
            columns=tuple(dict.fromkeys(c for p in parts for c in p.columns)),
            engines=tuple(dict.fromkeys(e for p in parts for e in p.engines)),
            engine_notes=tuple(dict.fromkeys(e for p in parts for e in p.engine_notes)),
            null=tuple(first.merge(*rest) for first, *rest in zip(*(p.null for p in parts), strict=True)),
        )

    def _check_mergeable(self, other: PositionCounts) -> None:
        for what, mine, theirs in (
            ("context length n", self.n_positions, other.n_positions),
            ("number of folds", self.n_folds, other.n_folds),
            ("group column", self.grouped_by, other.grouped_by),
            ("number of null replicates", len(self.null), len(other.null)),
            ("seed of the null replicates", self.null_seed, other.null_seed),
        ):
            if mine != theirs:
                raise CountsError(
                    f"cannot merge counts with {what} {mine!r} and {theirs!r}: count both with the same settings"
                )
        if not self.tokenizer.matches(other.tokenizer):
            raise CountsError(
                f"cannot merge counts of different tokenizers ({self.tokenizer.name!r}, {other.tokenizer.name!r}): "
                "count both with the same one"
            )


def _merge_vocabularies(
    parts: Sequence[PositionCounts],
) -> tuple[tuple[str, ...] | None, list[NDArray[np.int64]]]:
    """The sorted union of open vocabularies, and each part's tokens renumbered into it."""
    if parts[0].vocabulary is None:
        return None, [p.token for p in parts]
    union = tuple(sorted(set().union(*(p.vocabulary or () for p in parts))))
    number = {word: i for i, word in enumerate(union)}
    ids = []
    for part in parts:
        renumbered = np.fromiter((number[w] for w in part.vocabulary or ()), np.int64)
        ids.append(renumbered[part.token])
    return union, ids
