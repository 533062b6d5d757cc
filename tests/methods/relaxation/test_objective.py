"""The objective: what it evaluates, and what it keeps."""

from __future__ import annotations

import numpy as np

import landmarks as lm


def test_a_submatrix_is_evaluated_once_for_the_same_columns():
    operator = lm.kernel(np.arange(12.0)[:, None], lm.rbf(sigma=3.0))
    problem = lm.Problem(operator, 3)
    objective = lm.Continuous()._objective(problem, np.random.default_rng(0))
    used = []
    for columns in ([1, 4, 5, 9], [1, 4, 5, 9], [1, 4, 5], [1, 4, 5, 9]):
        before = operator.ledger.columns
        objective(np.array(columns), np.full(len(columns), 0.5))
        used.append(operator.ledger.columns - before)
    assert used == [8, 4, 6, 8]  # a submatrix is kept until another one is used
    assert objective.columns.tolist() == [1, 4, 5, 9]
