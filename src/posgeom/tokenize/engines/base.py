"""The contract of a tokenizer engine."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts
from posgeom.errors import TokenizerError

Ragged = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows of unequal length: their lengths, shape (n_rows,), and their values end to end."""


class EngineError(TokenizerError):
    """An engine crashed, or gave other ids than the reference: its counts must not be used.

    Parameters
    ----------
    message : str
    document : int, optional
        Number of the document in its batch.
    """

    def __init__(self, message: str, document: int | None = None) -> None:
        super().__init__(message)
        self.document = document


class UnsupportedTokenizer(Exception):  # noqa: N818  an answer, not an error: the next engine is asked
    """An engine cannot do this tokenizer."""


class Engine(ABC):
    """Content tokens of documents, special tokens left out.

    Attributes
    ----------
    name : str
        The engine and the version of the library behind it, for the result.
    stops_early : bool
        Whether it looks no further once it has the tokens that are needed.
    """

    name: str
    stops_early: bool = False

    @abstractmethod
    def encode(self, texts: Texts, n_tokens: int) -> Ragged:
        """Tokenise.

        Parameters
        ----------
        texts : Texts
            Documents without the text of any added token.
        n_tokens : int
            Tokens of a document that are needed; more may be returned.

        Returns
        -------
        lengths : ndarray of int64, shape (n_documents,)
        ids : ndarray of int64, shape (sum of lengths,)
        """
