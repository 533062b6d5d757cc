"""Sparse columns: odd storage equals the dense matrix, and nothing is written to."""

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm

X = np.where(
    np.random.default_rng(0).random((50, 20)) < 0.2,
    np.random.default_rng(1).standard_normal((50, 20)),
    0.0,
)


def chosen(A):
    return lm.select(A, 6, method="greedy").indices.tolist()


def shuffled():
    """CSC with unsorted indices, whose entries are all stored as two halves."""
    A = scipy.sparse.csc_array(X)
    data, indices = np.repeat(A.data / 2, 2), np.repeat(A.indices, 2)
    for a, b in zip(2 * A.indptr[:-1], 2 * A.indptr[1:], strict=True):
        data[a:b], indices[a:b] = data[a:b][::-1], indices[a:b][::-1]
    return scipy.sparse.csc_array((data, indices, 2 * A.indptr), shape=A.shape)


def test_fault_20_unsorted_duplicate_entries_equal_the_dense_matrix_and_stay_as_they_are():
    A = shuffled()
    before = A.data.tobytes(), A.indices.tobytes(), A.indptr.tobytes()
    assert chosen(A) == chosen(X)
    assert (A.data.tobytes(), A.indices.tobytes(), A.indptr.tobytes()) == before


def test_explicit_zeros_and_long_indices_change_nothing():
    A = scipy.sparse.coo_array(X)
    rows, cols = A.row, A.col
    zeros = (
        np.append(A.data, 0.0),
        (np.append(rows, 3).astype(np.int64), np.append(cols, 3).astype(np.int64)),
    )
    assert chosen(scipy.sparse.coo_array(zeros, shape=X.shape)) == chosen(X)


def test_read_only_arrays_are_accepted():
    A = scipy.sparse.csc_array(X)
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False
    assert chosen(A) == chosen(X)


def test_sparse_input_says_where_it_is_wrong():
    A = X.copy()
    A[3, 5] = np.nan
    with pytest.raises(
        ValueError, match=r"Input X contains NaN \(first at row 3, column 5; 1 in all\)"
    ):
        lm.data(scipy.sparse.csr_array(A))
    A[3, 5] = -np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        lm.data(scipy.sparse.csr_array(A))
    with pytest.raises(ValueError, match="Complex data not supported"):
        lm.data(scipy.sparse.csr_array(X * 1j))
    with pytest.raises(ValueError, match=r"at least one row and one column, got shape \(0, 4\)"):
        lm.data(scipy.sparse.csr_array((0, 4)))


def test_a_matrix_without_entries_has_rank_zero():
    with pytest.warns(lm.errors.RankWarning, match="numerical rank 0 < k = 2"):
        selection = lm.select(scipy.sparse.csr_array((5, 4)), 2, method="greedy")
    assert selection.indices.tolist() == [0, 1] and selection.error() == 0
