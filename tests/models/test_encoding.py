"""The scheme ``model``: a model's positions beside all other encodings."""

from pathlib import Path

import numpy as np
import pytest

from posgeom.encodings.registry import build_encoding
from posgeom.errors import PosgeomError
from tests.models.raw import bert_tensors, save_bert


def test_a_table(tmp_path: Path) -> None:
    tensors = bert_tensors()
    path = save_bert(tmp_path / "m", tensors)
    encoding = build_encoding(f"model:{path}", n_positions=10, n_dims=7)
    assert (encoding.name, encoding.n_positions, encoding.n_dims) == (f"model:{path}", 10, 128)
    np.testing.assert_array_equal(encoding.coordinates(), tensors["embeddings.position_embeddings.weight"][:10])
    same = build_encoding(f"model:path={path},stack=encoder", n_positions=10, n_dims=7)
    np.testing.assert_array_equal(same.coordinates(), encoding.coordinates())
    name = "embeddings.position_embeddings.weight"
    moved = build_encoding(f"model:{path},tensor={name},offset=3", n_positions=10, n_dims=7)
    np.testing.assert_array_equal(moved.coordinates(), tensors[name][3:13])


def test_what_it_refuses(tmp_path: Path) -> None:
    path = save_bert(tmp_path / "m")
    for spec, message in (
        (f"model:{path}", "has 24 positions, n = 25 was asked for: use -n 24"),
        (f"model:{path},stack=decoder", "has no stack 'decoder': it has encoder"),
        (f"model:{path},head=1", "have no option head"),
        (f"model:{path},form=mds", "have no option form"),
        (f"model:{tmp_path / 'gone'}", "no model at"),
        ("model", "model needs path"),
        (f"model:{path},{path}", "expected option=value"),
    ):
        with pytest.raises(PosgeomError, match=message) as refusal:
            build_encoding(spec, n_positions=25, n_dims=7)
        assert "\n" not in str(refusal.value)


def test_an_untrained_tail_is_refused_unless_it_is_wanted(tmp_path: Path) -> None:
    tensors = bert_tensors()
    tensors["embeddings.position_embeddings.weight"][20:] = np.random.default_rng(0).normal(scale=0.02, size=(4, 128))
    path = save_bert(tmp_path / "m", tensors)
    with pytest.raises(PosgeomError, match=r"from 20 on are untrained .*use -n 20, or say untrained=keep"):
        build_encoding(f"model:{path}", n_positions=24, n_dims=8)
    assert build_encoding(f"model:{path}", n_positions=20, n_dims=8).n_positions == 20
    assert build_encoding(f"model:{path},untrained=keep", n_positions=24, n_dims=8).n_positions == 24


@pytest.mark.models
def test_relative_schemes_of_models(tmp_path: Path) -> None:
    from posgeom.encodings.alibi import alibi
    from posgeom.encodings.rope_config import rope_from_config
    from posgeom.encodings.t5 import t5
    from tests.models.small import build, save

    for name in ("bloom", "mpt"):
        made = build(name)
        got = build_encoding(f"model:{save(made, tmp_path / name)}", n_positions=9, n_dims=8)
        heads = getattr(made.config, "n_head", None) or made.config.n_heads
        np.testing.assert_allclose(got.distances(), alibi(9, form="kernel", heads=heads).distances())
        one = build_encoding(f"model:{tmp_path / name},form=linear,head=1", n_positions=9, n_dims=8)
        np.testing.assert_allclose(one.distances(), alibi(9, form="linear", heads=heads, head=1).distances())
    for name in ("llama", "mistral", "qwen2", "gptj", "gpt_neox", "esm-rotary"):
        got = build_encoding(f"model:{save(build(name), tmp_path / name)}", n_positions=9, n_dims=8)
        assert got.rotation is not None
        assert got.rotation.pairing == ("interleaved" if name == "gptj" else "halves")
    llama = rope_from_config(tmp_path / "llama" / "config.json", 9)
    same = build_encoding(f"model:{tmp_path / 'llama'}", n_positions=9, n_dims=8)
    np.testing.assert_allclose(same.distances(), llama.distances())
    made = build("t5")
    save(made, tmp_path / "t5")
    for side in ("encoder", "decoder"):
        weight = getattr(made, side).block[0].layer[0].SelfAttention.relative_attention_bias.weight.detach().numpy()
        got = build_encoding(f"model:{tmp_path / 't5'},stack={side}", n_positions=9, n_dims=8)
        np.testing.assert_allclose(got.distances(), t5(9, table=weight, causal=side == "decoder").distances())


@pytest.mark.models
def test_an_encoder_saved_alone(tmp_path: Path) -> None:
    import transformers

    from posgeom.models.model import open_model
    from tests.models.small import build, save

    save(build("t5"), tmp_path / "whole")
    transformers.T5EncoderModel.from_pretrained(tmp_path / "whole").save_pretrained(tmp_path / "encoder")
    assert [s.name for s in open_model(tmp_path / "encoder").stacks] == ["encoder"]
