import numpy as np
import pytest

from posgeom.encodings.bias import Bias
from posgeom.errors import EncodingError

POSITIONS = np.arange(5)


def slanted(query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """One head that falls faster towards the future."""
    relative = np.asarray(key - query)
    return np.asarray(np.where(relative > 0, -2.0, 1.0)[None] * relative)


def test_matrix_and_lags_of_both_directions() -> None:
    bias = Bias(1, slanted, even=False)
    expected = [[slanted(np.array(i), np.array(j))[0] for j in POSITIONS] for i in POSITIONS]
    np.testing.assert_array_equal(bias.matrix(POSITIONS)[0], expected)
    np.testing.assert_array_equal(bias.at_lags(np.array([-2, 0, 3]))[0], [-4, 0, -3])
    np.testing.assert_array_equal(bias.drops(POSITIONS)[0], 1.5 * POSITIONS)  # the mean of both directions


def test_a_causal_mask_hides_the_future() -> None:
    bias = Bias(1, slanted, causal=True, even=False)
    matrix = bias.matrix(POSITIONS)[0]
    assert np.isneginf(matrix[np.triu_indices(5, 1)]).all()
    np.testing.assert_array_equal(matrix[4], [-4, -3, -2, -1, 0])
    assert bias.at_lags(np.array([-2, 0, 3]))[0].tolist() == [-np.inf, 0, -3]
    np.testing.assert_array_equal(bias.drops(POSITIONS)[0], POSITIONS)


def test_drops_between_positions_agree_with_the_matrix_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("posgeom.encodings.bias._BLOCK_CELLS", 10)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(2, 9, 9))

    def look_up(query: np.ndarray, key: np.ndarray) -> np.ndarray:
        return np.asarray(table[:, query, key])

    chosen = np.array([0, 2, 3, 7])
    for causal in (False, True):
        bias = Bias(2, look_up, causal=causal, relative=False, even=False)
        got = bias.drops_between(chosen, lambda drops: drops.sum(axis=0))
        full = (
            np.where(np.tri(9, dtype=bool), table, table.transpose(0, 2, 1))
            if causal
            else (table + table.transpose(0, 2, 1)) / 2
        )
        full = full.sum(axis=0)
        diagonal = np.diagonal(full)
        expected = (diagonal[:, None] + diagonal) / 2 - full
        np.testing.assert_allclose(got, expected[np.ix_(chosen, chosen)], atol=1e-14)


def test_a_bias_of_pairs_has_no_lags() -> None:
    with pytest.raises(EncodingError, match="not on the lag alone"):
        Bias(1, slanted, relative=False).at_lags(POSITIONS)
    assert repr(Bias(3, slanted, causal=True)) == "<Bias: 3 heads, causal>"
