"""Tokenizers by name: the built-in ones, and files in the format of the `tokenizers` library."""

import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.tokenizers import (
    ByteTokenizer,
    CharTokenizer,
    TokenBatch,
    Tokenizer,
    TokenizerIdentity,
    WhitespaceTokenizer,
    number_tokens,
)
from posgeom.errors import TokenizerError
from posgeom.messages import one_line, shown

if TYPE_CHECKING:
    import tokenizers

TokenizerSpec = str | Path | Tokenizer | object
"""What names a tokenizer; see `load_tokenizer`."""


class FastTokenizer(Tokenizer):
    """A tokenizer in the format of the `tokenizers` library.

    Padding and truncation stored in its file are switched off: the first would count pad tokens, the second
    would cut before `n_positions`.
    """

    def __init__(self, tokenizer: "tokenizers.Tokenizer", name: str) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._truncated_to: int | None = None
        self._lock = threading.Lock()
        vocab = tokenizer.get_vocab(with_added_tokens=True)
        if not vocab:
            raise TokenizerError(f"tokenizer {shown(name)} has an empty vocabulary")
        # Ids need not be contiguous: a row of an embedding exists for every id up to the largest.
        vocab_size = max(len(vocab), max(vocab.values()) + 1)
        self.id_space = vocab_size
        self.identity = TokenizerIdentity(
            "tokenizers",
            name,
            _definition_digest(tokenizer),
            vocab_size,
            tokenizer.num_special_tokens_to_add(False),
        )

    @classmethod
    def from_definition(cls, definition: str, name: str) -> "FastTokenizer":
        """Load the text of a tokenizer.json.

        Parameters
        ----------
        definition : str
        name : str
            What to call it in results and messages.

        Returns
        -------
        FastTokenizer

        Raises
        ------
        TokenizerError
            When the text cannot be used.
        """
        from tokenizers import Tokenizer as FastTokenizerBackend

        try:
            backend = FastTokenizerBackend.from_str(definition)
        except Exception as error:  # noqa: BLE001  the library raises bare Exception
            raise TokenizerError(
                f"{shown(name)} is not a tokenizer.json of the `tokenizers` library: {one_line(error)}"
            ) from None
        return cls(backend, name)

    def definition(self) -> str:
        """The text of its tokenizer.json."""
        return str(self._tokenizer.to_str())

    def encode(self, texts: Sequence[str], n_positions: int) -> TokenBatch:
        """Tokenise; a special token is one that the post-processor added, not one spelled out in the text."""
        self._truncate(n_positions)
        try:
            encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=True)
        except Exception as error:  # noqa: BLE001  the library raises bare Exception
            raise TokenizerError(f"tokenizer {shown(self.identity.name)} failed: {one_line(error)}") from None
        lengths = np.fromiter((len(e) for e in encodings), np.int64, len(encodings))
        batch = number_tokens(lengths, _flat([e.ids for e in encodings], lengths))
        content = _flat([e.special_tokens_mask for e in encodings], lengths) == 0
        tokens = batch.tokens[content]
        if tokens.size and int(tokens.max()) >= self.id_space:
            raise TokenizerError(
                f"tokenizer {shown(self.identity.name)} gave id {int(tokens.max())}, but its vocabulary has "
                f"{self.id_space} entries: its file is inconsistent"
            )
        document = np.repeat(np.arange(lengths.size), lengths)[content]
        content_lengths = np.bincount(document, minlength=lengths.size).astype(np.int64)
        return TokenBatch(content_lengths, batch.positions[content], tokens)

    def _truncate(self, n_positions: int) -> None:
        # As models see it: the closing special token keeps its place, and content gives way to it.
        with self._lock:  # one thread sets the length before any of them encodes
            if self._truncated_to == n_positions:
                return
            specials = self.identity.n_special_tokens
            if n_positions <= specials:
                raise TokenizerError(
                    f"n = {n_positions} leaves no room for content: tokenizer {shown(self.identity.name)} adds "
                    f"{specials} special tokens to every sequence; use a larger -n"
                )
            self._tokenizer.enable_truncation(max_length=n_positions, stride=0, direction="right")
            self._truncated_to = n_positions


