"""The reference: the `tokenizers` library, which defines what is right."""

import threading
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts
from posgeom.messages import one_line
from posgeom.tokenize.engines.base import DocumentError, Engine, Ragged
from posgeom.tokenize.engines.panics import reraise_interrupt, without_panic_lines

if TYPE_CHECKING:
    import tokenizers

_N_WORDS = 3
_PROBES = ("", "a", "The quick brown fox, 1999.", "\u00e9\u4e2d \U0001f600")


class Reference(Engine):
    """`tokenizers` as it is, with padding and truncation switched off.

    `n_before` and `n_after` are the special tokens it puts around the content; `surrounds` whether they stand there
    only, so that the content can be encoded without them; `takes_all` whether no text was met that it fails on.
    """

    def __init__(self, tokenizer: "tokenizers.Tokenizer") -> None:
        import tokenizers

        self.name = f"tokenizers {tokenizers.__version__}"
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._lock = threading.Lock()
        self.takes_all = True
        self.n_before, self.n_after, self.surrounds = self._probe()

    def encode(self, texts: Texts, n_tokens: int) -> Ragged:
        """Tokenise; at most `n_tokens` of each document."""
        return _flat([e.ids[:n_tokens] for e in self._run(texts.strings(), specials=False)])

    def encode_with_specials(
        self, texts: Texts, n_positions: int
    ) -> tuple[Ragged, NDArray[np.bool_], NDArray[np.bool_]]:
        """Tokenise with special tokens, wherever they stand, up to `n_positions`.

        Also tells which ids are content, and which documents are cut. A special token is one that the post-processor
        added, not one spelled out in the text.
        """
        # Only the library knows which special tokens stay when it truncates; it is told how far for all its users.
        with self._lock:
            self._tokenizer.enable_truncation(max_length=n_positions, stride=0, direction="right")
            try:
                encodings = self._run(texts.strings(), specials=True)
            finally:
                self._tokenizer.no_truncation()
        # The library makes room for the special tokens only: a template that names the text twice exceeds its limit.
        _, special = _flat([e.special_tokens_mask[:n_positions] for e in encodings])
        cut = np.array([bool(e.overflowing) or len(e.ids) > n_positions for e in encodings], np.bool_)
        return _flat([e.ids[:n_positions] for e in encodings]), special == 0, cut

    def _run(self, texts: Sequence[str], *, specials: bool) -> "list[tokenizers.Encoding]":
        try:
            with without_panic_lines():
                return self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=specials)
        except BaseException as error:  # noqa: BLE001  the library raises bare Exception, and its panics are no Exception
            reraise_interrupt(error)
            raise DocumentError(f"the tokenizer failed: {one_line(error)}") from None

    def _probe(self) -> tuple[int, int, bool]:
        ends = set()
        words = sorted(self._tokenizer.get_vocab(with_added_tokens=False), key=lambda word: (len(word), word))
        for text in (*_PROBES, *words[:_N_WORDS]):
            try:
                [plain], [full] = self._run([text], specials=False), self._run([text], specials=True)
            except DocumentError:  # as a vocabulary without a token for what it does not know
                self.takes_all = False
                continue
            content = np.flatnonzero(np.array(full.special_tokens_mask) == 0)
            before = int(content[0]) if content.size else None
            inner = full.ids if before is None else full.ids[before : before + len(plain.ids)]
            if content.size != len(plain.ids) or (before is not None and inner != plain.ids):
                return 0, 0, False
            if before is not None:
                ends.add((before, len(full.ids) - before - len(plain.ids)))
        # A tokenizer that finds nothing in any probe says nothing about where its special tokens stand.
        return (*ends.pop(), True) if len(ends) == 1 else (0, 0, False)


def _flat(rows: list[list[int]]) -> Ragged:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    return lengths, np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
