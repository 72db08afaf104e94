"""Tokenizers by name: the built-in ones, and files in the format of the `tokenizers` library."""

import hashlib
import json
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posgeom.corpus.texts import Texts
from posgeom.errors import TokenizerError
from posgeom.messages import one_line, shown
from posgeom.tokenize.engines.added_tokens import AddedTokens
from posgeom.tokenize.engines.base import EngineError, Ragged
from posgeom.tokenize.engines.choice import check_name, choose_engine
from posgeom.tokenize.engines.cutting import Cutter
from posgeom.tokenize.engines.panics import reraise_interrupt, without_panic_lines
from posgeom.tokenize.engines.ragged import assemble, clip_rows, places_in_rows
from posgeom.tokenize.engines.reference import Reference
from posgeom.tokenize.engines.selfcheck import first_difference, guarded
from posgeom.tokenize.engines.spaces import settles_before_spaces
from posgeom.tokenize.tokenizers import (
    ByteTokenizer,
    CharTokenizer,
    TokenBatch,
    Tokenizer,
    TokenizerIdentity,
    WhitespaceTokenizer,
    number_tokens,
)

if TYPE_CHECKING:
    import tokenizers

TokenizerSpec = str | Path | Tokenizer | object
"""What names a tokenizer; see `load_tokenizer`."""


_MAX_CHECKED_BYTES = 200_000
_DROPOUT = "its dropout of merges, {:g}, is switched off"
_TOKENS_SEEN = 2
"""Tokens of a cut document that are looked at, over those needed: they say how dense its tokens are."""


