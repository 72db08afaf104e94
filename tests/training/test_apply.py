"""Encodings put into models, saved, loaded and taken back."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posgeom as pg
from posgeom.errors import CheckpointError, EncodingError
from posgeom.simulation.scenarios import scenarios
from tests.models.small import build, inputs

FAMILIES = {  # name: row of position 0, positions, width of the table
    "bert-masked": (0, 20, 16),
    "distilbert": (0, 20, 16),
    "electra": (0, 20, 8),
    "roberta": (2, 20, 16),
    "xlm-roberta": (2, 20, 16),
    "mpnet": (2, 20, 16),
    "albert": (0, 20, 8),
    "gpt2": (0, 20, 16),
    "gpt_neo": (0, 20, 16),
    "opt": (2, 20, 16),
    "bart": (2, 20, 16),
    "vit": (1, 9, 16),
    "deit": (2, 9, 16),
    "dinov2": (1, 9, 16),
}
RANKS = pytest.mark.parametrize("rank", [None, 3])


def points_for(name: str, seed: int = 0) -> np.ndarray:
    _, n, d = FAMILIES[name]
    return np.random.default_rng(seed).standard_normal((n, d))


def output(name: str, model: Any) -> Any:
    import torch

    with torch.no_grad():
        out = model(**inputs(name, model))
    return out[0] if isinstance(out, tuple) else next(iter(out.values()))


def whole_table(model: Any, applied: Any) -> Any:
    return applied.place.table(model).detach().clone()


@RANKS
@pytest.mark.parametrize("name", FAMILIES)
def test_it_acts_as_a_table_written_by_hand(training: Any, torch: Any, name: str, rank: int | None) -> None:
    """The model's output is that of the same model whose parameter holds the rows; other rows stay."""
    first, n, d = FAMILIES[name]
    model, by_hand = build(name), build(name)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    applied = training.apply_encoding(model, points_for(name), match_norm=False, rank=rank)
    assert (applied.place.first_row, applied.record["n_positions"], applied.record["n_dims"]) == (first, n, d)
    rows = points_for(name)
    if rank is not None:
        left, values, right = np.linalg.svd(rows, full_matrices=False)
        rows = left[:, :rank] * values[:rank] @ right[:rank]
    table = by_hand.get_parameter(applied.place.parameter).data
    table[..., first:, :] = torch.tensor(rows, dtype=torch.float32)
    torch.testing.assert_close(output(name, model), output(name, by_hand))
    torch.testing.assert_close(training.position_table(model).detach(), torch.tensor(rows, dtype=torch.float32))
    old = before[applied.place.parameter]
    assert torch.equal(whole_table(model, applied)[:first], old.reshape(-1, d)[:first])
    training.remove_encoding(model)
    after = model.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[key], before[key]) for key in before)
    assert not hasattr(model.config, "posgeom")
    with pytest.raises(CheckpointError, match="has no encoding that apply_encoding put into it"):
        training.remove_encoding(model)


@RANKS
@pytest.mark.parametrize("trainable", [True, False])
@pytest.mark.parametrize("name", ["bert-masked", "roberta", "opt", "vit", "albert"])
def test_saved_and_loaded(
    training: Any, torch: Any, tmp_path: Path, name: str, trainable: bool, rank: int | None
) -> None:
    model = build(name)
    training.apply_encoding(model, points_for(name), trainable=trainable, rank=rank)
    model.save_pretrained(tmp_path)
    record = json.loads((tmp_path / "config.json").read_text())["posgeom"]
    assert record == model.config.posgeom
    plain = type(model).from_pretrained(tmp_path, attn_implementation="eager").eval()
    loaded = training.from_pretrained(tmp_path, type(model), attn_implementation="eager").eval()
    for one in (plain, loaded):
        assert torch.equal(output(name, one), output(name, model))
    states = [{key: p.requires_grad for key, p in one.named_parameters()} for one in (loaded, model)]
    assert states[0] == states[1]
    for key, parameter in model.named_parameters():
        assert torch.equal(loaded.get_parameter(key), parameter)
    with pytest.raises(CheckpointError, match="a checkpoint does not keep the table before it"):
        training.remove_encoding(loaded)


