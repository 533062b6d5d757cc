"""What columns add and what substitutions cost, against errors computed from scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contracts.operators import KINDS
from errors_of import selection_error, total

import landmarks as lm
from landmarks.explain import substitutes as module
from landmarks.explain.substitutes import Substitutes
from landmarks.linalg.reconstruction import reconstruct
from landmarks.objectives import OBJECTIVES as CRITERIA
from landmarks.objectives import as_objective
from landmarks.operators.base import Operator

CHOSEN = np.array([5, 1, 8])


def substitutes(operator: Operator, chosen: np.ndarray, criterion: str, **more: Any) -> Substitutes:
    """Substitutes by criterion."""
    return module.substitutes(operator, chosen, as_objective(criterion), **more)


def normal(m: int, n: int) -> np.ndarray:
    return np.random.default_rng(m + n).standard_normal((m, n)) @ np.random.default_rng(
        n
    ).standard_normal((n, n))


def rise(operator: Operator, before: list[int], after: list[int], criterion: str) -> float:
    """The change of the error between two choices, as a share of the total."""
    return (
        selection_error(operator, after, criterion) - selection_error(operator, before, criterion)
    ) / total(operator, criterion)


def swapped(chosen: np.ndarray, place: int, j: int) -> list[int]:
    return [int(j) if i == place else int(c) for i, c in enumerate(chosen)]


def check_against_enumeration(
    operator: Operator, chosen: np.ndarray, criterion: str, atol: float = 1e-9
) -> None:
    """Adds and all costs against errors computed from scratch, and the order of the substitutes."""
    found = substitutes(operator, chosen, criterion, each=operator.n)
    rest = np.setdiff1d(np.arange(operator.n), chosen)
    for place in range(len(chosen)):
        assert sorted(found.indices[place]) == rest.tolist() and np.all(
            np.diff(found.costs[place]) >= 0
        )
        without = [int(c) for i, c in enumerate(chosen) if i != place]
        np.testing.assert_allclose(
            found.adds[place], rise(operator, list(chosen), without, criterion), atol=atol
        )
        expected = [
            rise(operator, list(chosen), swapped(chosen, place, j), criterion)
            for j in found.indices[place]
        ]
        np.testing.assert_allclose(found.costs[place], expected, atol=atol)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("case", [case for case in KINDS if case.name != "data one row"], ids=repr)
def test_costs_are_the_changes_of_the_error(case, criterion):
    check_against_enumeration(case.make(case.values), CHOSEN, criterion)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_costs_are_the_changes_of_the_error_in_every_library(xp, criterion):
    X = normal(20, 10)
    found = substitutes(lm.data(xp.asarray(X)), CHOSEN, criterion)
    expected = substitutes(lm.data(X), CHOSEN, criterion)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.costs, expected.costs, rtol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_single_precision_is_near(criterion):
    X = normal(5, 10)
    found = substitutes(lm.data(X.astype(np.float32)), CHOSEN, criterion, each=7)
    expected = substitutes(lm.data(X), CHOSEN, criterion, each=7)
    np.testing.assert_allclose(found.costs, expected.costs, atol=1e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_single_precision_is_near_where_the_error_is_small(criterion):
    points = np.random.default_rng(0).standard_normal((300, 3))
    double, single = (
        lm.kernel(points.astype(dtype), lm.rbf(sigma=2.0)) for dtype in (np.float64, np.float32)
    )
    chosen = lm.select(double, 40, method="greedy").indices
    expected, found = (substitutes(operator, chosen, criterion) for operator in (double, single))
    assert (
        np.mean(found.indices == expected.indices) > 0.95
    )  # points that were rounded to seven digits
    np.testing.assert_allclose(found.costs, expected.costs, atol=1e-5 * expected.adds.max())


def test_entries_in_single_precision_are_not_trusted_beyond_their_digits():
    points = np.random.default_rng(0).standard_normal((600, 3))
    K = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / 4)
    chosen = lm.select(lm.psd(K), 40, method="greedy").indices
    expected, found = (
        substitutes(lm.psd(K.astype(dtype)), chosen, "trace") for dtype in (np.float64, np.float32)
    )
    np.testing.assert_allclose(found.costs, expected.costs, atol=2e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_costs_hold_where_chosen_columns_depend_on_one_another(criterion):
    X = normal(20, 8)
    X[:, 3] = X[:, 0] + X[:, 1]
    X[:, 5] = 0.0
    X[:, 7] = X[:, 2]
    check_against_enumeration(lm.data(X), np.array([0, 2, 1, 3, 5]), criterion)
    check_against_enumeration(lm.data(X), np.array([4, 2, 0]), criterion)


@pytest.mark.parametrize("power", [-900, 0, 900])
def test_costs_do_not_depend_on_the_units(power):
    X = normal(12, 8)
    found = substitutes(lm.data(np.ldexp(X, power)), CHOSEN[:2], "frobenius")
    np.testing.assert_allclose(
        found.costs, substitutes(lm.data(X), CHOSEN[:2], "frobenius").costs, rtol=1e-9
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_substitute_of_a_column_with_a_duplicate_is_the_duplicate_and_costs_nothing(criterion):
    X = np.random.default_rng(1).standard_normal((30, 6))
    X = np.column_stack([X, X[:, [2, 0, 1]], -2 * X[:, 2]])
    found = substitutes(lm.data(X), np.array([0, 1, 2, 3]), criterion)
    assert found.indices[:3, 0].tolist() == [7, 8, 6] and found.indices[2, 1] == 9
    assert np.all(found.costs[:3, 0] == 0) and found.costs[2, 1] == 0
    assert np.all(found.costs[:2, 1] > 0.01)


def test_orthogonal_columns_add_their_own_squares():
    found = substitutes(lm.data(np.diag([5.0, 4.0, 3.0, 2.0, 1.0])), np.array([1, 0, 3]), "trace")
    np.testing.assert_allclose(found.adds, np.array([16, 25, 4]) / 55)
    assert found.indices.tolist() == [[2, 4]] * 3
    np.testing.assert_allclose(found.costs, np.array([[7, 15], [16, 24], [-5, 3]]) / 55)


def test_in_a_planted_low_rank_any_independent_column_will_do():
    X = np.random.default_rng(2).standard_normal((30, 3)) @ np.random.default_rng(
        3
    ).standard_normal((3, 12))
    found = substitutes(lm.data(X), np.array([0, 1, 2]), "trace", each=9)
    assert np.all(found.costs == 0) and np.all(found.adds > 0)


def test_adds_are_the_losses_of_the_reconstruction():
    X = normal(20, 10)
    losses = reconstruct(lm.data(X), CHOSEN).losses / np.sum(X**2)
    np.testing.assert_allclose(substitutes(lm.data(X), CHOSEN, "trace").adds, losses, rtol=1e-9)


def test_excluded_columns_are_never_substitutes():
    found = substitutes(lm.data(normal(20, 6)), np.array([0, 1, 2]), "trace", exclude=(3, 5))
    assert found.indices.tolist() == [[4]] * 3


def test_where_all_are_chosen_there_is_no_substitute():
    found = substitutes(lm.data(normal(20, 3)), np.arange(3), "trace")
    assert found.indices.shape == found.costs.shape == (3, 0)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_in_a_matrix_of_zeros_nothing_adds_and_nothing_costs(criterion):
    found = substitutes(lm.data(np.zeros((3, 4))), np.array([1, 2]), criterion)
    assert (
        np.all(found.adds == 0)
        and np.all(found.costs == 0)
        and found.indices.tolist() == [[0, 3]] * 2
    )


def test_kernels_have_the_same_substitutes_in_every_library(xp):
    points = np.random.default_rng(0).standard_normal((15, 2))
    found = substitutes(lm.kernel(xp.asarray(points), lm.rbf(sigma=1.0)), CHOSEN, "trace")
    np.testing.assert_array_equal(
        found.indices, substitutes(lm.kernel(points, lm.rbf(sigma=1.0)), CHOSEN, "trace").indices
    )
