r"""Where a text may be taken apart without changing its tokens: before a space that follows a non-space.

The pre-tokenizers listed here end a piece there, whatever stands around it. Those that isolate white space do so at
every space. The regular expressions of the GPT family let a space only begin a piece (`` ?\p{L}+`` and the like) or
belong to a run of white space, none looks behind, and the one that looks ahead, ``\s+(?!\S)``, sees the same on both
sides of such a place. Metaspace begins a piece at every space, and puts its mark before a text that has none there.
"""

import re
import string
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPLIT_PATTERNS = {GPT2: "gpt2", _CL100K % "{1,3}": "llama3", _CL100K % "": "qwen2", _O200K: "o200k"}
"""Regular expressions of Split pre-tokenizers that end a piece before a space after a non-space."""

_ISOLATING = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}
# What these do to a character does not depend on what stands beyond a space, and none makes a character end in one.
_KEEPING_NORMALIZERS = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"}
# These may delete a character; between two spaces that would join them.
_DELETING_NORMALIZERS = {"BertNormalizer", "StripAccents"}
_INNER_BEHAVIORS = {"Isolated", "Contiguous", "Removed"}

MARK = "\u2581"
"""What stands for a space in tokens of the SentencePiece kind."""
# The mark is no white space, but a text that holds it has it where others have a space.
_WIDE_SPACES = [c.encode() for c in f"\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000{MARK}"]
_WIDE_SPACES += [chr(c).encode() for c in range(0x2000, 0x200B)]
_TWO_BYTES, _THREE_BYTES = (
    np.array([int.from_bytes(c, "big") for c in _WIDE_SPACES if len(c) == size]) for size in (2, 3)
)
_SPACE, _DELETE, _ASCII = 0x20, 0x7F, 0x80
_IS_PUNCTUATION = np.isin(np.arange(256), list(string.punctuation.encode()))
_INNER_BOUNDARY = re.compile(r"\S ")
_INNER_MARK = re.compile(f"[^{MARK}]{MARK}")
_WHOLE_WORD_OPTIONS = ("dropout", "ignore_merges", "continuing_subword_prefix", "end_of_word_suffix")
# No normalizer that is allowed here makes a space of these, but for the first, which is at the token's start.
_STAYS_WHOLE = re.compile(r"[ -~]?[!-~]*")


def steps(component: Mapping[str, Any] | None, key: str) -> list[Mapping[str, Any]]:
    """The parts of a normaliser or pre-tokenizer of a ``tokenizer.json``, nested sequences undone."""
    if component is None:
        return []
    if component.get("type") == "Sequence":
        return [step for part in component.get(key, ()) for step in steps(part, key)]
    return [component]


def splits_before_spaces(definition: Mapping[str, Any]) -> bool:
    """Whether a tokenizer is known to give the same tokens when its text is parted before a space after a non-space."""
    splitter = None
    for step in steps(definition.get("pre_tokenizer"), "pretokenizers"):
        kind = step.get("type")
        inner = kind == "Digits" or (kind == "Punctuation" and step.get("behavior") in _INNER_BEHAVIORS)
        if kind in _ISOLATING:
            splitter = splitter or "isolating"
        elif split_pattern(step) is not None or (kind == "Metaspace" and (splitter or step.get("split", True))):
            splitter = splitter or "pattern"
        elif not inner and not (kind == "ByteLevel" and splitter):  # which hides the spaces from later steps
            return False
    normalizers = {step.get("type") for step in steps(definition.get("normalizer"), "normalizers")}
    allowed = _KEEPING_NORMALIZERS | (_DELETING_NORMALIZERS if splitter == "isolating" else set())
    added = definition.get("added_tokens", ())
    return (
        splitter is not None
        and normalizers <= allowed
        and not any(_may_span_a_boundary(token, is_normalised=bool(normalizers)) for token in added)
    )


def settles_before_spaces(definition: Mapping[str, Any]) -> bool:
    """Whether the tokens before a space after a non-space do not depend on what follows.

    So it is where a text may be taken apart there. So it is too where a text goes whole through a unigram model, whose
    best path is found from left to right, or through merges, if spaces become a mark and no token has one after another
    character: every path then goes through such a place.
    """
    if splits_before_spaces(definition):
        return True
    model, added = definition["model"], definition.get("added_tokens", ())
    if model.get("type") not in ("BPE", "Unigram") or any(model.get(option) for option in _WHOLE_WORD_OPTIONS):
        return False
    vocabulary = model.get("vocab", {})
    pieces = [piece if isinstance(piece, str) else str(piece[0]) for piece in vocabulary]
    return (
        _marks_spaces(definition)
        and MARK in pieces
        and not any(_INNER_MARK.search(piece) for piece in pieces)
        and not any(_may_span_a_boundary(token, is_normalised=True) for token in added)
    )


def comes_apart_before_spaces(definition: Mapping[str, Any]) -> bool:
    """Whether what stands between spaces after non-spaces is known to have tokens of its own, whatever is around it.

    Merges do not see each other across a place that none of them crosses. The best path of a unigram model has its
    parts there too; but of paths that score alike it takes one by the rounding of sums that begin where the text does.
    A mark that the normalizer prepends is the first part's alone, see `without_prepended_marks`.
    """
    if definition["model"].get("type") == "BPE":
        return settles_before_spaces(definition)
    return splits_before_spaces(definition)


