"""fastokens: BPE tokenizers, compiled."""

from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts
from posgeom.messages import one_line
from posgeom.tokenize.engines.base import Engine, Ragged, UnsupportedTokenizer


class Fastokens(Engine):
    """BPE by the `fastokens` library."""

    def __init__(self, definition: str) -> None:
        from fastokens import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_json_str(definition)
        except Exception as error:  # noqa: BLE001  it names no root for what it does not do
            raise UnsupportedTokenizer(one_line(error)) from None
        self.name = f"fastokens {version('fastokens')}"

    def encode(self, texts: Texts, n_tokens: int) -> Ragged:  # noqa: ARG002  it cannot stop early
        """Tokenise."""
        ids, offsets = self._tokenizer.encode_batch_flat(texts.strings(), add_special_tokens=False)
        bounds: NDArray[np.int64] = np.frombuffer(offsets, "<u8").astype(np.int64)
        return np.diff(bounds), np.frombuffer(ids, "<u4").astype(np.int64)
