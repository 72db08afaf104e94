"""A corpus whose positions differ, with a tokenizer of its own, small enough to train on in seconds."""

import json
from pathlib import Path

import numpy as np

WORDS = [f"w{k}" for k in range(24)]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_corpus(directory: Path, *, n_documents: int = 900, seed: int = 0) -> Path:
    """JSON lines with ``text`` and ``label``: words early and late in a text differ, `the` and `of` stand anywhere."""
    rng = np.random.default_rng(seed)
    path = directory / "corpus.jsonl"
    with path.open("w") as stream:
        for _ in range(n_documents):
            n = int(rng.integers(6, 11))
            words = [WORDS[int(rng.integers(12)) + (12 if place > 3 else 0)] for place in range(n)]
            first, second = rng.choice(n, 2, replace=False)
            words[first], words[second] = "the", "of"
            stream.write(json.dumps({"text": " ".join(words), "label": "late" if first > second else "early"}) + "\n")
    return path


def write_tokenizer(directory: Path) -> Path:
    """A tokenizer.json of words, with BERT's special tokens."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import TemplateProcessing

    vocabulary = {token: k for k, token in enumerate([*SPECIAL, "the", "of", *WORDS])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    )
    path = directory / "tokenizer.json"
    tokenizer.save(str(path))
    return path