def _flat(rows: list[list[int]], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.fromiter((x for row in rows for x in row), np.int64, int(lengths.sum()))


def _definition_digest(tokenizer: "tokenizers.Tokenizer") -> str:
    definition: dict[str, Any] = json.loads(tokenizer.to_str())
    for transient in ("padding", "truncation"):
        definition.pop(transient, None)
    return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()


BUILTIN_TOKENIZERS: dict[str, type[Tokenizer]] = {
    "bytes": ByteTokenizer,
    "chars": CharTokenizer,
    "whitespace": WhitespaceTokenizer,
}


def load_tokenizer(spec: TokenizerSpec) -> Tokenizer:
    """Load a tokenizer by name.

    Parameters
    ----------
    spec : str, Path, Tokenizer, or object of another library
        ``"bytes"``, ``"chars"``, ``"whitespace"``, a ``tokenizer.json``, a model directory that holds one, or
        the name of a model on the Hugging Face hub (``owner/model``). A `Tokenizer` is returned as it is. A
        ``tokenizers.Tokenizer``, or a fast tokenizer of ``transformers``, is copied, so that its padding and
        truncation stay as they are.

    Returns
    -------
    Tokenizer

    Raises
    ------
    TokenizerError
        When there is no such tokenizer, or its file cannot be used.
    """
    if isinstance(spec, Tokenizer):
        return spec
    if not isinstance(spec, str | Path):
        return _from_object(spec)
    name = str(spec)
    if name in BUILTIN_TOKENIZERS:
        return BUILTIN_TOKENIZERS[name]()
    path = Path(name)
    if name and path.is_dir():
        return _from_directory(path, name)
    if path.is_file():
        return _from_file(path, name)
    return _from_hub(name)


def _from_object(spec: object) -> Tokenizer:
    from tokenizers import Tokenizer as FastTokenizerBackend

    backend = getattr(spec, "backend_tokenizer", spec)
    if not isinstance(backend, FastTokenizerBackend):
        raise TokenizerError(
            f"got {type(spec).__name__} for a tokenizer: expected a name, a path, a tokenizers.Tokenizer, or a fast "
            "tokenizer of transformers"
        )
    name = getattr(spec, "name_or_path", "") or type(spec).__name__
    return FastTokenizer(FastTokenizerBackend.from_str(backend.to_str()), str(name))


def _from_file(path: Path, name: str) -> Tokenizer:
    try:
        definition = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TokenizerError(f"cannot read tokenizer {shown(name)}: {one_line(error)}") from None
    return FastTokenizer.from_definition(definition, name)


def _from_directory(path: Path, name: str) -> Tokenizer:
    definition = path / "tokenizer.json"
    if definition.is_file():
        return _from_file(definition, name)
    raise TokenizerError(
        f"directory {shown(name)} has no tokenizer.json: write one with "
        "transformers.AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR), or name another with -t"
    )


def _from_hub(name: str) -> Tokenizer:
    choices = "a tokenizer.json, a model directory, a hub name (owner/model), " + ", ".join(BUILTIN_TOKENIZERS)
    looks_like_path = name.startswith((".", "/", "~")) or name.endswith(".json") or name.count("/") > 1
    if looks_like_path or not name.strip():
        raise TokenizerError(f"no tokenizer at {shown(name)}: -t takes {choices}")
    try:
        file = _download(name)
    except Exception as error:  # noqa: BLE001  network, cache and validation errors have no common root
        raise TokenizerError(
            f"no tokenizer {shown(name)} here, and none available from the hub ({one_line(error)[:120]}): -t takes "
            f"{choices}"
        ) from None
    return _from_file(file, name)


def _download(name: str) -> Path:
    """The tokenizer.json of a model on the hub, from there or else from the local cache."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    try:
        # Fails at once without a network, where a download would try again for half a minute.
        get_hf_file_metadata(hf_hub_url(name, "tokenizer.json"))
    except Exception as unreachable:  # noqa: BLE001  as in the caller
        try:
            return Path(hf_hub_download(name, "tokenizer.json", local_files_only=True))
        except Exception:  # noqa: BLE001
            raise unreachable from None  # says more than what the cache lacks
    return Path(hf_hub_download(name, "tokenizer.json"))
