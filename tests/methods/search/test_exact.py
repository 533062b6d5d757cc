"""Exact: the optimum of enumeration, with a proof, or a valid bound when time runs out."""

import time
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import landmarks as lm
from landmarks.errors import NotPSDError
from landmarks.proof import counting

CRITERIA = ["trace", "frobenius"]
K3 = np.linalg.inv([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])


def data(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


def residual(K, S):
    return K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S]


def error(K, S, criterion):
    C = residual(K, list(S))
    return np.trace(C) if criterion == "trace" else np.sum(C * C)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "n, k", [(4, 1), (4, 4), (7, 2), (9, 3), (10, 4), (10, 6), (11, 5), (12, 9)]
)
def test_the_choice_is_the_best_of_all(n, k, criterion):
    X = data(n + 3, n, seed=n + k)
    found = lm.select(X, k, method=lm.Exact(), criterion=criterion)
    best = min(error(X.T @ X, S, criterion) for S in combinations(range(n), k))
    assert found.error() == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert found.proved or best < 1e-9


def test_the_certified_matrix_has_the_error_one_fifth():
    found = lm.select(lm.psd(K3), 2, method=lm.Exact())
    assert (
        sorted(found.indices.tolist()) == [0, 1]
        and found.bound == pytest.approx(1 / 5)
        and found.proved
    )


@pytest.mark.parametrize(
    "load, k, factor",
    [(load_wine, 6, 1.53156), (load_breast_cancer, 3, 1.24937), (load_breast_cancer, 4, 1.33577)],
)
def test_known_optima_are_proved(load, k, factor):
    X = load().data
    found = lm.select((X - X.mean(axis=0)) / X.std(axis=0), k, method=lm.Exact())
    assert found.proved and found.factor() == pytest.approx(factor, abs=5e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("ticks", [3, 20, 60])
def test_at_the_deadline_the_bound_is_valid(criterion, ticks, monkeypatch):
    X = data(15, 12)
    problem = lm.Problem(lm.data(X), 6, criterion, deadline=float(ticks))
    clock = iter(range(10**6))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    choice = lm.Exact().choose(problem, np.random.default_rng(0))
    best = min(error(X.T @ X, S, criterion) for S in combinations(range(12), 6))
    scale = np.ldexp(1.0, problem.operator.exponent * (1 if criterion == "trace" else 2))
    assert (
        0 <= choice.bound * scale <= best <= error(X.T @ X, choice.indices, criterion) * (1 + 1e-9)
    )


def test_a_budget_too_short_for_one_node_gives_the_start():
    X = data(20, 1000)
    begun = time.monotonic()
    problem = lm.Problem(lm.data(X), 3, deadline=begun + 0.2)
    choice = lm.Exact().choose(problem, np.random.default_rng(0))
    assert choice.details == {"proved": False, "nodes": 0} and choice.bound == 0.0
    assert time.monotonic() - begun < 5 and len(choice.indices) == 3


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(
        NotPSDError, match="must be positive semidefinite.*clip its negative eigenvalues"
    ):
        lm.select(lm.toeplitz([1.0, 0.9, *[0.0] * 10]), 3, method="exact")


def test_a_search_that_is_stopped_has_the_bound_of_what_is_open():
    X = np.random.default_rng(0).standard_normal((60, 50))
    s = lm.select(X, 14, method="exact", scale=False, callback=lambda p: p.phase == "exact")
    tail = np.sum(np.linalg.svd(X, compute_uv=False)[14:] ** 2)
    assert s.stopped and not s.proved
    assert tail * (1 - 1e-9) <= s.lower_bound() < s.error()


@pytest.mark.parametrize("compiled", [True, False])
def test_groups_whose_columns_nearly_coincide_end_no_worse_than_they_start(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(counting, "library", lambda: None)
    for seed, g, k in ((53, 16, 3), (47, 12, 4), (56, 10, 4)):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(g), rng.integers(1, 4, g))
        n = len(labels)
        X = rng.standard_normal((12, n)) * rng.uniform(1, 10, n)
        for _ in range(n // 3):
            a, b = rng.choice(n, 2, replace=False)
            step = 1e-7 * np.linalg.norm(X[:, a]) * rng.standard_normal(12) / np.sqrt(12)
            X[:, b] = X[:, a] + step
        A = lm.data(X, scale=False)
        whole = lm.Problem(A, k)
        best = min(
            whole.objective.error(A, np.flatnonzero(np.isin(labels, units)))
            for units in combinations(range(g), k)
        )
        for method in ("exact", "auto"):
            s = lm.select(A, k, groups=labels, method=method)
            start = lm.select(A, k, groups=labels, method="knapsack")
            assert s.error() <= start.error() * (1 + 1e-9) + 1e-20 * np.sum(X**2)
            assert s.bound is None or s.lower_bound() <= best * (1 + 1e-9) + 1e-20 * np.sum(X**2)
        assert seed != 53 or s.error() <= best * (1 + 1e-6)
