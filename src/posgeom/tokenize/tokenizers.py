"""Tokenizers behind one small contract: texts in, content tokens with their sequence positions out."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts, digests_of
from posgeom.errors import TokenizerError

CODE_POINTS = 0x110000
"""Unicode code points: upper bound of the token ids of `CharTokenizer`."""
OPEN_ID_SPACE = 2**31
"""Upper bound of the token ids of a vocabulary that grows with the corpus."""


@dataclass(frozen=True, slots=True)
class TokenizerIdentity:
    """What makes two token streams comparable.

    Attributes
    ----------
    kind : str
        ``"tokenizers"``, ``"bytes"``, ``"chars"``, ``"whitespace"`` or ``"ids"``.
    name : str
        As the user gave it; for display only.
    sha256 : str or None
        Digest of the tokenizer's definition, padding and truncation left out.
    vocab_size : int or None
        Tokens it knows; None where the vocabulary is that of the corpus.
    n_special_tokens : int
        Special tokens it adds to a sequence. They hold their positions, and are not counted.
    """

    kind: str
    name: str
    sha256: str | None
    vocab_size: int | None
    n_special_tokens: int

    def matches(self, other: "TokenizerIdentity") -> bool:
        """Whether both give the same ids, whatever they are called."""
        mine, theirs = asdict(self), asdict(other)
        del mine["name"], theirs["name"]
        return mine == theirs


@dataclass(frozen=True, eq=False, slots=True)
class TokenBatch:
    """Content tokens of a batch of documents, in document order.

    `lengths` of each document, shape (n_documents,); `positions`, 0-based and with special tokens numbered, and
    `tokens`, shape (sum of lengths,). `sizes` are the positions that each sequence takes, special tokens included,
    where that is not the content tokens and `TokenizerIdentity.n_special_tokens`. `cut` says which sequences were
    longer and are truncated; None where that is not known.
    """

    lengths: NDArray[np.int64]
    positions: NDArray[np.int64]
    tokens: NDArray[np.int64]
    sizes: NDArray[np.int64] | None = None
    cut: NDArray[np.bool_] | None = None

    def only(self, documents: NDArray[np.bool_]) -> "TokenBatch":
        """The tokens of the documents of a mask."""
        kept = np.repeat(documents, self.lengths)
        sizes = None if self.sizes is None else self.sizes[documents]
        cut = None if self.cut is None else self.cut[documents]
        return TokenBatch(self.lengths[documents], self.positions[kept], self.tokens[kept], sizes, cut)


class Tokenizer(ABC):
    """The contract: an identity, a bound on ids, and `encode`.

    Attributes
    ----------
    identity : TokenizerIdentity
    id_space : int
        Upper bound of the ids.
    engine : str or None
        What computes the ids, where there is a choice.
    engine_note : str or None
        What went wrong with a faster engine that was tried.
    requested_engine : str
        What was asked for.
    """

    identity: TokenizerIdentity
    id_space: int
    engine: str | None = None
    engine_note: str | None = None
    requested_engine: str = "auto"

    @abstractmethod
    def encode(self, texts: Sequence[str], n_positions: int) -> TokenBatch:
        """Tokenise with special tokens, truncate to `n_positions`, and return the content tokens."""

    def check(  # noqa: B027  most have no other form to compare with
        self, texts: Texts, n_positions: int, tokens: TokenBatch, documents: NDArray[np.int64]
    ) -> None:
        """Compare some documents' tokens with the reference; nothing to do where there is no other.

        Parameters
        ----------
        texts : Texts
        n_positions : int
        tokens : TokenBatch
            What `encode` gave for them.
        documents : ndarray of int64, shape (k,)
            The documents to compare.

        Raises
        ------
        EngineError
            When they differ.
        """

    def on_reference(self, note: str) -> "Tokenizer":  # noqa: ARG002  for those that have a choice
        """Return the same tokenizer, its ids computed by the reference.

        Parameters
        ----------
        note : str
            Why; it becomes `engine_note`.

        Returns
        -------
        Tokenizer
        """
        return self

    def vocabulary(self) -> list[str] | None:
        """Token strings by id, for an open vocabulary; None where the ids are fixed."""
        return None

    def names(self, tokens: Sequence[int]) -> list[str]:
        """What people call some token ids."""
        return [str(token) for token in tokens]

    def keys(self, tokens: NDArray[np.int64]) -> NDArray[np.uint64]:
        """A number for each token that is the same in every run: its id, where ids are fixed.

        Parameters
        ----------
        tokens : ndarray of int64, shape (k,)

        Returns
        -------
        ndarray of uint64, shape (k,)
        """
        return np.asarray(tokens, np.int64).view(np.uint64)


def sequence_sizes(tokens: TokenBatch, tokenizer: Tokenizer) -> NDArray[np.int64]:
    """Positions that each sequence takes, special tokens included, up to n."""
    if tokens.sizes is not None:
        return tokens.sizes
    return tokens.lengths + tokenizer.identity.n_special_tokens


def number_tokens(
    lengths: NDArray[np.int64], tokens: NDArray[np.int64], cut: NDArray[np.bool_] | None = None
) -> TokenBatch:
    """Number the tokens of each document from position 0."""
    starts = np.cumsum(lengths) - lengths
    positions = np.arange(tokens.size, dtype=np.int64) - np.repeat(starts, lengths)
    return TokenBatch(lengths, positions, tokens, cut=cut)


class ByteTokenizer(Tokenizer):
    """One token per UTF-8 byte, 256 of them; no special tokens."""

    def __init__(self) -> None:
        self.identity = TokenizerIdentity("bytes", "bytes", None, 256, 0)
        self.id_space = 256

    def encode(self, texts: Sequence[str], n_positions: int) -> TokenBatch:
        """Split into bytes."""
        longer = [text[: n_positions + 1].encode()[: n_positions + 1] for text in texts]
        pieces = [piece[:n_positions] for piece in longer]
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        cut = np.fromiter(map(len, longer), np.int64, len(pieces)) > n_positions
        return number_tokens(lengths, np.frombuffer(b"".join(pieces), np.uint8).astype(np.int64), cut)

    def names(self, tokens: Sequence[int]) -> list[str]:
        """Characters of ASCII that can be seen, and the hexadecimal number of other bytes."""
        return [chr(token) if 0x20 < token < 0x7F else f"<0x{token:02X}>" for token in tokens]


class CharTokenizer(Tokenizer):
    """One token per Unicode code point, its id the code point; the vocabulary is what the corpus holds."""

    def __init__(self) -> None:
        self.identity = TokenizerIdentity("chars", "chars", None, None, 0)
        self.id_space = CODE_POINTS

    def encode(self, texts: Sequence[str], n_positions: int) -> TokenBatch:
        """Split into code points."""
        pieces = [text[:n_positions] for text in texts]
        lengths = np.fromiter((len(p) for p in pieces), np.int64, len(pieces))
        codes = np.frombuffer("".join(pieces).encode("utf-32-le"), np.uint32)
        cut = np.fromiter(map(len, texts), np.int64, len(pieces)) > n_positions
        return number_tokens(lengths, codes.astype(np.int64), cut)

    def names(self, tokens: Sequence[int]) -> list[str]:
        """The characters; spaces as what they are called."""
        return [{" ": "space", "\t": "tab"}.get(chr(token), chr(token)) for token in tokens]


class WhitespaceTokenizer(Tokenizer):
    """One token per run of non-space characters; the vocabulary is what the corpus holds.

    Ids are given in order of arrival and are provisional: the counter sorts the vocabulary at the end, so that
    the result does not depend on the order of the documents.
    """

    def __init__(self) -> None:
        self.identity = TokenizerIdentity("whitespace", "whitespace", None, None, 0)
        self.id_space = OPEN_ID_SPACE
        self._ids: dict[str, int] = {}
        self._next = count()
        self._keys = np.empty(1024, np.uint64)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str], n_positions: int) -> TokenBatch:
        """Split at Unicode white space."""
        longer = [text.split(None, n_positions) for text in texts]
        cut = np.fromiter(map(len, longer), np.int64, len(longer)) > n_positions
        pieces = [words[:n_positions] for words in longer]
        lengths = np.fromiter((len(p) for p in pieces), np.int64, len(pieces))
        ids = self._ids
        with self._lock:
            new = []
            for words in pieces:
                for word in words:
                    if word not in ids:
                        ids[word] = next(self._next)
                        new.append(word.encode(errors="surrogatepass"))
            self._add_keys(new)
        tokens = np.fromiter((ids[w] for words in pieces for w in words), np.int64, int(lengths.sum()))
        if len(ids) > OPEN_ID_SPACE:
            raise TokenizerError(f"more than {OPEN_ID_SPACE:,} distinct words: use a tokenizer.json instead")
        return number_tokens(lengths, tokens, cut)

    def _add_keys(self, words: list[bytes]) -> None:
        first = len(self._ids) - len(words)
        if len(self._ids) > self._keys.size:
            self._keys = np.resize(self._keys, 2 * len(self._ids))  # a copy: another thread may read the other
        self._keys[first : len(self._ids)] = digests_of(words)

    def keys(self, tokens: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Hash of each word."""
        return self._keys[tokens]

    def vocabulary(self) -> list[str]:
        """Words in order of arrival."""
        return list(self._ids)