def test_saved_with_a_head_and_loaded_without(training: Any, torch: Any, tmp_path: Path) -> None:
    """And the other way: names of tensors have other parts before them."""
    from transformers import AutoModel, BertForMaskedLM, BertModel

    model = build("bert-masked")
    training.apply_encoding(model, points_for("bert-masked"), rank=3)
    model.save_pretrained(tmp_path / "head")
    whole = training.from_pretrained(tmp_path / "head")
    assert type(whole) is BertForMaskedLM
    bare = training.from_pretrained(tmp_path / "head", AutoModel)
    assert type(bare) is BertModel
    bare.save_pretrained(tmp_path / "bare")
    again = training.from_pretrained(tmp_path / "bare", BertForMaskedLM)
    for one in (whole, bare, again):
        factors = dict(one.base_model.embeddings.position_embeddings.named_parameters())
        expected = dict(model.base_model.embeddings.position_embeddings.named_parameters())
        assert factors.keys() == expected.keys()
        assert all(torch.equal(factors[key], expected[key]) for key in expected)


def test_half_a_checkpoint_is_refused(training: Any, torch: Any, tmp_path: Path) -> None:
    """Factors of one state and the table of another would be silently wrong."""
    from safetensors.torch import load_file, save_file

    model = build("bert-masked")
    training.apply_encoding(model, points_for("bert-masked"), rank=3)
    model.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    stem = "bert.embeddings.position_embeddings.parametrizations.weight.original"
    changed = tensors | {stem + "0": tensors[stem + "0"] * 1.01}
    save_file(changed, file, {"format": "pt"})
    with pytest.raises(CheckpointError, match="the product of its low-rank factors is not the table that was loaded"):
        training.from_pretrained(tmp_path)
    save_file(tensors | {stem + "1": tensors[stem + "1"][:, :2].contiguous()}, file, {"format": "pt"})
    with pytest.raises(CheckpointError, match=r"has shape \(16, 2\), by its config it has \(16, 3\)"):
        training.from_pretrained(tmp_path)
    save_file({key: value for key, value in tensors.items() if not key.startswith(stem)}, file, {"format": "pt"})
    with pytest.raises(CheckpointError, match="has no tensor 'embeddings"):
        training.from_pretrained(tmp_path)


def test_plain_transformers_says_what_it_leaves(training: Any, tmp_path: Path) -> None:
    model = build("bert-masked")
    training.apply_encoding(model, points_for("bert-masked"), rank=3)
    model.save_pretrained(tmp_path)
    _, loaded = type(model).from_pretrained(tmp_path, output_loading_info=True)
    assert not loaded["missing_keys"]
    stem = "bert.embeddings.position_embeddings.parametrizations.weight.original"
    assert set(loaded["unexpected_keys"]) == {stem + "0", stem + "1"}


def test_compiled(training: Any, torch: Any) -> None:
    model = build("bert-masked")
    training.apply_encoding(model, points_for("bert-masked"), rank=3)
    compiled = torch.compile(model, backend="aot_eager")
    torch.testing.assert_close(output("bert-masked", compiled), output("bert-masked", model))


@RANKS
@pytest.mark.parametrize("name", ["bert-masked", "opt", "vit"])
def test_a_step_of_training(training: Any, torch: Any, name: str, rank: int | None) -> None:
    """Frozen tables stay to the last bit; learned ones move, and stay of their rank."""
    for trainable in (False, True):
        model = build(name)
        training.apply_encoding(model, points_for(name), trainable=trainable, rank=rank)
        start = training.position_table(model).detach().clone()
        optimiser = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.1, weight_decay=0.1)
        output_of = model(**inputs(name, model))
        next(iter(output_of.values())).square().mean().backward()
        optimiser.step()
        end = training.position_table(model).detach()
        assert torch.equal(start, end) is not trainable
        if rank is not None:
            assert np.linalg.matrix_rank(end.numpy(), tol=1e-4) == rank


@RANKS
def test_states_and_copies(training: Any, torch: Any, rank: int | None) -> None:
    """What a Trainer does to resume: a new model with the same encoding takes the state of the old one."""
    first, second = build("bert-masked"), build("bert-masked")
    training.apply_encoding(first, points_for("bert-masked"), rank=rank)
    training.apply_encoding(second, points_for("bert-masked", 1), rank=rank)
    second.load_state_dict(first.state_dict(), strict=True)
    copied = deepcopy(first)
    for one in (second, copied):
        assert torch.equal(output("bert-masked", one), output("bert-masked", first))
        for (_, a), (_, b) in zip(one.named_parameters(), first.named_parameters(), strict=True):
            assert torch.equal(a, b)
    training.remove_encoding(copied)
    assert torch.equal(output("bert-masked", copied), output("bert-masked", build("bert-masked")))


@pytest.mark.parametrize("name", ["bert-masked", "opt", "vit"])
def test_norms_are_matched(training: Any, torch: Any, name: str) -> None:
    model = build(name)
    old = training.position_table(model).square().sum(dim=1).mean().sqrt().item()
    applied = training.apply_encoding(model, points_for(name) * 1000)
    new = training.position_table(model).square().sum(dim=1).mean().sqrt().item()
    assert new == pytest.approx(old, rel=1e-6)
    assert applied.record["row_norm"] == pytest.approx(old, rel=1e-6)


