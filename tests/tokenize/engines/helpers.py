"""Small tokenizers of every kind, trained on Python's own sources."""

import inspect
import json
import textwrap
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from posgeom.tokenize.engines.spaces import GPT2, SPLIT_PATTERNS

PATTERNS = {name: pattern for pattern, name in SPLIT_PATTERNS.items()}


def _sources() -> Iterator[str]:
    for module in (json, textwrap, inspect, typing, pytest):
        yield from inspect.getsource(module).splitlines()
    yield from (
        "na\u00efve caf\u00e9 \u4e2d\u6587 \u0440\u0443\u0441 1,234.5",
        "don't we'll DON'T",
    )


def _bpe(pre_tokenizer: Any, normalizer: Any = None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>", "<|pad|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(_sources(), trainer)
    return tokenizer


def _split_bpe(pattern: str, normalizer: Any = None) -> Tokenizer:
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return _bpe(pre_tokenizers.Sequence([split, bytes_]), normalizer)


def _ignoring_merges(name: str) -> Tokenizer:
    parsed = json.loads(_split_bpe(PATTERNS[name]).to_str())
    parsed["model"]["ignore_merges"] = True
    return Tokenizer.from_str(json.dumps(parsed))


def _wordpiece(normalizer: Any, pre_tokenizer: Any) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=1500, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator(_sources(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def _metaspace(pre_tokenizer: Any, normalizer: Any = None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=["<unk>", "<s>"], show_progress=False)
    tokenizer.train_from_iterator(_sources(), trainer)
    return tokenizer


_KINDS: dict[str, Callable[[], Tokenizer]] = {
    "bert": lambda: _wordpiece(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()),
    "bert-cased": lambda: _wordpiece(
        normalizers.BertNormalizer(lowercase=False, strip_accents=False), pre_tokenizers.BertPreTokenizer()
    ),
    "wordpiece-nfkc": lambda: _wordpiece(
        normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]), pre_tokenizers.Whitespace()
    ),
    "gpt2": lambda: _bpe(pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "gpt2-prefix": lambda: _bpe(pre_tokenizers.ByteLevel(add_prefix_space=True)),
    "gpt2-split": lambda: _split_bpe(GPT2),
    "llama3": lambda: _split_bpe(PATTERNS["llama3"]),
    "llama3-ignore-merges": lambda: _ignoring_merges("llama3"),
    "o200k-ignore-merges": lambda: _ignoring_merges("o200k"),
    "wordpiece-plain": lambda: _wordpiece(None, pre_tokenizers.BertPreTokenizer()),
    "qwen2": lambda: _split_bpe(PATTERNS["qwen2"], normalizers.NFC()),
    "o200k": lambda: _split_bpe(PATTERNS["o200k"]),
    "metaspace-always": lambda: _metaspace(pre_tokenizers.Metaspace()),
    "metaspace-first": lambda: _metaspace(pre_tokenizers.Metaspace(prepend_scheme="first"), normalizers.NFKC()),
    "metaspace-never": lambda: _metaspace(pre_tokenizers.Metaspace(prepend_scheme="never")),
    "words-metaspace": lambda: _metaspace(
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    ),
    "digits": lambda: _bpe(
        pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel()])
    ),
    "words-punctuation": lambda: _wordpiece(
        normalizers.NFD(), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    ),
}
KINDS = tuple(_KINDS)
_made: dict[str, Tokenizer] = {}


def make(kind: str) -> Tokenizer:
    """A small tokenizer of a kind, a copy of its own."""
    if kind not in _made:
        _made[kind] = _KINDS[kind]()
    return Tokenizer.from_str(_made[kind].to_str())


def definition(tokenizer: Tokenizer) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(tokenizer.to_str())
    return {key: value for key, value in parsed.items() if key not in ("padding", "truncation")}


def unsplit(kind: str) -> Tokenizer:
    """A tokenizer that never splits its text.

    ``unigram``, ``bpe``, or those whose normalizer marks the spaces: ``llama``, which prepends a mark, and ``gemma``,
    which splits at spaces when none is left.
    """
    model: Any = models.Unigram() if kind == "unigram" else models.BPE(unk_token="<unk>", fuse_unk=True)
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer: Any = (
        trainers.UnigramTrainer(vocab_size=800, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
        if kind == "unigram"
        else trainers.BpeTrainer(vocab_size=1500, special_tokens=["<unk>"], show_progress=False)
    )
    tokenizer.train_from_iterator(_sources(), trainer)
    parsed = json.loads(tokenizer.to_str())
    parsed["pre_tokenizer"]["split"] = False
    marking = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    if kind == "llama":
        parsed["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, marking]}
        parsed["pre_tokenizer"] = None
        parsed["added_tokens"] = [token | {"normalized": True} for token in parsed["added_tokens"]]
    if kind == "gemma":
        parsed["normalizer"] = marking
        splitting = {"pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
        parsed["pre_tokenizer"] = {"type": "Split", **splitting}
        parsed["model"]["byte_fallback"] = True
    return Tokenizer.from_str(json.dumps(parsed))


UNSPLIT_MERGES = ("bpe", "llama", "gemma")
UNSPLIT = ("unigram", *UNSPLIT_MERGES)
