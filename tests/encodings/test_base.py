import numpy as np
import pytest

from posgeom.encodings.base import Encoding, LagEncoding, PointEncoding
from posgeom.encodings.random import random
from posgeom.encodings.rope import rope
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import EncodingError, PosgeomError
from posgeom.estimation.build import geometry
from posgeom.inference.scorecard import score
from posgeom.simulation.synthetic import synthetic


def test_rows_may_stand_for_chosen_positions() -> None:
    encoding = PointEncoding("x", np.array([[0.0], [3.0]]), np.array([1, 4]), 5)
    assert encoding.distances(np.array([1, 4])).tolist() == [[0, 3], [3, 0]]
    with pytest.raises(EncodingError, match="no vector for position 2"):
        encoding.distances(np.array([1, 2]))


@pytest.mark.parametrize(("positions", "n"), [([0, 9], 5), ([-1, 1], 5), ([0], 5), (None, 1)])
def test_rows_and_positions_that_do_not_match(positions: list[int] | None, n: int) -> None:
    labels = None if positions is None else np.array(positions)
    with pytest.raises(EncodingError, match="expected"):
        PointEncoding("x", np.eye(2), labels, n)


@pytest.mark.parametrize("encoding", [sinusoidal(5, 4), sinusoidal(5, 3), random(5, 4), PointEncoding("x", np.eye(5))])
def test_no_positions_and_wrong_positions(encoding: Encoding) -> None:
    assert encoding.distances(np.array([], int)).shape == (0, 0)
    with pytest.raises(EncodingError, match="asked for -1"):
        encoding.distances(np.array([-1, 1]))
    with pytest.raises(EncodingError, match="asked for 5"):
        encoding.distances(np.array([1, 5]))


def test_only_used_positions_are_evaluated() -> None:
    """A context of a hundred million positions costs nothing where ten are used."""
    positions = np.arange(10)
    for make in (sinusoidal, random, rope):
        short, long = make(16, 8), make(100_000_000, 8)
        np.testing.assert_array_equal(long.distances(positions), short.distances(positions))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200, 1e-200])
def test_distances_that_cannot_be_scored(value: float) -> None:
    shape = geometry(synthetic().counts)
    encoding = LagEncoding("odd", 32, None, lambda lags: np.where(lags > 0, value, 0.0))
    with pytest.raises(EncodingError, match="encoding odd has distances of"):
        score(encoding, shape)


def test_negative_seeds() -> None:
    for call in (
        lambda: random(4, 4, seed=-1).distances(),
        lambda: rope(4, 4, reference="gaussian", seed=-1),
        lambda: synthetic(seed=-1),
        lambda: geometry(synthetic().counts, seed=-1),
    ):
        with pytest.raises(PosgeomError, match="seed -1: expected 0 or more"):
            call()
