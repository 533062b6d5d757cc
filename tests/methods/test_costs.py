"""Estimates of seconds have the order of magnitude of a present-day machine."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm
from landmarks.methods import costs
from landmarks.operators.base import product_seconds

X = np.random.default_rng(0).standard_normal((1000, 2))
OPERATORS = {
    "kernel": lambda: lm.kernel(X, lm.rbf()),
    "data": lambda: lm.data(X.T),
    "matrix": lambda: lm.psd(np.eye(1000)),
    "function": lambda: lm.function(lambda V: 1.0 * V, n=1000),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_product_with_a_small_matrix_takes_milliseconds(name):
    assert 1e-8 < product_seconds(OPERATORS[name]()) < 0.1


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_a_round_takes_longer_with_more_columns_and_members(criterion):
    small, large = (
        costs.round_seconds(lm.Problem(lm.psd(np.eye(n)), k, criterion))
        for n, k in ((100, 5), (1000, 50))
    )
    assert 1e-5 < small < large < 10


MATRIX = lm.psd(np.eye(1000))
ROWS = lm.data(np.random.default_rng(1).standard_normal((500, 2000)), scale=False)


def problem(operator: object = MATRIX, k: int = 50, criterion: str = "trace", **more) -> lm.Problem:
    return lm.Problem(operator, k, criterion, **more)


@pytest.fixture
def products(monkeypatch):
    """A product takes a hundredth of a second."""
    monkeypatch.setattr(costs, "product_seconds", lambda operator: 0.01)


def test_greedy_and_swaps_take_so_many_products(products):
    assert costs.greedy_seconds(problem()) == pytest.approx(0.6)
    assert costs.swap_seconds(problem()) == pytest.approx(0.35)
    assert costs.frobenius_seconds(problem()) == np.inf
    # greedy, three times the swaps, and 2 n³ multiplications
    assert costs.frobenius_seconds(problem(criterion="frobenius")) == pytest.approx(1.69)
    assert costs.cube_seconds(MATRIX) == pytest.approx(0.04)


def test_annealing_takes_cubes_of_its_candidates(products):
    # 30 products, and two rounds of 20 steps with 300 candidates
    assert costs.candidates_seconds(problem()) == pytest.approx(0.3 + 40 * 300**3 * 1.5e-10)
    assert costs.annealed_seconds(problem()) == pytest.approx(80 * 1000**3 * 1.5e-10)
    few = problem(lm.data(np.ones((30, 100))))
    assert costs.annealed_seconds(few) == pytest.approx(80 * 100 * 30**2 * 1.5e-10)


@pytest.mark.parametrize(
    ("compiled", "criterion", "expected"),
    [
        (True, "trace", 1e-4 + 14 * (1e-5 + 1.1e-4 + 2e-3)),
        (True, "frobenius", 1e-4 + 14 * (1e-5 + 1.8e-4 + 2e-3)),
        (False, "trace", 14 * (2e-4 + 3e-4) + 0.1),
        (False, "frobenius", 14 * (2e-4 + 7e-4) + 0.1),
    ],
)
def test_a_round_on_data_takes_14_moves_over_its_rows(compiled, criterion, expected, monkeypatch):
    monkeypatch.setattr(costs, "compiled", lambda: compiled)
    assert costs.round_seconds(problem(ROWS, criterion=criterion)) == pytest.approx(expected)


@pytest.mark.parametrize(("criterion", "each"), [("trace", 1), ("frobenius", 2)])
def test_a_round_on_a_matrix_also_takes_products(criterion, each, products, monkeypatch):
    monkeypatch.setattr(costs, "compiled", lambda: False)
    monkeypatch.setattr(costs, "SPEED", 4.0)
    passes = {"trace": 3e-9, "frobenius": 7e-9}[criterion]
    function = OPERATORS["function"]()
    for k, moves, share in ((50, 14, 1000 / 120), (5, 5, 5)):
        plain = moves * (2e-4 + 1000 * k * passes)
        found = costs.round_seconds(problem(function, k, criterion))
        assert found == pytest.approx(plain + each * share * 0.01)
        stored = costs.round_seconds(problem(k=k, criterion=criterion))  # with its square
        assert stored == pytest.approx(plain + (each - 1) * share * 0.01)


def test_panels_fit_into_half_of_the_memory(monkeypatch):
    for memory, fits in ((2 * 3 * 1000 * 50 * 8, True), (2 * 3 * 1000 * 50 * 8 - 2, False)):
        monkeypatch.setattr(costs, "free_memory", lambda like, otherwise, memory=memory: memory)
        assert costs.panels_fit(problem()) == fits
