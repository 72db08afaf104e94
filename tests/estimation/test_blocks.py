import numpy as np
import pytest

from posgeom.estimation.blocks import block_edges, block_means


@pytest.mark.parametrize(("n", "blocks"), [(5, 9), (9, 9), (10, 4), (4096, 96), (129, 96), (1, 4)])
def test_edges_cover_every_row_once(n: int, blocks: int) -> None:
    edges = block_edges(n, blocks)
    sizes = np.diff(edges)
    assert (edges[0], edges[-1]) == (0, n)
    assert sizes.size <= blocks
    assert set(sizes[:-1]) <= {-(-n // blocks)}
    assert 1 <= sizes[-1] <= -(-n // blocks)


def test_means_against_a_loop() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.random((11, 11))
    np.fill_diagonal(matrix, 0)
    edges = block_edges(11, 4)
    means = block_means(matrix, edges)
    for a in range(4):
        for b in range(4):
            rows, columns = range(edges[a], edges[a + 1]), range(edges[b], edges[b + 1])
            assert means[a, b] == pytest.approx(np.mean([matrix[i, j] for i in rows for j in columns if i != j]))
    np.testing.assert_array_equal(block_means(matrix, block_edges(11, 20)), matrix)
