"""Theorem 4 on checkpoints, with their own tokenizer, embeddings, projections and loss."""

from pathlib import Path

import numpy as np
import pytest

from posgeom.counts.counting import count_texts
from posgeom.errors import PosgeomError
from posgeom.theory.model_run import kernel_of_model, separation_of_model
from posgeom.theory.verdict import Verdict
from tests.models.small import LENGTH, VOCAB, build, save

pytestmark = pytest.mark.models
WORDS = [f"w{k}" for k in range(VOCAB - 4)]


def checkpoint(name: str, directory: Path) -> Path:
    """A small model with a tokenizer of whole words."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordLevel({w: k for k, w in enumerate([*special, *WORDS])}, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    save(build(name), directory)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]"
    )
    fast.save_pretrained(directory)
    return directory


def texts(n_documents: int = 400) -> list[str]:
    """Words that drift with position."""
    rng = np.random.default_rng(0)
    steps = rng.integers(0, 12, (n_documents, 8)) + 3 * np.arange(8)
    return [" ".join(WORDS[k] for k in row) for row in steps]


@pytest.mark.parametrize(("name", "has_loss"), [("bert-masked", True), ("gpt2", True), ("bert", False)])
def test_hypotheses_of_a_checkpoint(name: str, has_loss: bool, tmp_path: Path) -> None:
    path = checkpoint(name, tmp_path)
    counts = count_texts(texts(), str(path / "tokenizer.json"), n_positions=LENGTH)
    result = separation_of_model(path, counts, texts()[:40])
    assert result.h1.positions.tolist() == list(range(1, 9))
    assert result.h1.verdict is Verdict.HOLDS
    assert result.h3.n_told_apart > 0
    assert (result.h2 is not None) == has_loss
    assert (result.verdict is Verdict.NOT_TESTABLE) == has_loss
    assert result.minimum is not None
    assert result.minimum > 0
    if result.h2 is not None:
        pairs = [one.pair for one in result.h2.pairs]
        assert len(pairs) == 28
        assert min(map(min, pairs)) == 1  # special tokens keep their places
        assert max(map(max, pairs)) == 8
        assert {one.n_examples for one in result.h2.pairs} == {40}


def test_another_tokenizer_is_refused(tmp_path: Path) -> None:
    path = checkpoint("bert", tmp_path)
    with pytest.raises(PosgeomError, match="model's tokenizer"):
        separation_of_model(path, count_texts(texts(), "whitespace", n_positions=LENGTH))


def test_tangent_kernel_of_a_checkpoint(tmp_path: Path) -> None:
    path = checkpoint("roberta", tmp_path)  # whose first position is row 2
    counts = count_texts(texts(), str(path / "tokenizer.json"), n_positions=10)
    result = kernel_of_model(path, counts, texts()[:12], n_projections=4)
    assert result.n_pairs == 28
    assert result.explained is not None
    assert 0 <= result.explained < 1
    with pytest.raises(PosgeomError, match="0 of 12 documents have 12 tokens"):
        kernel_of_model(path, count_texts(texts(), str(path / "tokenizer.json"), n_positions=12), texts()[:12])
    with pytest.raises(PosgeomError, match="no table with a tangent kernel"):
        kernel_of_model(checkpoint("t5", tmp_path / "t5"), counts, texts()[:12])
