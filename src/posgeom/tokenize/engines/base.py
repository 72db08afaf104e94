"""The contract of a tokenizer engine."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts
from posgeom.errors import TokenizerError

Ragged = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows of unequal length: their lengths, shape (n_rows,), and their values end to end."""


class DocumentError(TokenizerError):
    """A tokenizer fails on a document, whose number in the batch is given where it is known."""

    def __init__(self, message: str, document: int | None = None) -> None:
        super().__init__(message)
        self.document = document


class EngineError(DocumentError):
    """An engine crashed, or gave other ids than the reference on a document of a batch: its counts must not be used."""


class UnsupportedTokenizer(Exception):  # noqa: N818  an answer, not an error: the next engine is asked
    """An engine cannot do this tokenizer."""


class Engine(ABC):
    """Content tokens of documents, special tokens left out.

    `name` tells the version of the library behind it. One that `stops_early` looks no further once it has the tokens
    needed.
    """

    name: str
    stops_early: bool = False

    @abstractmethod
    def encode(self, texts: Texts, n_tokens: int) -> Ragged:
        """Tokenise documents without added tokens: lengths, and ids end to end, `n_tokens` each or more."""
