"""Theorem 1 on models with and without an encoding, bidirectional and causal."""

import json
from pathlib import Path

import pytest

from posgeom.errors import PosgeomError
from posgeom.theory.necessity import necessity
from posgeom.theory.verdict import Verdict
from tests.models.small import build, save

pytestmark = pytest.mark.models


@pytest.mark.parametrize("name", ["bert", "albert", "t5", "nomic_bert", "distilbert"])
def test_holds_without_the_encoding_and_not_with_it(name: str, tmp_path: Path) -> None:
    path = save(build(name), tmp_path)
    without = necessity(path, n_tokens=8, n_permutations=4)
    assert without.verdict is Verdict.HOLDS, without.because
    kept = necessity(path, n_tokens=8, n_permutations=4, encoding="kept")
    assert kept.verdict is Verdict.FALSE, kept.because
    assert kept.measured == without.measured
    assert json.loads(json.dumps(without.to_dict()))["measured"]["gap_zeroed"] > 0


def test_an_encoding_that_is_too_small_to_see_in_single_precision_is_seen(tmp_path: Path) -> None:
    """Rows of 1e-6 hide in the round-off of single precision; in double precision the gap does not shrink."""
    import torch

    model = build("bert")
    with torch.no_grad():
        model.embeddings.position_embeddings.weight.mul_(1e-7)
    kept = necessity(save(model, tmp_path), n_tokens=8, n_permutations=4, encoding="kept")
    assert kept.measured.gap < 30 * kept.measured.round_off
    assert kept.verdict is Verdict.FALSE


@pytest.mark.parametrize("name", ["gpt2", "llama", "bloom"])
def test_a_causal_mask_is_order_of_its_own(name: str, tmp_path: Path) -> None:
    result = necessity(save(build(name), tmp_path), n_tokens=8, n_permutations=4)
    assert result.verdict is Verdict.CONVENTION
    assert "causal" in result.because
    assert result.measured.gap_zeroed > 100 * result.measured.round_off


def test_a_table_of_zeros_is_no_encoding(tmp_path: Path) -> None:
    import torch

    model = build("bert")
    with torch.no_grad():
        model.embeddings.position_embeddings.weight.zero_()
    path = save(model, tmp_path)
    assert necessity(path, n_tokens=8, encoding="kept").verdict is Verdict.HOLDS
    with pytest.raises(PosgeomError, match="expected removed or kept"):
        necessity(path, encoding="zeroed")  # type: ignore[arg-type]
