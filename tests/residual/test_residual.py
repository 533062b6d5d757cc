"""What some picks leave of K: diagonal, products and columns, however K is given."""

from __future__ import annotations

import numpy as np
import pytest
from errors_of import plain

import landmarks as lm
from landmarks._array import host
from landmarks.errors import NotPSDError
from landmarks.operators.forms import Factored
from landmarks.residual import residual as module
from landmarks.residual.residual import Residual, filled, floor, independent

X = np.random.default_rng(2).standard_normal((7, 10))
K = X.T @ X
PICKS = [3, 8, 0]
C = K - K[:, PICKS] @ np.linalg.solve(K[np.ix_(PICKS, PICKS)], K[PICKS])
OPERATORS = {
    "data": lambda: lm.data(X, scale=False),
    "matrix": lambda: lm.psd(K),
    "function": lambda: lm.function(lambda V: K @ V, n=10),
    "factor": lambda: Factored(X),
}
each_operator = pytest.mark.parametrize("name", OPERATORS)


def picked(name: str) -> tuple[Residual, float]:
    operator = OPERATORS[name]()
    residual = Residual(plain(operator), 5)
    for j in PICKS:
        residual.pick(j)
    return residual, 2.0**operator.exponent


@each_operator
def test_it_is_the_dense_residual(name):
    residual, unit = picked(name)
    V = np.random.default_rng(3).standard_normal((10, 2))
    np.testing.assert_allclose(residual.diagonal * unit, np.diag(C), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(residual.matmul(V) * unit, C @ V, rtol=1e-9, atol=1e-12)
    some = np.array([1, 9, 4])
    np.testing.assert_allclose(
        residual.principal(some) * unit, C[np.ix_(some, some)], rtol=1e-9, atol=1e-12
    )
    product, off = residual.leading_digits(V)
    np.testing.assert_allclose(product * unit, C @ V, atol=1e-9 + off * np.abs(K).sum() * unit)
    assert residual.picks == PICKS and np.all(residual.diagonal[PICKS] < 1e-25)
    assert residual.source_pivot(1) * unit == pytest.approx(C[1, 1], rel=1e-9)
    assert not residual.exhausted and residual.left.tolist() == [j not in PICKS for j in range(10)]


@each_operator
def test_its_panel_is_a_factor_of_what_the_picks_rebuild(name):
    residual, unit = picked(name)
    F = host(residual.panel.rows(np.arange(10)))
    np.testing.assert_allclose(F @ F.T * unit, K - C, rtol=1e-9, atol=1e-10)


@each_operator
def test_a_block_of_picks_is_as_one_after_the_other(name):
    residual, unit = picked(name)
    block = np.array([5, 1])
    L = np.linalg.cholesky(C[np.ix_(block, block)] / unit)
    V = residual.pick_block(block, L)
    S = [*PICKS, 5, 1]
    left = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])
    np.testing.assert_allclose(host(V) @ host(V).T * unit, C - left, atol=1e-9)
    np.testing.assert_allclose(residual.diagonal * unit, np.diag(left), atol=1e-9)
    assert residual.picks == S


@each_operator
def test_picks_up_to_the_rank_exhaust_it_and_one_more_adds_nothing(name):
    operator = OPERATORS[name]()
    residual = Residual(plain(operator), 8)
    for j in range(7):
        assert not residual.exhausted
        residual.pick(j)
    assert residual.exhausted
    assert not np.any(host(residual.pick(8))) and residual.picks == [*range(7), 8]


@pytest.mark.parametrize("depth", [1, 2])
@each_operator
def test_its_powers_are_those_of_k(name, depth):
    operator = OPERATORS[name]()
    unit = 2.0**operator.exponent
    powers = Residual(plain(operator), 5).powers(depth)
    expected = [np.diag(K), np.diag(K @ K), np.diag(K @ K @ K)]
    for power, (found, known) in enumerate(
        zip(powers.diagonals, expected[: 1 + depth], strict=True)
    ):
        np.testing.assert_allclose(host(found) * unit ** (power + 1), known, rtol=1e-9)


def test_an_entry_that_rounding_made_negative_counts_as_nothing():
    operator = lm.function(lambda V: np.array([[2.0], [1.0], [-1e-17]]) * V, n=3)
    residual = Residual(plain(operator), 2)
    assert residual.diagonal.tolist() == [2.0, 1.0, 0.0] and residual.whole == 3.0
    assert floor(operator, 2)[2] == 0 and not residual.left[2]


def test_an_indefinite_matrix_is_refused_when_a_pick_shows_it():
    A = np.diag([4.0, 1.0, 1.0])
    A[0, 1] = A[1, 0] = 3.0
    operator = lm.function(lambda V: A @ V, n=3, diagonal=np.diag(A))
    residual = Residual(plain(operator), 2)
    with pytest.raises(NotPSDError, match=r"what columns leave of K\[1, 1\] = 1 is -1.25"):
        residual.pick(0)


def test_the_error_is_a_share_of_the_trace():
    residual, _ = picked("matrix")
    assert residual.relative_error() == pytest.approx(np.trace(C) / np.trace(K), rel=1e-9)
    assert Residual(plain(lm.psd(np.zeros((3, 3)))), 1).relative_error() is None


def test_a_stopped_run_is_filled_up_by_falling_score():
    problem = lm.Problem(lm.psd(K), 4, include=(9,), exclude=(1,))
    scores = np.array([0.0, 9.0, 3.0, 3.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert filled(problem, [9], scores).tolist() == [9, 4, 2, 3]
    assert filled(problem, [9, 2], scores).tolist() == [9, 2, 4, 3]


def test_a_ranking_is_followed_as_far_as_columns_are_independent():
    Y = X.copy()
    Y[:, 1] = 2 * Y[:, 0]
    problem = lm.Problem(lm.data(Y), 4)
    assert independent(problem, np.arange(10)).tolist() == [0, 2, 3, 4]
    included = lm.Problem(lm.data(Y), 4, include=(1,))
    ranking = np.array([0, 1, 2, 3, 4])
    assert sorted(independent(included, ranking).tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("powers", [1, 2])
@each_operator
def test_its_powers_are_computed_from_what_is_left(name, powers, monkeypatch):
    monkeypatch.setattr(module, "block_width", lambda operator: 4)
    residual, unit = picked(name)
    found = residual.source.diagonals(powers)
    assert len(found) == powers + 1
    for power, diagonal in enumerate(found, start=1):
        known = np.diag(np.linalg.matrix_power(C, power))
        np.testing.assert_allclose(host(diagonal) * unit**power, known, rtol=1e-9, atol=1e-9)
