"""Notes that go with counts, whatever is made of them."""

from collections.abc import Iterator

import numpy as np

from posgeom.counts.copies import copies_note
from posgeom.counts.leaks import leak_note
from posgeom.counts.position_counts import PositionCounts
from posgeom.messages import Caution

INDENTED = 0.01
"""Share of documents that begin with white space from which on a note says so where each character counts."""


def notes_on_counts(counts: PositionCounts) -> tuple[str, ...]:
    """What a reader of counts should know: how they were made, then what in the corpus may mislead."""
    made = [f"Tokenizer engine: {note}." for note in counts.engine_notes]
    made += [f"Input: {note}." for note in counts.reading_notes]
    suspicions = map(Caution, filter(None, [leak_note(counts), copies_note(counts)]))
    return (*made, *_on_lengths(counts), *_on_indents(counts), *suspicions)


def _on_lengths(counts: PositionCounts) -> Iterator[str]:
    if counts.cut_documents:
        yield (
            f"Length: {counts.cut_documents / counts.n_documents:.1%} of the documents are longer than n = "
            f"{counts.n_positions:,} and were cut there."
        )


def _on_indents(counts: PositionCounts) -> Iterator[str]:
    if counts.tokenizer.kind not in ("chars", "bytes"):
        return
    first = counts.position == counts.grid[0]
    is_space = first & np.isin(counts.token, [ord(c) for c in " \t\xa0\u3000"])
    share = counts.count[is_space].sum() / max(counts.n_documents, 1)
    if share > INDENTED and counts.bins is None:
        yield Caution(
            f"White space: {share:.0%} of the documents begin with spaces or tabs, which are characters too and shift "
            "all that follows. If they pad a column of fixed width, strip them and count again."
        )
