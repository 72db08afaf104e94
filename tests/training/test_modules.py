"""Tables of positions as torch modules."""

import subprocess
import sys
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import posgeom as pg
from posgeom.errors import EncodingError

N, D, R = 12, 8, 3


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((N, D))


def make(training: Any, kind: str, encoding: Any, **options: Any) -> Any:
    if kind == "full":
        return training.PositionalEmbedding(encoding, **options)
    return training.LowRankPositionalEmbedding(encoding, R, **options)


KINDS = pytest.mark.parametrize("kind", ["full", "low-rank"])


def test_the_full_table_is_the_encoding(training: Any, torch: Any, points: np.ndarray) -> None:
    for given in (points, pg.learned(points), torch.tensor(points, requires_grad=True)):
        module = training.PositionalEmbedding(given)
        assert module.weight.dtype == torch.float32
        np.testing.assert_allclose(module(N).detach().numpy(), points, rtol=1e-6)


def test_it_takes_the_place_of_an_embedding(training: Any, torch: Any, points: np.ndarray) -> None:
    """Same values, same gradient and same state as `nn.Embedding`, rows of padding included."""
    module = training.PositionalEmbedding(points, offset=2, padding_idx=1)
    plain = torch.nn.Embedding(N + 2, D, padding_idx=1)
    plain.load_state_dict(module.state_dict(), strict=True)
    ids = torch.tensor([[2, 3, 4, 1, 1], [2, 0, 13, 1, 1]])
    for one in (module, plain):
        one(ids).square().sum().backward()
    assert torch.equal(module(ids), plain(ids))
    assert torch.equal(module.weight.grad, plain.weight.grad)
    assert not module.weight.grad[1].any()
    assert (module.num_embeddings, module.embedding_dim) == (plain.num_embeddings, plain.embedding_dim)


def test_the_product_is_the_nearest_of_its_rank(training: Any, torch: Any, points: np.ndarray) -> None:
    """Eckart and Young: what is left has the norm of the other singular values; a table of that rank is kept."""
    module = training.LowRankPositionalEmbedding(points, R)
    product = (module.coordinates @ module.axes.T).detach().numpy()
    left = np.linalg.svd(points, compute_uv=False)[R:]
    assert np.linalg.norm(points - product) == pytest.approx(np.linalg.norm(left), rel=1e-5)
    np.testing.assert_allclose((module.axes.T @ module.axes).detach().numpy(), np.eye(R), atol=1e-6)
    again = training.LowRankPositionalEmbedding(product, R)
    np.testing.assert_allclose(again(N).detach().numpy(), product, atol=1e-6)
    assert sum(p.numel() for p in module.parameters()) == R * (N + D)


@KINDS
def test_row_norm(training: Any, torch: Any, points: np.ndarray, kind: str) -> None:
    rows = make(training, kind, points, row_norm=0.5)(N)
    assert rows.square().sum(dim=1).mean().sqrt().item() == pytest.approx(0.5, rel=1e-6)
    assert make(training, kind, points * 7, row_norm=0.5)(N).detach().numpy() == pytest.approx(rows.detach().numpy())


@KINDS
def test_frozen_and_trainable(training: Any, points: np.ndarray, kind: str) -> None:
    assert all(p.requires_grad for p in make(training, kind, points).parameters())
    frozen = make(training, kind, points, trainable=False)
    assert not any(p.requires_grad for p in frozen.parameters())
    assert frozen.state_dict().keys() == make(training, kind, points).state_dict().keys()


@KINDS
def test_state_and_copies(training: Any, torch: Any, points: np.ndarray, kind: str) -> None:
    module, other = make(training, kind, points, offset=1), make(training, kind, points + 1, offset=1)
    ids = torch.arange(N + 1)
    copied = deepcopy(module)
    other.load_state_dict(module.state_dict(), strict=True)
    for one in (other, copied):
        assert torch.equal(one(ids), module(ids))
    with torch.no_grad():
        for parameter in copied.parameters():
            parameter.mul_(2)
    assert not torch.equal(copied(ids), module(ids))


@KINDS
def test_dtypes(training: Any, torch: Any, points: np.ndarray, kind: str) -> None:
    """Under autocast the table stays float32, to the last bit; a module in half precision is rounded once."""
    module, ids = make(training, kind, points), torch.arange(N)
    plain = module(ids).detach()
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(module(ids), plain)
    # What rounds is the table, and of a product both factors too.
    factors = 0 if kind == "full" else module.coordinates.abs() @ module.axes.abs().T
    for dtype, eps in ((torch.float16, 2**-11), (torch.bfloat16, 2**-8)):
        cast = deepcopy(module).to(dtype)
        assert cast(ids).dtype == dtype
        assert ((cast(ids).float() - plain).abs() <= 1.02 * eps * (plain.abs() + 2 * factors) + 1e-6).all()
    assert deepcopy(module).double()(ids).dtype == torch.float64