def test_no_positions_at_all(training: Any, torch: Any) -> None:
    """Theorem 1: an encoder without positions permutes its output as its input is permuted."""
    model = build("bert-masked")
    ids = inputs("bert-masked", model)["input_ids"]
    order = torch.tensor([3, 1, 0, 2, 8, 7, 4, 6, 5])
    gaps = []
    for encoding in ("none", "sinusoidal"):
        applied = training.apply_encoding(model, encoding, trainable=True)
        with torch.no_grad():
            gaps.append((model(ids[:, order]).logits - model(ids).logits[:, order]).abs().max().item())
        assert training.position_table(model).requires_grad is (encoding != "none")
        assert applied.record["trainable"] is (encoding != "none")
    assert gaps[0] < 1e-4 < gaps[1] / 100


@RANKS
def test_another_takes_the_place_of_the_first(training: Any, torch: Any, rank: int | None) -> None:
    """The norm that is matched, and what remove_encoding gives back, are those of the model's own table."""
    model, once = build("opt"), build("opt")
    own = training.position_table(model).detach().clone()
    training.apply_encoding(model, points_for("opt"), match_norm=False, rank=rank)
    training.apply_encoding(model, points_for("opt", 1))
    training.apply_encoding(once, points_for("opt", 1))
    assert torch.equal(training.position_table(model), training.position_table(once))
    training.remove_encoding(model)
    assert torch.equal(training.position_table(model), own)


@RANKS
def test_a_loaded_model_takes_another_encoding(training: Any, torch: Any, tmp_path: Path, rank: int | None) -> None:
    """What it was loaded with counts as its own table from there on."""
    model = build("vit")
    training.apply_encoding(model, points_for("vit"), rank=rank, trainable=False)
    model.save_pretrained(tmp_path)
    loaded = training.from_pretrained(tmp_path)
    record, table = loaded.config.posgeom, training.position_table(loaded).detach().clone()
    training.apply_encoding(loaded, "sinusoidal", rank=2)
    training.remove_encoding(loaded)
    assert loaded.config.posgeom == record
    assert torch.equal(training.position_table(loaded), table)
    assert not training.position_table(loaded).requires_grad


def test_the_other_stack(training: Any, torch: Any) -> None:
    model = build("bart")
    before = model.state_dict()["model.encoder.embed_positions.weight"].clone()
    applied = training.apply_encoding(model, points_for("bart"), stack="decoder")
    assert applied.place.parameter == "model.decoder.embed_positions.weight"
    assert torch.equal(model.state_dict()["model.encoder.embed_positions.weight"], before)
    with pytest.raises(CheckpointError, match="has no stack 'middle': it has 'encoder', 'decoder'"):
        training.apply_encoding(model, "none", stack="middle")


def test_half_precision(training: Any, torch: Any) -> None:
    model = build("bert-masked").to(torch.bfloat16)
    training.apply_encoding(model, points_for("bert-masked"), rank=4)
    assert training.position_table(model).dtype == torch.bfloat16
    assert output("bert-masked", model).isfinite().all()


def test_a_spec_is_built_for_the_model(training: Any) -> None:
    model = build("albert")
    applied = training.apply_encoding(model, "sinusoidal:base=100", match_norm=False)
    expected = pg.sinusoidal(20, 8, base=100).coordinates()
    assert expected is not None
    np.testing.assert_allclose(training.position_table(model).detach().numpy(), expected, atol=1e-6)
    assert applied.record["scheme"] == "sinusoidal"
    assert applied.record["options"]["base"] == 100


@pytest.mark.parametrize(
    ("name", "encoding", "options", "error", "message"),
    [
        (
            "bert",
            np.eye(5, 16),
            {},
            EncodingError,
            "has 5 positions, the model has 20: build it for n = 20",
        ),
        ("bert", np.eye(20, 8), {}, EncodingError, "has width d = 8, the model's table has 16: build it with"),
        ("bert", np.eye(20, 16), {"rank": 17}, EncodingError, "rank 17: expected 1 to 16"),
        ("bert", "alibi", {}, EncodingError, "has width d = 1, the model's table has 16"),
        ("bert", "nothing", {}, EncodingError, "no encoding 'nothing'"),
        ("llama", "sinusoidal", {}, CheckpointError, "has positions of kind rotary, no table"),
        ("t5", "sinusoidal", {}, CheckpointError, "has positions of kind t5, no table"),
    ],
)
def test_refusals(
    training: Any, torch: Any, name: str, encoding: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    """A refused encoding leaves the model as it was."""
    model = build(name)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    with pytest.raises(error, match=message):
        training.apply_encoding(model, encoding, **options)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert not hasattr(model.config, "posgeom")


def test_refused_models(training: Any, torch: Any, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="got Linear: expected a model of transformers"):
        training.apply_encoding(torch.nn.Linear(2, 2), "none")
    model = build("bert")
    model.config.model_type = "mine"
    with pytest.raises(CheckpointError, match="model_type 'mine', which is not known"):
        training.apply_encoding(model, "none")
    build("bert").save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="has no encoding of posgeom in its config"):
        training.from_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="cannot be loaded by transformers"):
        training.from_pretrained(tmp_path / "none")


