"""Counting only documents that are long enough."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import processors

from posgeom.analysis import analyze
from posgeom.counts.counting import count, count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts, write_counts
from posgeom.errors import CorpusError, CountsError
from tests.counts.helpers import check_same_counts, check_same_shingles
from tests.tokenize.engines.helpers import make

N = 16
SETTINGS: dict[str, Any] = {"n_positions": N, "n_folds": 3, "null_replicates": 1}


def documents() -> list[str]:
    """Of 0 to 60 words, some of them long, some spelling out a special token."""
    rng = np.random.default_rng(0)
    words = [
        "the",
        "quick",
        "brown",
        "f\u00f6x",
        "unfathomable" * 3,
        "1,234.5",
        "[SEP]",
        "<|endoftext|>",
        "\u4e2d\u6587",
        "def",
    ]
    return [" ".join(rng.choice(words, rng.integers(0, 60 if i % 3 else 14))) for i in range(400)]


def check(counts: PositionCounts, kept: list[str], tokenizer: Any, n_left_out: int) -> None:
    """The counts of the long documents alone, under another name."""
    alone = count_texts(kept, tokenizer, **SETTINGS)
    for one, other in zip((counts, *counts.null), (alone, *alone.null), strict=True):
        check_same_counts(one, other)
    assert counts.shingles is not None
    assert alone.shingles is not None
    check_same_shingles(counts.shingles, alone.shingles)
    assert counts.short_documents == n_left_out
    assert counts.n_documents == len(kept)


@pytest.mark.parametrize("least", [1, 3, 9, N])
@pytest.mark.parametrize("tokenizer", ["whitespace", "chars", "bytes"])
def test_built_in_tokenizers(tokenizer: str, least: int) -> None:
    texts = documents()
    sizes = {
        "whitespace": [len(text.split()) for text in texts],
        "chars": [len(text) for text in texts],
        "bytes": [len(text.encode()) for text in texts],
    }[tokenizer]
    kept = [text for text, size in zip(texts, sizes, strict=True) if size >= least]
    assert 0 < len(kept) < len(texts)
    check(count_texts(texts, tokenizer, min_length=least, **SETTINGS), kept, tokenizer, len(texts) - len(kept))


@pytest.mark.parametrize("engine", ["auto", "chunks", "reference"])
@pytest.mark.parametrize("kind", ["bert", "gpt2", "llama3", "metaspace-always"])
def test_tokenizer_files_whatever_computes_the_ids(kind: str, engine: str) -> None:
    tokenizer = make(kind)
    texts = documents()
    sizes = [len(encoding.ids) for encoding in tokenizer.encode_batch(texts)]  # of the whole text, nothing cut
    for least in (5, N):
        kept = [text for text, size in zip(texts, sizes, strict=True) if size >= least]
        assert 0 < len(kept) < len(texts)
        counts = count_texts(texts, tokenizer, min_length=least, tokenizer_engine=engine, **SETTINGS)
        check(counts, kept, tokenizer, len(texts) - len(kept))


def test_one_token_less_is_too_short() -> None:
    # [CLS] and [SEP] take two of the positions.
    texts = [" ".join(["the"] * k) for k in range(20)]
    for engine in ("auto", "reference"):
        counts = count_texts(texts, make("bert"), n_positions=10, min_length=10, tokenizer_engine=engine)
        assert (counts.n_documents, counts.short_documents) == (12, 8)
        assert counts.depth.tolist() == [0] + [12] * 8 + [0]


def test_special_tokens_inside_the_content() -> None:
    tokenizer = make("gpt2")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <|endoftext|> $A", special_tokens=[("<|endoftext|>", tokenizer.token_to_id("<|endoftext|>"))]
    )
    texts = documents()
    sizes = [len(encoding.ids) for encoding in tokenizer.encode_batch(texts)]
    kept = [text for text, size in zip(texts, sizes, strict=True) if size >= N]
    assert 0 < len(kept) < len(texts)
    check(count_texts(texts, tokenizer, min_length=N, **SETTINGS), kept, tokenizer, len(texts) - len(kept))


def test_full_length_gives_every_position_the_same_documents() -> None:
    counts = count_texts(documents(), n_positions=N, min_length=N)
    assert counts.depth.tolist() == [counts.n_documents] * N
    assert counts.empty_documents == 0


def test_batches_and_workers_change_nothing() -> None:
    texts = documents()
    one = count_texts(texts, min_length=9, workers=1, **SETTINGS)
    other = count_texts(texts[::-1], min_length=9, workers=3, batch_size=7, **SETTINGS)
    assert one.checksum == other.checksum
    parts = [count_texts(some, min_length=9, **SETTINGS) for some in (texts[:100], texts[100:])]
    merged = parts[0].merge(parts[1])
    assert merged.checksum == one.checksum
    assert merged.short_documents == one.short_documents == sum(part.short_documents for part in parts)
    with pytest.raises(CountsError, match="with minimum length 9 and None"):
        parts[0].merge(count_texts(texts, **SETTINGS))
    assert one.checksum != count_texts([t for t in texts if len(t.split()) >= 9], **SETTINGS).checksum


def test_the_minimum_is_stored(tmp_path: Path) -> None:
    counts = count_texts(documents(), min_length=9, **SETTINGS)
    write_counts(counts, tmp_path / "c.parquet")
    stored = read_counts(tmp_path / "c.parquet")
    assert (stored.min_length, stored.short_documents) == (9, counts.short_documents)
    assert stored.checksum == counts.checksum
    with pytest.raises(Exception, match="min_length was fixed when the counts were made"):
        analyze(stored, min_length=9)


@pytest.mark.parametrize(
    ("least", "message"),
    [
        (0, "minimum length 0: expected 1 to the context length n = 16"),
        (17, "minimum length 17: expected 1 to the context length n = 16, at which sequences are truncated"),
    ],
)
def test_lengths_that_cannot_be_told(least: int, message: str) -> None:
    with pytest.raises(CountsError, match=message):
        count_texts(["a b"], min_length=least, **SETTINGS)


def test_no_document_is_long_enough(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c\nd\n")
    with pytest.raises(
        CorpusError, match=r"all 2 documents in .* take fewer than 4 positions: use a lower --min-length"
    ):
        count(tmp_path / "a.txt", n_positions=4, min_length=4)
    with pytest.raises(CorpusError, match="no documents in"):
        count_texts([], n_positions=4, min_length=4)


def test_counts_of_few_documents_are_checked() -> None:
    counts = count_texts(["a b", "c"], n_positions=4, min_length=2)
    fields = {name: getattr(counts, name) for name in counts.__dataclass_fields__}
    for change, message in (
        ({"min_length": None}, "1 documents are too short, but there is no minimum length"),
        ({"min_length": 5}, "got minimum length 5"),
        ({"short_documents": -1}, "and -1 documents below it"),
    ):
        with pytest.raises(CountsError, match=message):
            PositionCounts(**{**fields, **change})
