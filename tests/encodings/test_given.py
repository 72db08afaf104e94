"""Encodings as people have them: arrays, tensors, layers, by name."""

from types import SimpleNamespace

import numpy as np
import pytest

import posgeom as pg
from posgeom.arrays import as_numpy, is_array
from posgeom.encodings.given import as_encodings
from posgeom.errors import EncodingError
from posgeom.simulation.synthetic import synthetic

ROWS = np.random.default_rng(0).standard_normal((32, 4))


class Tensor:
    """What torch's tensors and parameters do: no array of their own while they have gradients, and types of theirs."""

    def __init__(self, rows: np.ndarray, *, brain: bool = False, attached: bool = True) -> None:
        self.rows, self.brain, self.attached = rows, brain, attached
        self.dtype, self.ndim = rows.dtype, rows.ndim

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        raise RuntimeError("Can't call numpy() on a tensor that requires grad")

    def detach(self) -> "Tensor":
        return Tensor(self.rows, brain=self.brain, attached=False)

    def cpu(self) -> "Tensor":
        return self

    def float(self) -> "Tensor":
        return Tensor(self.rows.astype(np.float32), attached=self.attached)

    def numpy(self) -> np.ndarray:
        if self.attached:
            raise RuntimeError("Can't call numpy() on a tensor that requires grad")
        if self.brain:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.rows


def layer(**more: object) -> SimpleNamespace:
    return SimpleNamespace(num_embeddings=32, weight=Tensor(ROWS), **more)


@pytest.mark.parametrize("given", [ROWS, Tensor(ROWS), layer(), layer(padding_idx=None)])
def test_rows_are_read_from_anything(given: object) -> None:
    assert is_array(given)
    np.testing.assert_array_equal(as_numpy(given), ROWS)
    shape = pg.geometry(synthetic().counts)
    assert pg.alignment(given, shape) == pg.alignment(ROWS, shape)  # type: ignore[arg-type]
    np.testing.assert_allclose(as_numpy(Tensor(ROWS, brain=True)), ROWS, rtol=1e-6)


def test_analyze_and_scorecards_take_names() -> None:
    analysis = pg.analyze(
        synthetic().counts, n_dims=4, default_encodings=False,
        encodings={"mine": Tensor(ROWS), "sines": "sinusoidal", "theirs": pg.learned(ROWS)},
    )  # fmt: skip
    assert [row.name for row in analysis.scorecard] == ["mine", "sines", "theirs"]
    assert analysis.scorecard["mine"].alignment == analysis.scorecard["theirs"].alignment
    assert [one.name for one in as_encodings([ROWS, pg.learned(ROWS)])] == ["encodings[0]", "learned"]
    assert [one.name for one in as_encodings(ROWS)] == ["encodings[0]"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([layer(padding_idx=1)], r"keeps row 1 for padding.*layer.weight\[2:\]"),
        ([layer(offset=2)], r"adds 2 to each position"),
        (["rope"], "got str among encodings.*build_encoding"),
        ("rope", "got str for encodings"),
        (3, "got int for encodings"),
        ({1: ROWS}, "for a name, expected a string"),
        ([ROWS[:, 0]], r"shape \(32,\).*values\[:, None\]"),
    ],
)
def test_refusals(given: object, message: str) -> None:
    with pytest.raises(EncodingError, match=message):
        as_encodings(given)