def test_a_fresh_table_of_zeros_gives_no_norm(training: Any, torch: Any) -> None:
    model = build("deit")
    with torch.no_grad():
        model.embeddings.position_embeddings.zero_()
    with pytest.raises(EncodingError, match="table is zero, which nothing can be scaled to: say match_norm=False"):
        training.apply_encoding(model, "sinusoidal")
    applied = training.apply_encoding(model, "sinusoidal", match_norm=False)
    before = training.position_table(model).detach().clone()
    with pytest.raises(EncodingError, match="table is zero, which nothing can be scaled to"):
        training.apply_encoding(model, "random")
    assert torch.equal(training.position_table(model), before)
    assert model.config.posgeom == applied.record


@pytest.mark.parametrize(
    ("key", "value"),
    [("rank", "3"), ("rank", 0), ("rank", 17), ("trainable", "yes"), ("stack", 3), ("stack", "middle")],
)
def test_a_config_that_was_tampered_with(training: Any, tmp_path: Path, key: str, value: Any) -> None:
    model = build("bert-masked")
    training.apply_encoding(model, points_for("bert-masked"))
    model.config.posgeom = model.config.posgeom | {key: value}
    model.save_pretrained(tmp_path)
    with pytest.raises((CheckpointError, EncodingError), match=str(value)):
        training.from_pretrained(tmp_path)


def test_a_file_of_posgeom_fit(training: Any, torch: Any, tmp_path: Path) -> None:
    """Its table goes in, scaled, and the config says how it was fitted."""
    counts = scenarios()["rank 3"].draw(np.random.default_rng(0))
    encoding = pg.fit_encoding(pg.geometry(counts), 16, counts=counts)
    file = tmp_path / "mds.safetensors"
    pg.export(encoding, file)
    for given in (file, str(file), encoding):
        model = build("gpt2")
        training.apply_encoding(model, given, rank=3)
        rows = training.position_table(model).detach().double().numpy()
        expected = encoding.coordinates(np.arange(20))
        assert expected is not None
        np.testing.assert_allclose(rows / np.linalg.norm(rows), expected / np.linalg.norm(expected), atol=1e-6)
        assert model.config.posgeom["fit"]["corpus"]["checksum"] == counts.checksum
        model.save_pretrained(tmp_path / "model")


@pytest.mark.parametrize(("rank", "trainable"), [(None, False), (3, True), (3, False)])
def test_a_trainer_resumes(training: Any, torch: Any, tmp_path: Path, rank: int | None, trainable: bool) -> None:
    """Stopped half-way and resumed, a run ends with the same weights, factors of low rank among them."""
    from transformers import Trainer, TrainingArguments

    tokens = torch.randint(5, 40, (16, 9), generator=torch.Generator().manual_seed(0))
    rows = [{"input_ids": row, "labels": row} for row in tokens]

    def trained(directory: str, steps: int, resume: str | None = None) -> Any:
        model = build("bert-masked")
        training.apply_encoding(model, points_for("bert-masked"), rank=rank, trainable=trainable)
        arguments = TrainingArguments(
            str(tmp_path / directory),
            max_steps=steps,
            lr_scheduler_type="constant",
            learning_rate=0.01,
            save_steps=2,
            per_device_train_batch_size=4,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        Trainer(model=model, args=arguments, train_dataset=rows).train(resume_from_checkpoint=resume)
        return model

    start = build("bert-masked")
    training.apply_encoding(start, points_for("bert-masked"), rank=rank)
    whole = trained("whole", 4)
    trained("half", 2)
    resumed = trained("half", 4, str(tmp_path / "half" / "checkpoint-2"))
    for (_, a), (_, b) in zip(whole.named_parameters(), resumed.named_parameters(), strict=True):
        assert torch.equal(a, b)
    moved = not torch.equal(training.position_table(whole), training.position_table(start))
    assert moved is trainable
    loaded = training.from_pretrained(tmp_path / "half" / "checkpoint-4")
    assert torch.equal(training.position_table(loaded), training.position_table(whole))
