"""Whether near-duplicates stand in several folds, where cross-validation takes them for agreement of the corpus."""

from dataclasses import dataclass

import numpy as np

from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.shingles import SEVERAL, Shingles
from posgeom.messages import shown

LEAK_SHARE = 0.05
"""Share of passages in several folds, less two standard errors, from which on a note says so: IMDB's reviews have a
tenth of it, SST-2's phrases twenty times as much."""
MAX_CHANCE = 0.01
"""Expected number of equal passages in a corpus of independent tokens up to which the share says something."""


@dataclass(frozen=True, slots=True)
class SharedShingles:
    """How much of the corpus stands in a document of another fold too.

    Attributes
    ----------
    share : float
        Of the passages of all documents, those that a document of another fold holds too. A passage is a run of
        `length` tokens, and counts once for each document that holds it.
    standard_error : float or None
        Of `share`, since it is computed from a sample of the distinct passages: 0 where that has them all, None where
        it cannot tell, since none or all of many are shared.
    length : int
    sampled : int
        Distinct passages in the sample.
    median_documents : int or None
        Half of the passages shared stand in this many documents or fewer; None without any.
    by_chance : float
        Equals of a passage that a corpus as large, of independent tokens, would be expected to hold. Where it is
        not small, passages are shared by chance and `share` says nothing.
    """

    share: float
    standard_error: float | None
    length: int
    sampled: int
    median_documents: int | None
    by_chance: float

    @property
    def is_leak(self) -> bool:
        """Whether it is worth a note."""
        # A few passages that very many documents hold, such as markup, make the estimate uncertain.
        return self.share - 2 * (self.standard_error or 0) > LEAK_SHARE and self.by_chance < MAX_CHANCE


def shared_shingles(counts: PositionCounts) -> SharedShingles | None:
    """How much of the corpus stands in a document of another fold too.

    Parameters
    ----------
    counts : PositionCounts

    Returns
    -------
    SharedShingles or None
        None where it is not known: no document is as long as a passage, or the counts hold no sample.
    """
    sample = counts.shingles
    if sample is None or not sample.hashes.size:
        return None
    frequency = np.bincount(np.searchsorted(counts.distinct_tokens, counts.token), counts.count) / counts.n_tokens
    share, error = _ratio(sample)
    return SharedShingles(
        share=share,
        standard_error=error,
        length=sample.length,
        sampled=int(sample.hashes.size),
        median_documents=_median_documents(sample),
        by_chance=float(counts.n_tokens * (frequency @ frequency) ** sample.length),
    )


def leak_note(counts: PositionCounts) -> str | None:
    """What to say where near-duplicates stand in several folds; None where there is nothing to say."""
    shared = shared_shingles(counts)
    if shared is None or not shared.is_leak:
        return None
    has_groups = counts.grouped_by not in (None, "row")
    grouped = f", although folds keep {shown(counts.grouped_by, 60)} together" if has_groups else ""
    return (
        f"Near-duplicates across folds: {shared.share:.0%} of the passages of {shared.length} tokens also stand in a "
        f"document of another fold{grouped} (half of these in {shared.median_documents:,} documents or fewer). "
        "Cross-validated distances then keep part of the noise. If documents come in families, name the family's "
        "column with --fold-by; if these are templates or boilerplate of all such text, nothing is wrong."
    )


def _ratio(sample: Shingles) -> tuple[float, float | None]:
    """Shared passages over all of them, each counted once a document, and the standard error of this ratio."""
    n = sample.documents.astype(np.float64)
    shared = np.where(sample.folds == SEVERAL, n, 0)
    share = float(shared.sum() / n.sum())
    if not sample.is_full:
        return share, 0.0
    if share in (0, 1):
        return share, None
    # Each distinct passage is drawn with the same probability, so this is the ratio estimator of survey sampling.
    return share, float(np.sqrt(((shared - share * n) ** 2).sum()) / n.sum())


def _median_documents(sample: Shingles) -> int | None:
    n = np.sort(sample.documents[sample.folds == SEVERAL])
    return int(n[np.searchsorted(np.cumsum(n), n.sum() / 2)]) if n.size else None