def without_prepended_marks(definition: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The ``tokenizer.json`` that prepends nothing, and what to prepend to every text that is not empty instead."""
    normalizers = steps(definition.get("normalizer"), "normalizers")
    others = [step for step in normalizers if step.get("type") != "Prepend"]
    normalizer = {"type": "Sequence", "normalizers": others} if others else None
    return {**definition, "normalizer": normalizer}, MARK * (len(normalizers) - len(others))


def only_marks_spaces(definition: Mapping[str, Any]) -> bool:
    """Whether its normalizers do nothing but put marks for spaces, and before a text."""
    return all(map(_is_marking, steps(definition.get("normalizer"), "normalizers")))


def _is_marking(step: Mapping[str, Any]) -> bool:
    if step.get("type") == "Prepend":
        return bool(step.get("prepend") == MARK)
    return step.get("type") == "Replace" and (step.get("pattern"), step.get("content")) == ({"String": " "}, MARK)


def _marks_spaces(definition: Mapping[str, Any]) -> bool:
    """Whether spaces become the mark, and nothing else is done that could join what stands around one."""
    normalizers = steps(definition.get("normalizer"), "normalizers")
    splits = steps(definition.get("pre_tokenizer"), "pretokenizers")
    others = {step.get("type") for step in normalizers if not _is_marking(step)}
    is_marked = any(_is_marking(step) and step.get("type") == "Replace" for step in normalizers)
    if [step.get("type") for step in splits] == ["Metaspace"]:
        is_marked |= splits[0].get("replacement", MARK) == MARK
    elif others or any((step.get("type"), step.get("pattern")) != ("Split", {"String": " "}) for step in splits):
        # A split at spaces finds none that is left; but another normalizer may have made one.
        is_marked &= not splits
    return is_marked and others <= _KEEPING_NORMALIZERS


def _may_span_a_boundary(added: Mapping[str, Any], *, is_normalised: bool) -> bool:
    content = str(added.get("content", ""))
    # Looked for in the normalised text, where a tab, a no-break space or a lone accent may have become a space.
    if is_normalised and added.get("normalized", True) and not _STAYS_WHOLE.fullmatch(content):
        return True
    return _INNER_BOUNDARY.search(content) is not None


def split_pattern(step: Mapping[str, Any]) -> str | None:
    """The name of the known regular expression that a pre-tokenizer splits with, None for any other."""
    if step.get("type") == "ByteLevel":
        return "gpt2" if step.get("use_regex", True) else None
    if step.get("type") != "Split" or step.get("behavior") != "Isolated" or step.get("invert"):
        return None
    pattern = step.get("pattern")
    return SPLIT_PATTERNS.get(pattern.get("Regex", "")) if isinstance(pattern, Mapping) else None


def boundaries(data: bytes) -> NDArray[np.int64]:
    """Offsets of the spaces that follow a character which is not white space, increasing, in UTF-8.

    A control character counts as white space, which loses boundaries and never invents one.
    """
    buffer = np.frombuffer(data, np.uint8)
    spaces = np.flatnonzero(buffer == _SPACE)
    spaces = spaces[spaces > 0]
    before = buffer[spaces - 1]
    is_bound = (before > _SPACE) & (before != _DELETE)
    wide = np.flatnonzero(before >= _ASCII)
    last, middle, first = (buffer[spaces[wide] - k].astype(np.int64) for k in (1, 2, 3))
    two = middle << 8 | last
    is_bound[wide] = ~(np.isin(two, _TWO_BYTES) | np.isin(first << 16 | two, _THREE_BYTES))
    return np.asarray(spaces[is_bound])


def splits_at_punctuation(definition: Mapping[str, Any]) -> bool:
    """Whether a tokenizer also gives the same tokens when its text is taken apart around ASCII punctuation.

    True for BERT's pre-tokenizer, which isolates it, unless a normaliser may compose it with what follows.
    """
    splits = [step.get("type") for step in steps(definition.get("pre_tokenizer"), "pretokenizers")]
    normalizers = {step.get("type") for step in steps(definition.get("normalizer"), "normalizers")}
    return splits == ["BertPreTokenizer"] and normalizers <= {"BertNormalizer"}


def punctuation_boundaries(data: bytes) -> NDArray[np.int64]:
    """The `boundaries`, and the offsets before and after every ASCII punctuation character, increasing."""
    marks = _IS_PUNCTUATION[np.frombuffer(data, np.uint8)]
    is_bound = marks.copy()
    is_bound[1:] |= marks[:-1]
    is_bound[boundaries(data)] = True
    return np.flatnonzero(is_bound)


def is_boundary(data: bytes, space: int) -> bool:
    """Whether a space is among the `boundaries`."""
    if not space:
        return False
    before = data[space - 1]
    if before < _ASCII:
        return _SPACE < before != _DELETE
    return not data.endswith(tuple(_WIDE_SPACES), max(0, space - 3), space)