class FastTokenizer(Tokenizer):
    """A tokenizer in the format of the `tokenizers` library.

    Padding, truncation and dropout stored in its file are switched off: the first would count pad tokens, the second
    would cut before `n_positions`, and the third would give other ids on every run.
    """

    def __init__(self, tokenizer: "tokenizers.Tokenizer", name: str, engine: str = "auto") -> None:
        vocab = tokenizer.get_vocab(with_added_tokens=True)
        if not vocab:
            raise TokenizerError(f"tokenizer {shown(name)} has an empty vocabulary")
        # Ids need not be contiguous: a row of an embedding exists for every id up to the largest.
        self.id_space = max(len(vocab), max(vocab.values()) + 1)
        dropout = getattr(tokenizer.model, "dropout", None)
        if dropout:
            tokenizer.model.dropout = None
        self._tokenizer = tokenizer
        self._reference = Reference(tokenizer)
        self._definition = _definition(tokenizer)
        digest = hashlib.sha256(json.dumps(self._definition, sort_keys=True).encode()).hexdigest()
        n_special = tokenizer.num_special_tokens_to_add(False)
        self.identity = TokenizerIdentity("tokenizers", name, digest, self.id_space, n_special)
        self._added = AddedTokens(self._definition)
        self._cutter = Cutter()
        self._can_cut = settles_before_spaces(self._definition)
        self._engine, note = choose_engine(engine, self._definition, self._reference, self._added)
        self._dropout_note = _DROPOUT.format(dropout) if dropout else None
        self.engine_note = _joined(self._dropout_note, note)
        self.engine = (self._engine or self._reference).name
        self.requested_engine = engine

    @classmethod
    def from_definition(cls, definition: str, name: str, engine: str = "auto") -> "FastTokenizer":
        """Load the text of a tokenizer.json; `name` is for results and messages."""
        from tokenizers import Tokenizer as FastTokenizerBackend

        try:
            with without_panic_lines():
                backend = FastTokenizerBackend.from_str(definition)
        except BaseException as error:  # noqa: BLE001  the library raises bare Exception, and its panics are no Exception
            reraise_interrupt(error)
            raise TokenizerError(
                f"{shown(name)} is not a tokenizer.json of the `tokenizers` library: {one_line(error)}"
            ) from None
        return cls(backend, name, engine)

    def definition(self) -> str:
        """The text of its tokenizer.json."""
        return json.dumps(self._definition, ensure_ascii=False)

    def names(self, tokens: Sequence[int]) -> list[str]:
        """The pieces, as the vocabulary writes them; ids that it leaves out are numbers."""
        return [self._tokenizer.id_to_token(token) or str(token) for token in tokens]

    def encode(self, texts: Sequence[str], n_positions: int) -> TokenBatch:
        """Tokenise; a special token is one that the post-processor added, not one spelled out in the text."""
        n_content = n_positions - self.identity.n_special_tokens
        if n_content < 1:
            raise TokenizerError(
                f"n = {n_positions} leaves no room for content: tokenizer {shown(self.identity.name)} adds "
                f"{self.identity.n_special_tokens} special tokens to every sequence; use a larger -n"
            )
        n_more = n_content + 1  # a token that is not counted tells which documents are longer
        documents = Texts.from_strings(texts)
        if not self._reference.surrounds:
            return self._with_specials(documents, n_positions)
        if self._can_cut:
            stops_early = self._engine is not None and self._engine.stops_early
            n_seen = n_more if stops_early else _TOKENS_SEEN * n_more
            more = self._cutter.first_tokens(documents, n_more, lambda some: self._content(some, n_seen))
        else:
            more = self._reference.encode(documents, n_more)
        lengths, tokens = clip_rows(more, n_content)
        self._check_ids(tokens)
        batch = number_tokens(lengths, tokens)
        return TokenBatch(lengths, batch.positions + self._reference.n_before, tokens, cut=more[0] > n_content)

    def check(self, texts: Texts, n_positions: int, tokens: TokenBatch, documents: NDArray[np.int64]) -> None:
        """Compare some documents' tokens with those that the reference gives for the whole text."""
        if self._engine is None:
            return
        starts = np.cumsum(tokens.lengths) - tokens.lengths
        documents = documents[texts.sizes()[documents] <= _MAX_CHECKED_BYTES]
        lengths = tokens.lengths[documents]
        given = tokens.tokens[np.repeat(starts[documents], lengths) + places_in_rows(lengths)]
        n_content = n_positions - self.identity.n_special_tokens
        expected = self._reference.encode(texts.take(documents), n_content)
        place = first_difference((lengths, given), expected, n_content)
        if place is not None:
            raise EngineError(f"{self.engine} differs from {self._reference.name}", int(documents[place]))

    def on_reference(self, note: str) -> "FastTokenizer":
        """Return the same tokenizer without an engine."""
        other = copy(self)
        other._engine, other.engine = None, self._reference.name
        other.engine_note = _joined(self._dropout_note, note)
        other.requested_engine = "reference"
        return other

    def _content(self, texts: Texts, n_content: int) -> Ragged:
        if self._engine is None:
            return self._reference.encode(texts, n_content)
        spelled = self._added.documents(texts)
        if not spelled.size:
            return clip_rows(guarded(self._engine, texts, n_content), n_content)
        others = np.setdiff1d(np.arange(len(texts)), spelled)
        parts = [
            (others, clip_rows(guarded(self._engine, texts.take(others), n_content), n_content)),
            (spelled, self._reference.encode(texts.take(spelled), n_content)),
        ]
        return assemble(len(texts), parts)

    def _with_specials(self, texts: Texts, n_positions: int) -> TokenBatch:
        (lengths, ids), content, cut = self._reference.encode_with_specials(texts, n_positions)
        batch = number_tokens(lengths, ids)
        self._check_ids(ids)
        document = np.repeat(np.arange(lengths.size), lengths)[content]
        content_lengths = np.bincount(document, minlength=lengths.size).astype(np.int64)
        return TokenBatch(content_lengths, batch.positions[content], ids[content], sizes=lengths, cut=cut)

    def _check_ids(self, ids: NDArray[np.int64]) -> None:
        if ids.size and int(ids.max()) >= self.id_space:
            raise TokenizerError(
                f"tokenizer {shown(self.identity.name)} gave id {int(ids.max())}, but its vocabulary has "
                f"{self.id_space} entries: its file is inconsistent"
            )


