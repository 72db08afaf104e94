"""Which engine does a tokenizer: the fastest that is known to, and that passes the self-check."""

import json
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, get_args

from posgeom.errors import TokenizerError
from posgeom.messages import shown
from posgeom.options import EngineName
from posgeom.tokenize.engines.added_tokens import AddedTokens
from posgeom.tokenize.engines.base import Engine, EngineError, UnsupportedTokenizer
from posgeom.tokenize.engines.chunks import ChunkCache
from posgeom.tokenize.engines.reference import Reference
from posgeom.tokenize.engines.selfcheck import adversarial_texts, check_engine, crashes_as_errors
from posgeom.tokenize.engines.spaces import (
    comes_apart_before_spaces,
    punctuation_boundaries,
    split_pattern,
    splits_at_punctuation,
    steps,
    without_prepended_marks,
)


def _nanotoken(definition: str, _: Reference) -> Engine:
    from posgeom.tokenize.engines.nanotoken import Nanotoken

    return Nanotoken(definition)


def _gigatoken(definition: str, _: Reference) -> Engine:
    from posgeom.tokenize.engines.gigatoken import Gigatoken

    return Gigatoken(definition)


def _fastokens(definition: str, _: Reference) -> Engine:
    from posgeom.tokenize.engines.fastokens import Fastokens

    return Fastokens(definition)


def _chunks(definition: str, reference: Reference) -> Engine:
    parsed = json.loads(definition)
    if splits_at_punctuation(parsed):
        return ChunkCache(reference, punctuation_boundaries)
    plain, prepended = without_prepended_marks(parsed)
    if not prepended:
        return ChunkCache(reference)
    from tokenizers import Tokenizer  # here, because `import posgeom` stays light

    return ChunkCache(Reference(Tokenizer.from_str(json.dumps(plain))), prepended=prepended.encode())


_ENGINES: dict[str, Callable[[str, Reference], Engine]] = {
    "nanotoken": _nanotoken,
    "gigatoken": _gigatoken,
    "fastokens": _fastokens,
    "chunks": _chunks,
}

Kind = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Model, normalizers and pre-tokenizers, each with the options that change what an engine has to do."""

_BYTES = "ByteLevel, bytes only"
_MODEL_OPTIONS = ("ignore_merges", "byte_fallback", "fuse_unk", "continuing_subword_prefix", "end_of_word_suffix")
KNOWN: dict[str, frozenset[Kind]] = {
    "nanotoken": frozenset(
        {
            ("WordPiece", ("BertNormalizer",), ("BertPreTokenizer",)),
            ("WordPiece", (), ("BertPreTokenizer",)),
            ("WordPiece", ("NFKC", "Lowercase"), ("Whitespace",)),
            ("WordPiece", ("NFD",), ("WhitespaceSplit", "Punctuation")),
        }
    ),
    "gigatoken": frozenset({("BPE", (), ("ByteLevel",))}),
    "fastokens": frozenset(
        {
            ("BPE", (), ("ByteLevel",)),
            ("BPE", (), ("Split llama3", _BYTES)),
            ("BPE, ignore_merges", (), ("Split llama3", _BYTES)),
            ("BPE", ("NFC",), ("Split qwen2", _BYTES)),
            ("BPE", (), ("Split o200k", _BYTES)),
            ("BPE, ignore_merges", (), ("Split o200k", _BYTES)),
        }
    ),
}
"""Kinds of tokenizer that a compiled engine does exactly, as far as adversarial texts can tell; each is tested so."""


def check_name(name: str) -> None:
    """Refuse a name that is no engine's."""
    if name not in get_args(EngineName):
        names = ", ".join(get_args(EngineName))
        raise TokenizerError(f"no tokenizer engine {shown(name, 60)}: expected one of {names}")


def choose_engine(
    requested: str, definition: Mapping[str, Any], reference: Reference, added: AddedTokens
) -> tuple[Engine | None, str | None]:
    """Choose an engine for a ``tokenizer.json`` without padding and truncation; None is the reference.

    Also says what went wrong with an engine that was tried. One asked for by name that cannot be had is an error.
    """
    check_name(requested)
    if requested == "reference":
        return None, None
    obstacle = _obstacle(definition, reference, added)
    if obstacle is not None:
        if requested != "auto":
            raise TokenizerError(f"engine {requested} cannot do this tokenizer, {obstacle}: use auto or reference")
        return None, None
    notes: list[str] = []
    for name in _ENGINES if requested == "auto" else [requested]:
        if requested == "auto" and not (_is_installed(name) and _is_known(name, definition)):
            continue
        if not _is_known(name, definition):
            raise TokenizerError(f"engine {name} is not known to do this kind of tokenizer exactly: use auto")
        if not _is_installed(name):
            raise TokenizerError(f"engine {name} is not installed: pip install 'posgeom[fast]', or use auto")
        try:
            return _build(name, definition, reference, added), _joined(notes)
        except UnsupportedTokenizer as reason:
            if requested != "auto":
                raise TokenizerError(f"engine {name} cannot do this tokenizer ({reason}): use auto") from None
        except EngineError as error:
            notes.append(f"{error}; not used")
    return None, _joined(notes)


def _build(name: str, definition: Mapping[str, Any], reference: Reference, added: AddedTokens) -> Engine:
    with crashes_as_errors(name):
        engine = _ENGINES[name](json.dumps(definition, ensure_ascii=False), reference)
    vocabulary = definition["model"].get("vocab", {})
    words = sorted(word if isinstance(word, str) else str(word[0]) for word in vocabulary)
    texts = [text for text in adversarial_texts(words) if not added.occur_in(text)]
    check_engine(engine, reference, texts)
    return engine


def _obstacle(definition: Mapping[str, Any], reference: Reference, added: AddedTokens) -> str | None:
    if not reference.takes_all:
        return "which fails on texts with unknown tokens"
    if not reference.surrounds:
        return "whose special tokens stand inside its content"
    if not comes_apart_before_spaces(definition):
        return "which is not known to split its text at spaces"
    if not added.are_plain:
        return "whose added tokens are looked for in the normalised text"
    return None


def kind_of(definition: Mapping[str, Any]) -> Kind:
    """What kind of tokenizer a ``tokenizer.json`` is."""
    model = definition["model"]
    options = [key for key in _MODEL_OPTIONS if model.get(key) and model.get(key) != "##"]  # the usual of WordPiece
    normalizers = steps(definition.get("normalizer"), "normalizers")
    splits = steps(definition.get("pre_tokenizer"), "pretokenizers")
    return (
        ", ".join([str(model.get("type")), *options]),
        tuple(str(step.get("type")) for step in normalizers),
        tuple(map(_split_name, splits)),
    )


def _split_name(step: Mapping[str, Any]) -> str:
    if step.get("type") == "Split":
        return f"Split {split_pattern(step)}"
    if step.get("type") == "ByteLevel":
        return "ByteLevel" if split_pattern(step) else _BYTES
    return str(step.get("type"))


def _is_known(name: str, definition: Mapping[str, Any]) -> bool:
    return name not in KNOWN or kind_of(definition) in KNOWN[name]


def _is_installed(name: str) -> bool:
    return name == "chunks" or find_spec(name) is not None


def _joined(notes: list[str]) -> str | None:
    return "; ".join(notes) or None
