"""Leverage mean-field annealing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 6)) @ RNG.standard_normal((6, 24)) + 0.3 * RNG.standard_normal(
    (30, 24)
)
SHORT = lm.Annealed(n_steps=20, damping=0.4)


def test_small_problems_are_solved_as_enumeration_solves_them():
    operator = lm.data(X[:, :9])
    best = min(selection_error(operator, S, "trace") for S in itertools.combinations(range(9), 3))
    found = lm.select(operator, 3, method=lm.Annealed()).indices
    assert selection_error(operator, found, "trace") == pytest.approx(best, rel=1e-9)


def test_it_finds_the_pair_that_greedy_misses():
    M = np.array([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    s = lm.select(lm.psd(np.linalg.inv(M)), 2, method=lm.Annealed())
    assert sorted(s.indices.tolist()) == [0, 1]
    assert s.error() == pytest.approx(0.2)


def test_all_places_may_be_taken_by_included_columns():
    assert lm.select(X, 2, method=SHORT, include=[4, 1]).indices.tolist() == [4, 1]


def test_excluded_columns_still_count_in_the_error():
    Y = np.zeros((4, 4))
    Y[0, 0], Y[0, 1:3], Y[1, 3] = (
        1.0,
        5.0,
        2.0,
    )  # column 0 stands for the excluded 1 and 2, which outweigh column 3
    assert lm.select(Y, 1, method=lm.Annealed(), exclude=[1, 2]).indices.tolist() == [0]


def test_a_wide_matrix_and_its_gram_matrix_give_the_same_choice():
    wide = np.random.default_rng(5).standard_normal((8, 40))
    by_factor = lm.select(wide, 4, method=SHORT).indices
    assert by_factor.tolist() == lm.select(lm.psd(wide.T @ wide), 4, method=SHORT).indices.tolist()


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_of_many_columns_a_sample_is_annealed_and_the_choice_is_no_worse_than_that_of_greedy(
    criterion,
):
    points = lm.kernel(RNG.standard_normal((3001, 2)), lm.rbf(0.7))
    errors = [
        lm.select(points, 6, method=method, criterion=criterion, include=[3000]).error()
        for method in ("annealed", "greedy")
    ]
    assert errors[0] <= errors[1] * (1 + 1e-9)
    assert len(lm.select(points, 6, method=lm.Annealed(sweeps=0), exclude=[0])) == 6


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_it_is_never_above_greedy_on_smooth_problems(criterion):
    grid = lm.kernel(np.linspace(0, 1, 200)[:, None], lm.matern(nu=1.5, sigma=0.3))
    for k in (5, 20):
        annealed, greedy = (
            lm.select(grid, k, method=method, criterion=criterion).error()
            for method in (lm.Annealed(), "greedy")
        )
        assert annealed <= greedy


@pytest.mark.parametrize("A", [X[:8], X], ids=["by its factor", "stored"])
def test_an_included_column_that_another_represents_does_no_harm(A):
    twins = np.column_stack([A, A[:, 3]])
    method = lm.Annealed(n_steps=8, sweeps=0)
    s = lm.select(twins, 5, method=method, include=[3, 24])
    assert {3, 24} <= set(s.indices.tolist()) and len(set(s.indices.tolist())) == 5
