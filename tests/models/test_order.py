"""Order sensitivity: Theorem 1 on real modules, with the encoding taken out and put back."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from posgeom.errors import CheckpointError, PosgeomError
from posgeom.models.interventions import How, altered
from posgeom.models.model import open_model
from posgeom.models.order import order_sensitivity
from tests.models.small import MODELS, build, save

pytestmark = pytest.mark.models

IMAGES = ("vit", "deit", "dinov2", "clip", "siglip", "whisper", "swin", "swinv2")
SINGLE = ("qwen3_moe", "gpt_oss")  # whose experts transformers does not run in double precision
SINES = ("marian", "m2m_100")
TOKENS = [name for name in MODELS if name not in (*IMAGES, *SINGLE, *SINES)]


@pytest.mark.parametrize("name", TOKENS)
def test_gaps(name: str, tmp_path: Path) -> None:
    result = order_sensitivity(save(build(name), tmp_path), n_tokens=8, n_permutations=6)
    assert result.gap > 1000 * result.round_off
    assert result.gap_shuffled > 1000 * result.round_off
    if not result.causal:  # Theorem 1
        assert result.gap_zeroed < 20 * result.round_off
    else:
        assert result.gap_zeroed > 1000 * result.round_off
        assert result.gap_zeroed != result.gap
    assert 0 < result.round_off < 1e-3 * result.largest


@pytest.mark.parametrize("name", TOKENS)
def test_the_model_is_left_as_it_was(name: str, tmp_path: Path) -> None:
    import torch

    made = build(name)
    opened = open_model(save(made, tmp_path))
    base = made.base_model
    stack = opened.stacks[0]
    module = base.get_encoder() if base.config.is_encoder_decoder else base
    ids = torch.arange(5, 13)[None]

    def run() -> np.ndarray:
        with torch.no_grad():
            return np.asarray(module(input_ids=ids, attention_mask=torch.ones_like(ids))[0])

    before = run()
    ways: tuple[How, ...] = ("zeroed", "shuffled")
    for how in ways:
        with altered(base, opened, stack, how, np.array([3, 1, 0, 2, 7, 6, 5, 4])):
            assert np.abs(run() - before).max() > 1e-3
        np.testing.assert_array_equal(run(), before)


def test_identity_order_changes_nothing(tmp_path: Path) -> None:
    import torch

    for name in ("bert", "llama", "gptj", "bloom"):
        made = build(name)
        opened = open_model(save(made, tmp_path / name))
        ids = torch.arange(5, 13)[None]
        with torch.no_grad():
            before = made.base_model(input_ids=ids, attention_mask=torch.ones_like(ids))[0]
            with altered(made.base_model, opened, opened.stacks[0], "shuffled", np.arange(8)):
                after = made.base_model(input_ids=ids, attention_mask=torch.ones_like(ids))[0]
        assert torch.equal(before, after)


def test_a_text_keeps_its_special_tokens(minilm: Path) -> None:
    result = order_sensitivity(minilm, text="the cat sat on the mat and looked at the dog", n_permutations=4)
    assert result.n_tokens == 13
    assert result.gap > 1e4 * result.gap_zeroed
    assert result.gap_zeroed < 50 * result.round_off


def test_code_of_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    path = save(build("bert"), tmp_path / "m")
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(
        json.dumps(config | {"auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}})
    )
    (path / "evil.py").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'sprung')!r}).touch()")
    with suppress(PosgeomError):
        order_sensitivity(path, n_tokens=8, n_permutations=2)
    assert not (tmp_path / "sprung").exists()


def test_missing_weights_are_not_made_up(tmp_path: Path) -> None:
    path = save(build("bert"), tmp_path / "m")
    tensors = load_file(path / "model.safetensors")
    del tensors["encoder.layer.1.attention.self.key.weight"]
    save_file(tensors, path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(PosgeomError, match="lacks weights of its model"):
        order_sensitivity(path, n_tokens=8, n_permutations=2)


def test_refusals(tmp_path: Path) -> None:
    path = save(build("vit"), tmp_path / "vit")
    with pytest.raises(PosgeomError, match="takes no sequence of tokens"):
        order_sensitivity(path)
    bert = save(build("bert"), tmp_path / "bert")
    with pytest.raises(PosgeomError, match="at least 2 and 1"):
        order_sensitivity(bert, n_tokens=1)
    with pytest.raises(PosgeomError, match="has no tokenizer"):
        order_sensitivity(bert, text="a b c")
    with pytest.raises(PosgeomError, match="is one file"):
        order_sensitivity(bert / "model.safetensors")


@pytest.mark.parametrize("name", SINES)
def test_sines_that_are_computed_are_not_taken_out(name: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"its sines are computed in its code|lacks weights of its model"):
        order_sensitivity(save(build(name), tmp_path), n_tokens=6, n_permutations=1)
