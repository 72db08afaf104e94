"""nanotoken: WordPiece tokenizers, compiled."""

from importlib.metadata import version

import numpy as np

from posgeom.corpus.texts import Texts
from posgeom.messages import one_line
from posgeom.tokenize.engines.base import Engine, Ragged, UnsupportedTokenizer


class Nanotoken(Engine):
    """WordPiece by the `nanotoken` library."""

    stops_early = True

    def __init__(self, definition: str) -> None:
        import nanotoken

        try:
            self._tokenizer = nanotoken.WordPieceTokenizer.from_json(definition)
        except ValueError as error:  # its own error for what it does not do is one
            raise UnsupportedTokenizer(one_line(error)) from None
        self.name = f"nanotoken {version('nanotoken')}"

    def encode(self, texts: Texts, n_tokens: int) -> Ragged:
        """Tokenise in the calling thread, since the counting has threads of its own."""
        ids, offsets = self._tokenizer.encode_batch(
            texts.pieces(), add_special_tokens=False, max_length=n_tokens, parallel=False
        )
        return np.diff(offsets), ids.astype(np.int64)