def _joined(*notes: str | None) -> str | None:
    return "; ".join(filter(None, notes)) or None


def _definition(tokenizer: "tokenizers.Tokenizer") -> dict[str, Any]:
    definition: dict[str, Any] = json.loads(tokenizer.to_str())
    for transient in ("padding", "truncation"):
        definition.pop(transient, None)
    return definition


BUILTIN_TOKENIZERS: dict[str, type[Tokenizer]] = {
    "bytes": ByteTokenizer,
    "chars": CharTokenizer,
    "whitespace": WhitespaceTokenizer,
}


def load_tokenizer(spec: TokenizerSpec, engine: str = "auto") -> Tokenizer:
    """Load a tokenizer by name.

    Parameters
    ----------
    spec : str, Path, Tokenizer, or object of another library
        ``"bytes"``, ``"chars"``, ``"whitespace"``, a ``tokenizer.json``, a model directory that holds one, or
        the name of a model on the Hugging Face hub (``owner/model``). A `Tokenizer` is returned as it is. A
        ``tokenizers.Tokenizer``, or a fast tokenizer of ``transformers``, is copied, so that its padding and
        truncation stay as they are.
    engine : str
        What computes the ids of a ``tokenizer.json``: ``"auto"`` (the fastest exact way there is), ``"reference"``
        (the `tokenizers` library) or one of ``"nanotoken"``, ``"gigatoken"``, ``"fastokens"``, ``"chunks"``.

    Returns
    -------
    Tokenizer

    Raises
    ------
    TokenizerError
        When there is no such tokenizer, or its file cannot be used.
    """
    check_name(engine)
    if isinstance(spec, Tokenizer):
        _refuse_engine(engine, "a tokenizer that is loaded already")
        return spec
    if not isinstance(spec, str | Path):
        return _from_object(spec, engine)
    name = str(spec)
    if name in BUILTIN_TOKENIZERS:
        _refuse_engine(engine, f"the built-in tokenizer {name}")
        return BUILTIN_TOKENIZERS[name]()
    path = Path(name)
    if name and path.is_dir():
        return _from_directory(path, name, engine)
    if path.is_file():
        return _from_file(path, name, engine)
    return _from_hub(name, engine)


def _refuse_engine(engine: str, what: str) -> None:
    if engine not in ("auto", "reference"):
        raise TokenizerError(f"engine {engine} has no part in {what}: leave it out, or name a tokenizer.json")


def _from_object(spec: object, engine: str) -> Tokenizer:
    from tokenizers import Tokenizer as FastTokenizerBackend

    backend = getattr(spec, "backend_tokenizer", spec)
    if not isinstance(backend, FastTokenizerBackend):
        raise TokenizerError(
            f"got {type(spec).__name__} for a tokenizer: expected a name, a path, a tokenizers.Tokenizer, or a fast "
            "tokenizer of transformers"
        )
    name = getattr(spec, "name_or_path", "") or type(spec).__name__
    return FastTokenizer(FastTokenizerBackend.from_str(backend.to_str()), str(name), engine)


def _from_file(path: Path, name: str, engine: str) -> Tokenizer:
    try:
        definition = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TokenizerError(f"cannot read tokenizer {shown(name)}: {one_line(error)}") from None
    return FastTokenizer.from_definition(definition, name, engine)


def _from_directory(path: Path, name: str, engine: str) -> Tokenizer:
    definition = path / "tokenizer.json"
    if definition.is_file():
        return _from_file(definition, name, engine)
    raise TokenizerError(
        f"directory {shown(name)} has no tokenizer.json: write one with "
        "transformers.AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR), or name another with -t"
    )


def _from_hub(name: str, engine: str) -> Tokenizer:
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
    return _from_file(file, name, engine)


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
