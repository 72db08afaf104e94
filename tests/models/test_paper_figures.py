"""Figures 6 to 8 of the paper for a real BERT of six layers."""

from pathlib import Path

import numpy as np
import pytest

from posgeom.paper.inputs import PaperFiles, open_inputs
from posgeom.paper.items import reproduce
from posgeom.paper.result import Verdict

pytestmark = pytest.mark.models


def test_a_real_bert(minilm: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "looked", "at", "dogs", "again"]
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(" ".join(rng.choice(words[: 4 + i % 8], 6 + i % 20)) for i in range(600)))
    inputs = open_inputs(PaperFiles(sst2=corpus, model=minilm), n_seeds=2)  # counted with the tokenizer of the model
    assert inputs.corpora["sst2"].counts.vocab_size == 30_522
    fig6, fig7, fig8 = reproduce(["fig6", "fig7", "fig8"], inputs).items
    rows = {row.quantity: row for item in (fig6, fig7, fig8) for row in item.rows}
    for quantity in ("violations, pretrained", "Pearson, pretrained"):
        assert rows[quantity].verdict == Verdict.OTHER_INPUT  # six layers of width 384
    violations, raw, fresh = (
        rows[q].ours for q in ("violations, pretrained", "mean over layers", "fresh copy, mean over layers")
    )
    assert violations is not None
    assert violations.value == pytest.approx(31.857, abs=5e-4)  # of its own table, whatever the corpus
    assert raw is not None
    assert fresh is not None
    assert raw.value > 100 * fresh.value
    assert any("6 sets of layer weights" in entry.reason for entry in fig8.missing)
