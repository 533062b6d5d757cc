"""What columns add and what substitutions cost, against errors computed from scratch."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from contracts.operators import KINDS

import landmarks as lm
from landmarks.errors import RankWarning

CRITERIA = ["trace", "frobenius"]
CHOSEN = [5, 1, 8]


class Substitutes(NamedTuple):
    """A row for each chosen column, the cheapest substitutes first."""

    adds: np.ndarray
    indices: np.ndarray
    costs: np.ndarray


def chosen_by_hand(A: Any, chosen: list[int], criterion: str) -> lm.Selection:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        return lm.select(A, len(chosen), method="greedy", include=chosen, criterion=criterion)


def substitutes(A: Any, chosen: list[int], criterion: str, each: int = 3) -> Substitutes:
    """What `why` says of these columns."""
    rows = chosen_by_hand(A, chosen, criterion).why(each=each).chosen.rows
    assert [row["index"] for row in rows] == chosen
    places = range(1, each + 1)
    return Substitutes(
        np.array([row["adds"] for row in rows]),
        np.array([[row[f"substitute_{i}"] for i in places] for row in rows]),
        np.array([[row[f"cost_{i}"] for i in places] for row in rows]),
    )


def check_against_enumeration(A: Any, n: int, chosen: list[int], criterion: str) -> None:
    """Adds and all costs against errors computed from scratch, and the order of the substitutes."""
    found = substitutes(A, chosen, criterion, each=n - len(chosen))

    def error(members: list[int]) -> float:
        return chosen_by_hand(A, members, criterion).relative_error()

    before = error(chosen)
    rest = sorted(set(range(n)) - set(chosen))
    for place in range(len(chosen)):
        others = [j for j in chosen if j != chosen[place]]
        assert sorted(found.indices[place]) == rest and np.all(np.diff(found.costs[place]) >= 0)
        np.testing.assert_allclose(found.adds[place], error(others) - before, atol=1e-9)
        costs = [error([*others, int(j)]) - before for j in found.indices[place]]
        np.testing.assert_allclose(found.costs[place], costs, atol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("case", [case for case in KINDS if case.name != "data one row"], ids=repr)
def test_costs_are_the_changes_of_the_error(case, criterion):
    A = case.make(case.values)
    check_against_enumeration(A, A.n, CHOSEN, criterion)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_single_precision_is_near_where_the_error_is_small(criterion):
    points = np.random.default_rng(0).standard_normal((300, 3))
    double, single = (
        lm.kernel(points.astype(dtype), lm.rbf(sigma=2.0)) for dtype in (np.float64, np.float32)
    )
    chosen = lm.select(double, 40, method="greedy").indices.tolist()
    expected, found = (substitutes(A, chosen, criterion) for A in (double, single))
    assert np.mean(found.indices == expected.indices) > 0.95  # points rounded to seven digits
    np.testing.assert_allclose(found.costs, expected.costs, atol=1e-5 * expected.adds.max())


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("chosen", [[0, 2, 1, 3, 5], [4, 2, 0]])
def test_costs_hold_where_chosen_columns_depend_on_one_another(chosen, criterion):
    X = np.random.default_rng(28).standard_normal((20, 8))
    X[:, 3], X[:, 5], X[:, 7] = X[:, 0] + X[:, 1], 0.0, X[:, 2]
    check_against_enumeration(X, 8, chosen, criterion)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_substitute_of_a_column_with_a_duplicate_is_the_duplicate_and_costs_nothing(criterion):
    X = np.random.default_rng(1).standard_normal((30, 6))
    X = np.column_stack([X, X[:, [2, 0, 1]], -2 * X[:, 2]])
    found = substitutes(lm.data(X), [0, 1, 2, 3], criterion)
    assert found.indices[:3, 0].tolist() == [7, 8, 6] and found.indices[2, 1] == 9
    assert np.all(found.costs[:3, 0] == 0) and found.costs[2, 1] == 0
    assert np.all(found.costs[:2, 1] > 0.01)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("stored", [False, True])
def test_measurements_with_hardly_any_noise_add_nothing_when_repeated(stored, criterion):
    """Fault 90: rounding hides all but one of them."""
    X = np.random.default_rng(0).standard_normal((3, 4))
    A = lm.psd(X.T @ X) if stored else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        s = lm.select(A, 5, noise=1e-22, repeats=True, criterion=criterion)
    rows = s.why().chosen.rows
    assert [row["index"] for row in rows] == s.indices.tolist()
    copies = Counter(s.indices.tolist())
    assert all(row["adds"] < 1e-12 for row in rows if copies[row["index"]] > 1)
    assert all(row["adds"] > 0.01 for row in rows if copies[row["index"]] == 1)
