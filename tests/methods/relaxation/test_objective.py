"""The objective: what it evaluates, and what it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from errors_of import plain

import landmarks as lm
from landmarks.linalg.probes import Identity
from landmarks.methods.relaxation.relaxed import Relaxed, mean_diagonal


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


X = np.random.default_rng(0).standard_normal((20, 12))
K = X.T @ X


def exact(k: int = 3, **more: object) -> tuple[Relaxed, np.ndarray]:
    """An objective without noise, and the matrix of its operator."""
    problem = lm.Problem(lm.psd(K), k, **more)
    objective = lm.Continuous()._objective(problem, np.random.default_rng(0))
    objective.probes = Identity()
    return objective, np.ldexp(K, -problem.operator.exponent)


def dimension(A: np.ndarray, t: float, delta: float) -> float:
    return float(
        np.trace(t * t * A @ np.linalg.inv(t * t * A + delta * (1 - t * t) * np.eye(len(A))))
    )


@pytest.mark.parametrize("exclude", [(), (1, 5)])
def test_the_effective_dimension_is_that_of_the_formula(exclude):
    objective, A = exact(exclude=exclude)
    kept = np.setdiff1d(np.arange(12), exclude)
    A = A[np.ix_(kept, kept)]
    for t in (0.2, 0.7):
        assert objective._effective_dimension(t) == pytest.approx(
            dimension(A, t, objective.delta), rel=1e-6
        )
    assert objective.evaluations == 2 and objective.unconverged == 0


@pytest.mark.parametrize("k", [2, 6, 10])
def test_the_uniform_weight_has_k_dimensions(k):
    objective, A = exact()
    t = objective.uniform_weight(k)
    logit = np.log(t / (1 - t))
    low, high = (1 / (1 + np.exp(-(logit + off))) for off in (-0.05, 0.05))  # 24/2⁸ wide
    assert dimension(A, low, objective.delta) <= k <= dimension(A, high, objective.delta)
    assert objective.evaluations == 8
    assert objective.uniform_weight(10**6) == 0.99


def test_the_unit_of_a_penalty_is_the_median_of_the_gradient():
    objective, _ = exact(exclude=(3,))
    columns = np.setdiff1d(np.arange(12), [3])
    for t in (0.5, 0.8):
        gradient = np.abs(objective(columns, np.full(11, t)).gradient)
        found = objective.penalty_unit(t)
        assert found == pytest.approx(np.median(gradient), rel=1e-9)
    assert objective.penalty_unit() == objective.penalty_unit(0.5)
    zero = lm.Problem(lm.psd(np.zeros((4, 4))), 2)
    assert lm.Continuous()._objective(zero, np.random.default_rng(0)).penalty_unit() == 1.0


def test_the_mean_of_the_diagonal_is_read_or_estimated():
    rng = np.random.default_rng(0)
    operator = lm.psd(K)
    unit = 2.0**operator.exponent
    assert mean_diagonal(plain(operator), rng) * unit == pytest.approx(np.trace(K) / 12)
    scaled = lm.function(lambda V: 5.0 * V, n=12)
    assert mean_diagonal(plain(scaled), rng) * 2.0**scaled.exponent == pytest.approx(5.0)
    for nothing in (lm.psd(np.zeros((3, 3))), lm.function(lambda V: 0.0 * V, n=3)):
        assert mean_diagonal(plain(nothing), rng) == 1.0
