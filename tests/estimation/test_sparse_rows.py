import numpy as np
import scipy

from posgeom.estimation.sparse_rows import append_row, divide_rows, row_sums

DENSE = np.array([[1.0, 0, 3], [0, 0, 0], [2, 2, 4]])


def test_rows_are_divided_and_summed() -> None:
    matrix = scipy.sparse.csr_array(DENSE)
    np.testing.assert_array_equal(row_sums(matrix), [4, 0, 8])
    np.testing.assert_array_equal(
        divide_rows(matrix, np.array([4.0, 1, 8])).toarray(), DENSE / np.array([[4.0], [1], [8]])
    )


def test_a_row_may_bring_columns() -> None:
    got = append_row(scipy.sparse.csr_array(DENSE), np.array([1.0, 0, 0, 5])).toarray()
    np.testing.assert_array_equal(got[:3], np.pad(DENSE, ((0, 0), (0, 1))))
    np.testing.assert_array_equal(got[3], [1, 0, 0, 5])
