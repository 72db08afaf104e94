"""Adding up the counts of several corpora."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.copies import KeySample
from posgeom.counts.count_entries import sum_entries
from posgeom.counts.shingles import Passages
from posgeom.errors import CountsError

if TYPE_CHECKING:
    from posgeom.counts.position_counts import PositionCounts


def merged(first: PositionCounts, *others: PositionCounts) -> PositionCounts:
    """Add up counts; see `PositionCounts.merge`."""
    parts = (first, *others)
    for other in others:
        _check(first, other)
    vocabulary, ids = _merge_vocabularies(parts)
    fold, position, token, count = sum_entries(
        np.concatenate([p.fold for p in parts]),
        np.concatenate([p.position for p in parts]),
        np.concatenate(ids),
        np.concatenate([p.count for p in parts]),
    )
    return replace(
        first,
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
        null=tuple(merged(*replicates) for replicates in zip(*(p.null for p in parts), strict=True)),
        short_documents=sum(p.short_documents for p in parts),
        passages=_merge_passages([p.passages for p in parts]),
        copies=_merge_keys([p.copies for p in parts]),
        fold_values=_merge_keys([p.fold_values for p in parts]),
    )


def _check(first: PositionCounts, other: PositionCounts) -> None:
    for what, mine, theirs in (
        ("context length n", first.n_positions, other.n_positions),
        ("bins", _spec(first), _spec(other)),
        ("bin edges", first.bins and first.bins.edges, other.bins and other.bins.edges),
        ("minimum length", first.min_length, other.min_length),
        ("number of folds", first.n_folds, other.n_folds),
        ("folds by", _fold_by(first), _fold_by(other)),
        ("number of null replicates", len(first.null), len(other.null)),
        ("kind of the null replicates", first.null and first.null_kind, other.null and other.null_kind),
        ("seed of the null replicates", first.null_seed, other.null_seed),
    ):
        if mine != theirs:
            raise CountsError(
                f"cannot merge counts with {what} {mine!r} and {theirs!r}: count both with the same settings"
            )
    if not first.tokenizer.matches(other.tokenizer):
        raise CountsError(
            f"cannot merge counts of different tokenizers ({first.tokenizer.name!r}, {other.tokenizer.name!r}): "
            "count both with the same one"
        )


def _spec(counts: PositionCounts) -> str | None:
    return None if counts.bins is None else counts.bins.spec


def _fold_by(counts: PositionCounts) -> str:
    return "text" if counts.grouped_by is None else counts.grouped_by


def _merge_keys(parts: Sequence[KeySample | None]) -> KeySample | None:
    """The sample of all; None where one was not taken."""
    known = [part for part in parts if part is not None]
    return known[0].merge(*known[1:]) if known and len(known) == len(parts) else None


def _merge_passages(parts: Sequence[Passages | None]) -> Passages | None:
    """The sample of all; None where one was not taken, since nothing is known of all then."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.length for part in known}) != 1:
        return None
    return known[0].merge(*known[1:])


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
