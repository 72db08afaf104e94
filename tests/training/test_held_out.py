"""Loss and accuracy on what is held out, against a slow form."""

from pathlib import Path

import numpy as np
import pytest

from posgeom.errors import PosgeomError
from posgeom.options import ReadOptions
from tests.training.test_callback import small_bert


def test_several_examples_of_a_document_count_as_one(corpus: Path, tokenizer: Path) -> None:
    import torch

    from posgeom.training.held_out import held_out_scores
    from posgeom.training.tasks import Vocabulary, make_task

    task = make_task("order", [str(corpus)], Vocabulary(tokenizer, 12), options=ReadOptions(column="text"))
    model = small_bert()
    found = held_out_scores(model, task.held_out, 0)
    assert model.training
    model.eval()
    by_document: dict[int, list[tuple[float, bool]]] = {}
    for one in task.held_out:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([one.ids])).logits[0].double()
        loss = float(-torch.log_softmax(logits, 0)[one.label])
        by_document.setdefault(one.document, []).append((loss, int(logits.argmax()) == one.label))
    for name, column in (("loss", 0), ("accuracy", 1)):
        means = [np.mean([float(pair[column]) for pair in pairs]) for pairs in by_document.values()]
        assert found[name] == pytest.approx(np.mean(means), rel=1e-5)
        assert found[f"{name}_error"] == pytest.approx(np.std(means, ddof=1) / np.sqrt(len(means)), rel=1e-3, abs=1e-9)


def test_a_run_that_diverged_is_refused() -> None:
    from posgeom.training.held_out import held_out_scores
    from posgeom.training.tasks import Example

    model = small_bert()
    model.classifier.weight.data[:] = float("nan")
    with pytest.raises(PosgeomError, match="training diverged"):
        held_out_scores(model, [Example([2, 7, 3], 1, 0), Example([2, 8, 3], 0, 1)], 0)
