"""Whether documents that share a fold are copies of each other, where folds may depend on it, or depths mislead."""

from posgeom.counts.key_sample import KeySample
from posgeom.counts.position_counts import PositionCounts
from posgeom.messages import shown

COPY_SHARE = 0.05
"""Share of documents that are copies, less two standard errors, from which on a note says so."""


def copies_note(counts: PositionCounts) -> str | None:
    """What to say where documents that share a fold are copies of each other; None where there is nothing to say."""
    if counts.copies is None or counts.grouped_by == "row":
        return None
    share, error = counts.copies.copied_share()
    if share - 2 * error <= COPY_SHARE:
        return None
    if counts.grouped_by is None:
        return (
            f"Copies: {_about(counts.copies)}{share:.0%} of the documents have a text that another has too, and such "
            "documents share a fold. If texts coincide by chance, as short ones do, folds depend on each other and the "
            "mean squared distance comes out too low: count again with --fold-by row. If they are copies of one source "
            "this is right, but the depth counts every copy although they are one independent document."
        )
    if counts.fold_values is None:
        return None
    mean, error = counts.fold_values.documents_per_key()
    if mean - 2 * error <= 1 + COPY_SHARE:
        return None
    return (
        f"Copies: {shown(counts.grouped_by, 60)} has {_number(counts.fold_values)} values for "
        f"{counts.n_documents - counts.empty_documents:,} documents, and {_about(counts.copies)}{share:.0%} of the "
        "documents have the text of another of the same value. They share a fold, as they should, but the depth counts "
        "every document of a value although they are not independent: intervals come out a little short (with families "
        "of five copies, 95 % intervals of the mean squared distance covered it in 93 %)."
    )


def _about(sample: KeySample) -> str:
    return "about " if sample.is_full else ""


def _number(sample: KeySample) -> str:
    """Distinct keys, to two digits where they are estimated."""
    return _about(sample) + f"{int(float(f'{sample.n_distinct:.2g}')) if sample.is_full else sample.n_distinct:,}"
