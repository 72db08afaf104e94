"""Counting token ids that a data pipeline has made already: lists, arrays, tensors, batches of a DataLoader."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from posgeom.counts.counting import count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import CorpusError
from posgeom.keywords import takes
from posgeom.options import TextOptions
from posgeom.tokenize.tokenizers import TokenBatch, Tokenizer, TokenizerIdentity

_SURROGATES, _N_SURROGATES = 0xD800, 0x800
LARGEST_VOCABULARY = 0x110000 - _N_SURROGATES
"""Ids travel as characters, of which there are so many."""


@takes(TextOptions, without=("tokenizer_engine",))
def count_ids(
    batches: Iterable[Any],
    vocab_size: int,
    *,
    special_ids: Collection[int] = (),
    groups: Iterable[str] | None = None,
    fold_by: Literal["text", "row"] = "text",
    source: str = "ids",
    **options: Unpack[TextOptions],
) -> PositionCounts:
    """Count token ids by (fold, position, token), as a data pipeline gives them.

    Parameters
    ----------
    batches : iterable
        Sequences of ids (lists or arrays of one dimension), batches of them (arrays or tensors of shape
        (batch, length)), or mappings with ``input_ids`` and, if there is padding, ``attention_mask``, as tokenizers and
        DataLoaders of the Hugging Face libraries give them; consumed one after the other. Positions are counted from
        the first id that the mask leaves, so that padding on the left moves nothing.
    vocab_size : int
        V; ids are 0 to V - 1.
    special_ids : collection of int
        Ids that hold their positions and are not counted, such as those of [CLS] and [SEP].
    groups : iterable of str, optional
        One value per sequence; sequences that share it share a fold.
    fold_by : {"text", "row"}
        What decides a sequence's fold where `groups` do not: its ids, or its number.
    source : str
        What to call the corpus in results and messages.

    Returns
    -------
    PositionCounts

    Raises
    ------
    CorpusError
        When an id is out of range, a mask does not fit, padding stands inside a sequence, or something else is given.

    Examples
    --------
    >>> import posgeom as pg
    >>> counts = pg.count_ids([[[1, 2, 0], [1, 3, 3]], {"input_ids": [[2, 1, 0]]}], 4, n_positions=3)
    >>> counts.n_documents, counts.n_tokens
    (3, 9)
    """
    if not 1 <= vocab_size <= LARGEST_VOCABULARY:
        raise CorpusError(f"vocab_size {vocab_size}: expected 1 to {LARGEST_VOCABULARY:,}")
    outside = [one for one in special_ids if not 0 <= one < vocab_size]
    if outside:
        raise CorpusError(f"special id {outside[0]}: expected 0 to {vocab_size - 1:,}")
    if isinstance(batches, Mapping | str):
        raise CorpusError(f"batches is a {type(batches).__name__}: expected an iterable of sequences or of batches")
    tokenizer = _Ids(vocab_size, frozenset(special_ids))
    return count_texts(_texts(batches, vocab_size), tokenizer, groups=groups, fold_by=fold_by, source=source, **options)


class _Ids(Tokenizer):
    """Token ids from the characters that they travel as."""

    def __init__(self, vocab_size: int, special_ids: frozenset[int]) -> None:
        self.identity = TokenizerIdentity("ids", "ids", None, vocab_size, 0)
        self.id_space = vocab_size
        self._is_special = np.zeros(vocab_size, np.bool_)
        self._is_special[list(special_ids)] = True

    def encode(self, texts: Sequence[str], n_positions: int) -> TokenBatch:
        """The ids, without the special ones, at the positions that these leave them."""
        pieces = [text[:n_positions] for text in texts]
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        codes = np.frombuffer("".join(pieces).encode("utf-32-le"), np.uint32).astype(np.int64)
        ids = codes - np.where(codes >= _SURROGATES, _N_SURROGATES, 0)
        positions = np.arange(ids.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        kept = ~self._is_special[ids]
        documents = np.repeat(np.arange(lengths.size), lengths)[kept]
        cut = np.fromiter(map(len, texts), np.int64, len(pieces)) > n_positions
        content = np.bincount(documents, minlength=lengths.size).astype(np.int64)
        return TokenBatch(content, positions[kept], ids[kept], lengths, cut)

    def names(self, tokens: Sequence[int]) -> list[str]:
        """Numbers, since nothing else is known."""
        return [f"#{token}" for token in tokens]


def _texts(batches: Iterable[Any], vocab_size: int) -> Iterator[str]:
    """Each sequence as a string, one character an id."""
    row = 0
    for batch in batches:
        for ids in _sequences(batch, row):
            row += 1
            if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < vocab_size:
                wrong = ids[(ids < 0) | (ids >= vocab_size)][0]
                raise CorpusError(f"sequence {row}: id {wrong}, expected 0 to {vocab_size - 1:,} (vocab_size)")
            codes = ids.astype(np.uint32)
            codes += np.where(codes >= _SURROGATES, _N_SURROGATES, 0).astype(np.uint32)
            yield codes.astype("<u4").tobytes().decode("utf-32-le")


def _sequences(batch: Any, before: int) -> Iterator[NDArray[np.int64]]:
    """The sequences of a batch, without what its mask leaves out."""
    ids, mask = batch, None
    if isinstance(batch, Mapping):
        if "input_ids" not in batch:
            raise CorpusError(
                f"sequence {before + 1}: a mapping without input_ids: it has {', '.join(map(str, batch))}"
            )
        ids, mask = batch["input_ids"], batch.get("attention_mask")
    rows = _rows(ids, before)
    masks: Sequence[NDArray[np.int64] | None] = [None] * len(rows) if mask is None else _rows(mask, before)
    if len(masks) != len(rows):
        raise CorpusError(f"sequence {before + 1}: {len(rows)} sequences with {len(masks)} masks")
    for number, (row, kept) in enumerate(zip(rows, masks, strict=True), before + 1):
        if kept is None:
            yield row
            continue
        if kept.size != row.size:
            raise CorpusError(f"sequence {number}: {row.size} ids with a mask of {kept.size}")
        places = np.flatnonzero(kept)
        if places.size and places[-1] - places[0] + 1 != places.size:
            raise CorpusError(f"sequence {number}: its mask leaves gaps; expected padding at its ends alone")
        yield row[places]


def _rows(values: Any, before: int) -> list[NDArray[np.int64]]:
    """Ids or masks as one-dimensional arrays; tensors by what they say of themselves."""
    if hasattr(values, "detach"):  # a tensor, on whatever device
        values = values.detach().cpu().numpy()
    is_ragged = not isinstance(values, np.ndarray) and isinstance(values, Sequence) and not isinstance(values, str)
    nested = (
        is_ragged and len(values) > 0 and (isinstance(values[0], Sequence | np.ndarray) or hasattr(values[0], "dim"))
    )
    parts = [_array(one, before) for one in values] if nested else [_array(values, before)]
    return [row for part in parts for row in (part if part.ndim == 2 else [part])]


def _array(values: Any, before: int) -> NDArray[np.int64]:
    array = np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iub" or array.ndim not in (1, 2):
        raise CorpusError(
            f"sequence {before + 1}: got {type(values).__name__} of {array.dtype}, {array.ndim} dimensions: expected "
            "whole numbers, as a sequence or as a batch of sequences"
        )
    return array.astype(np.int64)
