"""A small sample of keys, such as texts or the values of a column, and of how many documents have each.

It holds the distinct keys with the smallest digests (bottom-k sampling), so that it is the same whatever the
order of the documents, batches, threads and partitions, and samples of parts add up to the sample of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from posgeom.errors import CountsError

SAMPLE_SIZE = 1024
"""Distinct keys that are kept."""
_ALL = 2**64 - 1


@dataclass(frozen=True, eq=False)
class KeySample:
    """The distinct keys with the smallest digests, at most `SAMPLE_SIZE`, increasing, and the documents with each."""

    digests: NDArray[np.uint64]
    documents: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not self.digests.size == self.documents.size <= SAMPLE_SIZE:
            raise CountsError("a sample of keys has arrays of two lengths, or too long ones")
        if (self.digests[1:] <= self.digests[:-1]).any() or (self.documents < 1).any():
            raise CountsError("a sample of keys is not sorted, or holds numbers that are too small")

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All numbers in it."""
        return self.digests, self.documents

    @property
    def is_full(self) -> bool:
        """Whether there may be more keys than these."""
        return self.digests.size == SAMPLE_SIZE

    @property
    def bound(self) -> int:
        """Largest digest that can still be part of the sample."""
        return int(self.digests[-1]) if self.is_full else _ALL

    @property
    def n_distinct(self) -> int:
        """Distinct keys of all documents; where the sample is full an estimate, with a standard error of 3 %."""
        if not self.is_full:
            return int(self.digests.size)
        return round((SAMPLE_SIZE - 1) * 2.0**64 / float(self.digests[-1]))

    def copied_share(self) -> tuple[float, float]:
        """Share of the documents whose key another has too, and its standard error, 0 where all keys are known."""
        return self._ratio(np.where(self.documents > 1, self.documents, 0), self.documents)

    def documents_per_key(self) -> tuple[float, float]:
        """Mean number of documents that have a key, and its standard error."""
        return self._ratio(self.documents, np.ones_like(self.documents))

    def _ratio(self, above: NDArray[np.int64], below: NDArray[np.int64]) -> tuple[float, float]:
        # Each distinct key is sampled with the same probability, so this is the ratio estimator of survey sampling.
        total = float(below.sum())
        ratio = float(above.sum()) / max(total, 1.0)
        error = float(np.sqrt(((above - ratio * below) ** 2).sum())) / total if self.is_full else 0.0
        return ratio, error

    def merge(self, *others: "KeySample") -> "KeySample":
        """The sample of several sets of documents together."""
        parts = (self, *others)
        return _smallest(np.concatenate([p.digests for p in parts]), np.concatenate([p.documents for p in parts]))


def sample_keys(digests: NDArray[np.uint64], bound: int = _ALL) -> KeySample:
    """The sample of some documents, by the digest of each; larger ones than `bound` are left out."""
    small = digests[digests <= np.uint64(bound)]
    return _smallest(small, np.ones(small.size, np.int64))


def _smallest(digests: NDArray[np.uint64], documents: NDArray[np.int64]) -> KeySample:
    distinct, which = np.unique(digests, return_inverse=True)
    totals = np.bincount(which, documents, distinct.size).astype(np.int64)
    return KeySample(distinct[:SAMPLE_SIZE], totals[:SAMPLE_SIZE])


class _Sample(Protocol):
    def merge(self, *others: Self) -> Self: ...


Sample = TypeVar("Sample", bound=_Sample)


def sum_of_samples(samples: Sequence[Sample | None]) -> Sample | None:
    """The sum of all; None where one was not taken, since nothing is known of all then."""
    known = [sample for sample in samples if sample is not None]
    return known[0].merge(*known[1:]) if len(known) == len(samples) else None
