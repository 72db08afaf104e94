"""Tasks made from a corpus: what they ask, and that nothing gives the answer away."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from posgeom.errors import CorpusError, TokenizerError
from posgeom.options import ReadOptions


def make(name: str, corpus: Path, tokenizer: Any, **options: Any) -> Any:
    from posgeom.training.tasks import Vocabulary, make_task

    fold_by = "column:label" if name == "label" else "text"
    vocabulary = Vocabulary(tokenizer, 12)
    return make_task(name, [str(corpus)], vocabulary, options=ReadOptions(column="text", fold_by=fold_by), **options)  # type: ignore[arg-type]


def test_an_order_is_not_in_the_bag_of_words(corpus: Path, tokenizer: Path) -> None:
    task = make("order", corpus, tokenizer)
    assert {name.strip("'") for label in task.labels for name in label.split()[:1]} == {"the", "of"}
    for examples in (task.train, task.held_out):
        twins: dict[int, list[Any]] = {}
        for one in examples:
            twins.setdefault(one.document, []).append(one)
        for a, b in twins.values():  # both of a document are on one side of the split
            assert Counter(a.ids) == Counter(b.ids)
            assert {a.label, b.label} == {0, 1}
            assert a.ids != b.ids
    assert task.chance == 0.5
    token = {"the": 5, "of": 6}
    first = task.labels[1].split("'")[1]
    second = task.labels[0].split("'")[1]
    for one in task.train[:50]:
        assert one.label == int(one.ids.index(token[first]) < one.ids.index(token[second]))


def test_what_is_held_out_does_not_depend_on_order_or_seed(corpus: Path, tokenizer: Path, tmp_path: Path) -> None:
    turned = tmp_path / "turned.jsonl"
    turned.write_text("".join(reversed(corpus.read_text().splitlines(keepends=True))))
    one, other = make("order", corpus, tokenizer, seed=0), make("order", turned, tokenizer, seed=1)
    assert {tuple(e.ids) for e in one.held_out} == {tuple(e.ids) for e in other.held_out}
    assert not {tuple(e.ids) for e in one.held_out} & {tuple(e.ids) for e in one.train}
    assert 0.05 < len(one.held_out) / (len(one.train) + len(one.held_out)) < 0.15


def test_labels_are_those_of_the_column(corpus: Path, tokenizer: Path) -> None:
    task = make("label", corpus, tokenizer, max_documents=700)
    rows = {row["text"]: row["label"] for row in map(json.loads, corpus.read_text().splitlines())}
    assert task.labels == ("early", "late")
    examples = sorted((e for e in task.train), key=lambda e: e.document)
    assert [task.labels[e.label] for e in examples] == [rows[text] for text in task.texts]
    assert len(task.train) + len(task.held_out) == 700


def test_masks_are_drawn_once_and_by_the_seed(corpus: Path, tokenizer: Path) -> None:
    one, same, other = (make("mlm", corpus, tokenizer, seed=seed) for seed in (0, 0, 1))
    assert one.train == same.train
    assert one.train != other.train
    mask = one.vocabulary.mask
    asked = [(ids, label) for e in one.train for ids, label in zip(e.ids, e.label, strict=True) if label >= 0]
    share = len(asked) / sum(len(e.ids) - 2 for e in one.train)
    assert 0.1 < share < 0.2
    assert 0.75 < sum(token == mask for token, _ in asked) / len(asked) < 0.85
    for e in one.train:
        assert any(label >= 0 for label in e.label)
        assert e.label[0] == e.label[-1] == -100  # special tokens are not asked for
        assert all(
            token == label or label < 0 or e.ids[k] in (mask, *range(31))
            for k, (token, label) in enumerate(zip(e.ids, e.label, strict=True))
        )


def test_a_batch_is_padded(torch: Any) -> None:
    from posgeom.training.tasks import Example, collate

    batch = collate([Example([2, 7, 3], 1, 0), Example([2, 3], 0, 1)], 9)
    assert batch["input_ids"].tolist() == [[2, 7, 3], [2, 3, 9]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]
    assert batch["labels"].tolist() == [1, 0]
    batch = collate([Example([2, 7, 3], [-100, 8, -100], 0), Example([2, 3], [-100, 4], 1)], 0)
    assert batch["labels"].tolist() == [[-100, 8, -100], [-100, 4, -100]]


def test_what_cannot_be_made_is_refused(corpus: Path, tokenizer: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.jsonl"
    short.write_text("".join(corpus.read_text().splitlines(keepends=True)[:40]))
    with pytest.raises(CorpusError, match="documents to train on, expected at least 50"):
        make("order", short, tokenizer)
    with pytest.raises(TokenizerError, match=r"training needs a tokenizer\.json"):
        make("order", corpus, "whitespace")
    same = tmp_path / "same.jsonl"
    rows = [json.loads(line) | {"label": "x"} for line in corpus.read_text().splitlines()]
    same.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(CorpusError, match="labels has 1 values"):
        make("label", same, tokenizer)
    from posgeom.training.tasks import Vocabulary, make_task

    with pytest.raises(CorpusError, match="--label NAME"):
        make_task("label", [str(corpus)], Vocabulary(tokenizer, 12), options=ReadOptions(column="text"))


def test_sst2_asks_for_the_and_of(data_dir: Path, bert: Path) -> None:
    """What docs/training-runs.md says of the task on SST-2."""
    from posgeom.training.tasks import Vocabulary, make_task

    read = ReadOptions(column="sentence")
    task = make_task("order", [str(data_dir / "sst2.parquet")], Vocabulary(bert, 64), options=read, max_documents=8000)
    assert task.labels == ("'of' first", "'the' first")
    assert (len(task.texts), len(task.probes)) == (4458, 522)
    assert (len(task.train), len(task.held_out), task.chance) == (2 * 4458, 2 * 522, 0.5)
