"""The hypotheses of Theorem 4 at a step: those of `posgeom.theory`, on the model as it is."""

from pathlib import Path
from typing import Any

from posgeom.counts.counting import count_texts
from posgeom.counts.position_counts import PositionCounts
from posgeom.options import ReadOptions
from posgeom.theory.mean_embeddings import mean_embedding_test, projected_embedding_test
from tests.training.test_callback import small_bert


def measured(counts: PositionCounts, task: Any, model: Any) -> Any:
    from posgeom.training.hypotheses import hypotheses

    return hypotheses(counts, task, 0)(model)


def task_of(corpus: Path, tokenizer: Path, name: Any = "order") -> Any:
    from posgeom.training.tasks import Vocabulary, make_task

    return make_task(name, [str(corpus)], Vocabulary(tokenizer, 12), options=ReadOptions(column="text"))


def test_pairs_are_those_of_the_theory(corpus: Path, tokenizer: Path) -> None:
    task = task_of(corpus, tokenizer)
    counts = count_texts(task.texts, tokenizer, n_positions=12)
    model = small_bert()
    row = measured(counts, task, model)
    embedding = model.bert.embeddings.word_embeddings.weight.detach().double().numpy()
    own = model.bert.encoder.layer[0].attention.self
    query, key = (part.weight.detach().double().numpy() for part in (own.query, own.key))
    h1 = mean_embedding_test(counts, embedding)
    h3 = projected_embedding_test(counts, embedding, query, key)
    assert (row["h1"], row["h1_pairs"]) == (h1.n_told_apart, h1.n_pairs)
    assert (row["h3"], row["h3_pairs"]) == (h3.n_told_apart, h3.n_pairs)
    assert 0 < h1.n_told_apart < h1.n_pairs  # early and late words differ, words of one half do not
    assert row["h2_pairs"] == 16
    assert all(row["all"] <= row[name] for name in ("h1", "h2", "h3"))


def test_without_positions_no_swap_of_an_invariant_loss_rises(corpus: Path, tokenizer: Path, training: Any) -> None:
    task = task_of(corpus, tokenizer)
    model = small_bert()
    training.apply_encoding(model, "none")
    row = measured(count_texts(task.texts, tokenizer, n_positions=12), task, model)
    assert row["h2"] == row["all"] == 0


def test_masked_tokens_have_swaps_too(corpus: Path, tokenizer: Path) -> None:
    import transformers

    task = task_of(corpus, tokenizer, "mlm")
    model = transformers.BertForMaskedLM(small_bert().config)
    row = measured(count_texts(task.texts, tokenizer, n_positions=12), task, model)
    assert row["h2_pairs"] == 16
    assert model.training  # the mode it was in
    assert 0 <= row["h2"] <= 16
