"""gigatoken: byte-level BPE tokenizers, compiled."""

from importlib.metadata import version

import numpy as np

from posgeom.corpus.texts import Texts
from posgeom.messages import one_line
from posgeom.tokenize.engines.base import Engine, Ragged, UnsupportedTokenizer


class Gigatoken(Engine):
    """Byte-level BPE by the `gigatoken` library."""

    def __init__(self, definition: str) -> None:
        from gigatoken.gigatoken_rs import load_hf_json

        try:
            self._tokenizer = load_hf_json(definition)
        except Exception as error:  # noqa: BLE001  it names no root for what it does not do
            raise UnsupportedTokenizer(one_line(error)) from None
        self.name = f"gigatoken {version('gigatoken')}"

    def encode(self, texts: Texts, n_tokens: int) -> Ragged:  # noqa: ARG002  it cannot stop early
        """Tokenise in the calling thread, since the counting has threads of its own."""
        if not len(texts):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        layout = self._tokenizer.encode_batch(texts.pieces(), parallel=False).layout
        offsets = np.asarray(layout.offsets.data, np.int64)
        ids = np.asarray(layout.content.data)[offsets[0] : offsets[-1]]
        return np.diff(offsets), ids.astype(np.int64)
