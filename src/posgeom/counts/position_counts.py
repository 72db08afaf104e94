"""`PositionCounts`: how often each token stands at each position, fold by fold."""

from __future__ import annotations

import copy
import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, get_args

import numpy as np
import scipy  # not its parts: they load when first used, so that importing the package stays quick
from numpy.typing import NDArray

from posgeom.counts.bins import Bins, make_bins
from posgeom.counts.count_entries import CountEntries, check_form, check_values, sum_count_entries, union_vocabulary
from posgeom.counts.key_sample import KeySample
from posgeom.counts.shingles import Shingles
from posgeom.errors import CountsError
from posgeom.options import NullKind
from posgeom.tokenize.tokenizers import CODE_POINTS, TokenizerIdentity

Sample = TypeVar("Sample", Shingles, KeySample)


@dataclass(frozen=True, eq=False)
class PositionCounts:
    """Sparse token counts by (fold, position, token), sorted in that order.

    Attributes
    ----------
    fold, position, token, count : ndarray of int64, shape (n_entries,)
        The non-zero counts. Positions are 0-based and number special tokens, which are not counted themselves. With
        `bins`, a position is the centre of a bin and stands for all of it.
    n_positions : int
        Context length that sequences were truncated to.
    tokenizer : TokenizerIdentity
    documents : ndarray of int64, shape (n_folds,)
        Documents counted, empty ones included.
    empty_documents : int
        Documents without any content token.
    vocabulary : tuple of str or None
        Token strings by id where the vocabulary is that of the corpus; None where ids are fixed.
    sources : tuple of str
        What was read, as the user named it.
    columns : tuple of str
        Text columns that were read; empty for plain text and FASTA.
    grouped_by : str or None
        What decided the folds: None for the text, ``"row"`` for the number of the document in the corpus, else the name
        of a column (as ``"column:row"`` where it could be taken for something else).
    engines : tuple of str
        What computed the token ids, for tokenizers that leave a choice.
    engine_notes : tuple of str
        What went wrong with a faster engine; its counts were thrown away.
    null : tuple of PositionCounts
        Counts of null corpora: the same documents, the tokens of each moved over its own positions.
    null_seed : int or None
        Seed of these moves.
    null_kind : {"permute", "rotate"} or None
        Whether these tokens stand in a random order, or in their own, rotated by a random offset.
    min_length : int or None
        Positions that a sequence had to take, special tokens included, to be counted; None where all were.
    short_documents : int
        Documents that were left out for that.
    shingles : Shingles or None
        A sample of runs of tokens, which tells whether folds share text; None where it was not taken.
    copies : KeySample or None
        A sample of the texts of documents that are not empty, which tells how many are copies; where a column decides
        folds, of pairs of its value and the text. None where it was not taken.
    fold_values : KeySample or None
        A sample of the values of the column that decides folds, of the same documents; None where none does.
    bins : Bins or None
        Bins of positions that tokens were added up over; None where positions are as they are.
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
    null_kind: NullKind | None = None
    min_length: int | None = None
    short_documents: int = 0
    shingles: Shingles | None = None
    copies: KeySample | None = None
    fold_values: KeySample | None = None
    bins: Bins | None = None

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
        self._check_selection()
        if not self.fold.size:
            return
        bounds = (self.n_folds, self.n_positions, self._token_bound)
        check_values(self.fold, self.position, self.token, self.count, bounds)
        at_most = self.documents[:, None] * (1 if self.bins is None else self.bins.widths)
        if (self.depth_by_fold[:, self.grid] > at_most).any():
            raise CountsError("a position has more tokens than there are documents")
        if self.bins is not None and not np.isin(self.position, self.grid).all():
            raise CountsError("a position is not the centre of a bin")
        self._check_null()

    def _check_selection(self) -> None:
        if self.min_length is None and self.short_documents:
            raise CountsError(f"{self.short_documents} documents are too short, but there is no minimum length")
        if self.short_documents < 0 or not 1 <= (self.min_length or 1) <= self.n_positions:
            raise CountsError(f"got minimum length {self.min_length} and {self.short_documents} documents below it")
        if self.bins is not None and self.bins.edges[-1] != self.n_positions:
            raise CountsError(f"bins end at {self.bins.edges[-1]}, not at n = {self.n_positions}")

    def _check_null(self) -> None:
        if (self.null_seed is None) != (not self.null):
            raise CountsError("null counts come with the seed of their moves, and only they do")
        if self.null and self.null_kind not in get_args(NullKind):
            raise CountsError(f"null corpora of kind {self.null_kind!r}: expected {' or '.join(get_args(NullKind))}")
        if any((null.depth_by_fold != self.depth_by_fold).any() for null in self.null):
            raise CountsError("a null corpus has other documents: its depths differ")

    def __repr__(self) -> str:
        return (
            f"<PositionCounts: {self.n_documents:,} documents, {self.n_tokens:,} tokens, n = {self.n_positions:,}, "
            f"V = {self.vocab_size:,}, {self.n_folds} folds, tokenizer {self.tokenizer.name}"
            + ("" if self.bins is None else f", bins {self.bins.spec}")
            + ">"
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
        """Documents counted, empty ones included."""
        return int(self.documents.sum())

    @property
    def n_tokens(self) -> int:
        """Content tokens counted."""
        return int(self.count.sum())

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the numbers, in hexadecimal: equal where counts are, whatever counted them and where.

        Over context length, folds, documents by fold, empty documents, fold, position, token and count of every
        entry as little-endian 64-bit integers, then the words of an open vocabulary, then the null corpora and, unless
        they are permuted, their kind, then the minimum length and the edges of bins where there are any.
        """
        digest = hashlib.sha256()
        sizes = np.array([self.n_positions, self.n_folds, self.empty_documents, len(self.null)])
        for array in (sizes, self.documents, self.fold, self.position, self.token, self.count):
            digest.update(array.astype("<i8").tobytes())
        for word in self.vocabulary or ():
            digest.update(word.encode() + b"\0")
        for null in self.null:
            digest.update(null.checksum.encode())
        if self.null and self.null_kind != "permute":
            digest.update(f"null corpora: {self.null_kind}".encode())
        if self.min_length is not None:
            digest.update(f"minimum length {self.min_length}, {self.short_documents} below".encode())
        if self.bins is not None:
            digest.update(f"bins {list(self.bins.edges)}".encode())
        return digest.hexdigest()

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

    @property
    def grid(self) -> NDArray[np.int64]:
        """Positions that can hold tokens, increasing: all n, or the centres of the bins."""
        return np.arange(self.n_positions) if self.bins is None else self.bins.centres

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
        total = self.fold_matrices[0]
        for other in self.fold_matrices[1:]:
            total = total + other
        return total

    def with_null(
        self, null: Sequence[CountEntries], seed: int, *, kind: NullKind = "permute", check: bool = True
    ) -> PositionCounts:
        """These counts together with those of null corpora.

        Parameters
        ----------
        null : sequence of tuple of ndarray
            Fold, position, token and count of each.
        seed : int
            Of the moves.
        kind : {"permute", "rotate"}
            How tokens were moved inside each document.
        check : bool
            Look at the entries, as those of a file; False for those just counted.

        Returns
        -------
        PositionCounts
        """
        parts = []
        for entries in null:
            fields: dict[str, Any] = dict(zip(("fold", "position", "token", "count"), entries, strict=True))
            fields |= {"shingles": None, "copies": None, "fold_values": None}
            parts.append(replace(self, **fields) if check else self._relabelled(**fields))
        together = self._relabelled(null=tuple(parts), null_seed=seed, null_kind=kind)
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

    def binned(self, bins: str | Sequence[int] | Bins) -> PositionCounts:
        """These counts added up over bins of positions, null corpora included.

        A bin's distribution is that of all tokens at its positions, and its depth is the number of these tokens. A
        document has several tokens in a bin, which are not independent of each other; cross-validation stays honest,
        because its folds hold whole documents.

        Parameters
        ----------
        bins : str, sequence of int, or Bins
            See `posgeom.counts.bins.make_bins`.

        Returns
        -------
        PositionCounts
            Each bin at the position of its centre, so that lags and encodings keep their meaning.

        Raises
        ------
        CountsError
            When the bins do not fit, or these counts are in bins already.
        """
        if self.bins is not None:
            raise CountsError(f"the counts are in bins ({self.bins.spec}) already: leave bins out, or count again")
        made = make_bins(bins, self.n_positions)
        null = tuple(part.binned(made) for part in self.null)
        entries = made.binned(self.fold, self.position, self.token, self.count)
        fields = dict(zip(("fold", "position", "token", "count"), entries, strict=True))
        return self._relabelled(**fields, bins=made, null=null)

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
            When context length, bins, minimum length, folds, null corpora or tokenizer differ.
        """
        parts = (self, *others)
        for other in others:
            self._check_alike(other)
        vocabulary, token = union_vocabulary([(p.vocabulary, p.token) for p in parts])
        fold, position, token, count = sum_count_entries(
            np.concatenate([p.fold for p in parts]),
            np.concatenate([p.position for p in parts]),
            token,
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
            short_documents=sum(p.short_documents for p in parts),
            shingles=_sum_of([p.shingles for p in parts]),
            copies=_sum_of([p.copies for p in parts]),
            fold_values=_sum_of([p.fold_values for p in parts]),
        )

    def _check_alike(self, other: PositionCounts) -> None:
        mine, theirs = self._settings(), other._settings()
        for what, value in mine.items():
            if value != theirs[what]:
                raise CountsError(
                    f"cannot merge counts with {what} {value!r} and {theirs[what]!r}: count both with the same settings"
                )
        if not self.tokenizer.matches(other.tokenizer):
            raise CountsError(
                f"cannot merge counts of different tokenizers ({self.tokenizer.name!r}, {other.tokenizer.name!r}): "
                "count both with the same one"
            )

    def _settings(self) -> dict[str, object]:
        """What must be the same for counts to be added up, beside the tokenizer, by its name in messages."""
        return {
            "context length n": self.n_positions,
            "bins": None if self.bins is None else self.bins.spec,
            "bin edges": None if self.bins is None else self.bins.edges,
            "minimum length": self.min_length,
            "number of folds": self.n_folds,
            "folds by": "text" if self.grouped_by is None else self.grouped_by,
            "number of null replicates": len(self.null),
            "kind of the null replicates": self.null_kind if self.null else None,
            "seed of the null replicates": self.null_seed,
        }


def _sum_of(samples: Sequence[Sample | None]) -> Sample | None:
    """The sample of all; None where one was not taken, since nothing is known of all then."""
    known = [sample for sample in samples if sample is not None]
    return known[0].merge(*known[1:]) if len(known) == len(samples) else None
