"""The context length n where nobody says it: from the lengths of the first documents."""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from posgeom.corpus.documents import DocumentBatch
from posgeom.options import DEFAULT_N_POSITIONS
from posgeom.tokenize.tokenizers import Tokenizer, sequence_sizes

LONGEST = 512
"""The largest n that is chosen."""
QUANTILE, STEP = 0.9, 8
"""n is this quantile of the lengths of documents that are not empty, rounded up to a multiple of this."""
SAMPLED = 8000
"""Documents whose lengths are looked at, the first ones, or a few more."""


def choose_context_length(
    batches: Iterator[DocumentBatch], tokenizer: Tokenizer
) -> tuple[int, tuple[str, ...], Iterator[DocumentBatch]]:
    """Choose n by the first documents; also what there is to note of it, and all batches."""
    first: list[DocumentBatch] = []
    sizes = np.empty(0, np.int64)
    for batch in batches:
        first.append(batch)
        try:
            tokens = tokenizer.encode(batch.documents, LONGEST)
        except (UnicodeEncodeError, AttributeError, TypeError):  # no text: the counting says where
            break
        sizes = np.append(sizes, sequence_sizes(tokens, tokenizer)[tokens.lengths > 0])
        if sizes.size >= SAMPLED:
            break
    if not sizes.size:
        return DEFAULT_N_POSITIONS, (), chain(first, batches)
    rounded = -(-int(np.quantile(sizes, QUANTILE, method="inverted_cdf")) // STEP) * STEP
    n = max(2, min(rounded, int(sizes.max()), LONGEST))
    note = (
        f"n = {n} is chosen, the {QUANTILE:.0%} quantile of the lengths of the first {sizes.size:,} documents that are"
        f" not empty, rounded up to a multiple of {STEP}, but not above the longest or {LONGEST}; -n sets another"
    )
    return n, (note,), chain(first, batches)
