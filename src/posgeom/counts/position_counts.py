"""`PositionCounts`: how often each token stands at each position, fold by fold."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.bins import Bins, make_bins
from posgeom.counts.count_entries import CountEntries, named_entries, sum_count_entries, union_vocabulary
from posgeom.counts.key_sample import KeySample, sum_of_samples
from posgeom.counts.shingles import Shingles
from posgeom.counts.token_counts import TokenCounts
from posgeom.errors import CountsError
from posgeom.options import NullKind


@dataclass(frozen=True, eq=False)
class PositionCounts(TokenCounts):
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
    reading_notes : tuple of str
        What there is to know of how the sources were read.
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
    cut_documents : int or None
        Documents counted whose sequence is longer than `n_positions`; None where that is not known.
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

    sources: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    grouped_by: str | None = None
    engines: tuple[str, ...] = ()
    engine_notes: tuple[str, ...] = ()
    reading_notes: tuple[str, ...] = ()
    null: tuple[PositionCounts, ...] = ()
    null_seed: int | None = None
    null_kind: NullKind | None = None
    min_length: int | None = None
    short_documents: int = 0
    cut_documents: int | None = None
    shingles: Shingles | None = None
    copies: KeySample | None = None
    fold_values: KeySample | None = None
    bins: Bins | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_selection()
        if not self.fold.size:
            return
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
        bins = "" if self.bins is None else f", bins {self.bins.spec}"
        return (
            f"<PositionCounts: {self.n_documents:,} documents, {self.n_tokens:,} tokens, n = {self.n_positions:,}, "
            f"V = {self.vocab_size:,}, {self.n_folds} folds, tokenizer {self.tokenizer.name}{bins}>"
        )

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

    @property
    def grid(self) -> NDArray[np.int64]:
        """Positions that can hold tokens, increasing: all n, or the centres of the bins."""
        return np.arange(self.n_positions) if self.bins is None else self.bins.centres

    def with_null(
        self, null: Sequence[CountEntries], seed: int, *, kind: NullKind = "permute", check: bool = True
    ) -> PositionCounts:
        """These counts with those of null corpora, whose entries are checked unless they were just counted."""
        parts = []
        for entries in null:
            fields = named_entries(entries) | {"shingles": None, "copies": None, "fold_values": None}
            parts.append(replace(self, **fields) if check else self._relabelled(**fields))
        together = self._relabelled(null=tuple(parts), null_seed=seed, null_kind=kind)
        if check:
            together._check_null()
        return together

    def with_sources(self, sources: Sequence[str]) -> PositionCounts:
        """These counts under the names of what was read."""
        null = tuple(part._relabelled(sources=tuple(sources)) for part in self.null)
        return self._relabelled(sources=tuple(sources), null=null)

    def with_notes(self, notes: Sequence[str]) -> PositionCounts:
        """These counts with more to know of how the sources were read."""
        return self._relabelled(reading_notes=(*notes, *self.reading_notes)) if notes else self

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
        fields = named_entries(made.binned(self.fold, self.position, self.token, self.count))
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
        fold, position, count = (
            np.concatenate([getattr(p, name) for p in parts]) for name in ("fold", "position", "count")
        )
        return replace(
            self,
            **named_entries(sum_count_entries(fold, position, token, count)),
            documents=np.sum([p.documents for p in parts], axis=0, dtype=np.int64),
            empty_documents=sum(p.empty_documents for p in parts),
            vocabulary=vocabulary,
            sources=tuple(s for p in parts for s in p.sources),
            columns=tuple(dict.fromkeys(c for p in parts for c in p.columns)),
            engines=tuple(dict.fromkeys(e for p in parts for e in p.engines)),
            engine_notes=tuple(dict.fromkeys(e for p in parts for e in p.engine_notes)),
            reading_notes=tuple(dict.fromkeys(e for p in parts for e in p.reading_notes)),
            null=tuple(first.merge(*rest) for first, *rest in zip(*(p.null for p in parts), strict=True)),
            short_documents=sum(p.short_documents for p in parts),
            cut_documents=_total([p.cut_documents for p in parts]),
            shingles=sum_of_samples([p.shingles for p in parts]),
            copies=sum_of_samples([p.copies for p in parts]),
            fold_values=sum_of_samples([p.fold_values for p in parts]),
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


def _total(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
