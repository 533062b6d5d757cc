"""What all operators share: blocks, memory and indices."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.operators import base, densify, squared_diagonal, storable


def test_blocks_cover_all_indices_once():
    assert np.concatenate(list(base.blocks(10, 3))).tolist() == list(range(10))
    assert [len(block) for block in base.blocks(10, 3)] == [3, 3, 3, 1]


def test_squared_diagonal_does_not_depend_on_the_width_of_its_blocks(monkeypatch, xp):
    operator = lm.psd(xp.asarray(np.diag(np.arange(1.0, 8.0)) + 1))
    whole = squared_diagonal(operator)
    monkeypatch.setattr(base, "block_width", lambda operator: 2)
    assert bool(xp.all(squared_diagonal(operator) == whole))


def test_a_matrix_too_large_to_store_is_refused_before_anything_is_allocated():
    operator = lm.kernel(np.zeros((100_000, 1)), lm.rbf())
    assert not storable(operator)
    with pytest.raises(MemoryError, match=r"storing K needs 74\.5 GiB, above the limit of 4 GiB; use a method that works on products"):
        densify(operator)
    assert operator.ledger.entries == 0


@pytest.mark.parametrize(
    ("indices", "error", "message"),
    [
        ([0, 5], ValueError, "indices must be from 0 to 4, got 0 … 5"),
        ([-1], ValueError, "got -1"),
        ([1, 1], ValueError, "indices must be distinct"),
        ([1.5], TypeError, "indices must be a list of integers, got float64"),
        ([True], TypeError, "got bool"),
        ([[1, 2]], TypeError, r"of shape \(1, 2\)"),
    ],
)
def test_indices_are_distinct_integers_in_range(indices, error, message):
    with pytest.raises(error, match=message):
        base.check_indices(indices, 5)


def test_no_indices_are_indices():
    assert base.check_indices([], 5).tolist() == []