@KINDS
def test_compiled(training: Any, torch: Any, points: np.ndarray, kind: str) -> None:
    module = make(training, kind, points, offset=2, padding_idx=1)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    ids = torch.tensor([[2, 5, 1]])
    torch.testing.assert_close(compiled(ids), module(ids))
    torch.testing.assert_close(compiled(4), module(4))
    assert torch.equal(module(4), module(torch.arange(2, 6)))


@KINDS
def test_it_learns(training: Any, torch: Any, points: np.ndarray, kind: str) -> None:
    """Gradients reach the parameters: a target of the rank is fitted, and padding rows stay zero."""
    target = torch.tensor(np.linspace(-1, 1, N)[:, None] * np.ones(D), dtype=torch.float32)
    module = make(training, kind, points, offset=1, padding_idx=0)
    optimiser = torch.optim.Adam(module.parameters(), lr=0.05)
    for _ in range(300):
        optimiser.zero_grad()
        loss = (module(torch.arange(1, N + 1)) - target).square().mean() + module(torch.tensor([0])).sum()
        loss.backward()
        optimiser.step()
    assert (module(N) - target).square().mean() < 1e-3
    assert not module.weight[0].any()


def test_transformers_does_not_draw_it_anew(training: Any, torch: Any, points: np.ndarray) -> None:
    """A model of one's own calls `post_init`, which initialises every embedding in it."""
    from transformers import PretrainedConfig, PreTrainedModel

    class Own(PreTrainedModel):
        config_class = PretrainedConfig

        def __init__(self, config: Any) -> None:
            super().__init__(config)
            self.tokens = torch.nn.Embedding(5, D)
            self.positions = training.PositionalEmbedding(points)
            self.narrow = training.LowRankPositionalEmbedding(points, R)
            self.post_init()

    made = Own(PretrainedConfig(initializer_range=0.02))
    np.testing.assert_allclose(made.positions(N).detach().numpy(), points, rtol=1e-6)
    kept = training.LowRankPositionalEmbedding(points, R)
    assert torch.equal(made.narrow(N), kept(N))


@pytest.mark.parametrize(
    ("encoding", "options", "message"),
    [
        (pg.alibi(4, form="kernel"), {}, "has distances but no vectors"),
        (pg.nope(4, 2), {"row_norm": 1.0}, "is zero: it cannot be scaled"),
        (pg.sinusoidal(4, 2), {"row_norm": -1.0}, "row_norm -1: expected a positive number"),
        (pg.sinusoidal(4, 2), {"offset": -1}, "offset -1: expected 0 or more rows"),
        (pg.sinusoidal(4, 2), {"padding_idx": 0}, "padding_idx 0 with offset 0: expected a row before"),
        ([["a"]], {}, "expected real numbers"),
    ],
)
def test_refusals(training: Any, encoding: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        training.PositionalEmbedding(encoding, **options)


def test_refused_ranks_and_lengths(training: Any, points: np.ndarray) -> None:
    for rank in (0, D + 1):
        with pytest.raises(EncodingError, match=f"rank {rank}: expected 1 to {D}"):
            training.LowRankPositionalEmbedding(points, rank)
    with pytest.raises(EncodingError, match=f"got a length of {N + 1}: the table has {N} positions"):
        training.PositionalEmbedding(points)(N + 1)


@pytest.mark.parametrize(
    ("missing", "name", "message"),
    [
        ("torch", "TrainOptions", "posgeom.training needs torch and transformers: pip install 'posgeom[models]'\n"),
        ("transformers", "train", "training needs transformers and accelerate: pip install 'posgeom[models]'\n"),
        ("accelerate", "train", "training needs transformers and accelerate: pip install 'posgeom[models]'\n"),
        ("transformers", "PositionalEmbedding", ""),
    ],
)
def test_what_is_not_installed_is_one_line(missing: str, name: str, message: str) -> None:
    """It says what to install."""
    code = f"""
import sys
sys.modules[{missing!r}] = None
import posgeom
try:
    from posgeom.training import {name}
except posgeom.PosgeomError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == message
