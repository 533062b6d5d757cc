"""Every trial of the knapsack method against a transcription by errors alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import landmarks as lm

from .plain import PlainKnapsack

RNG = np.random.default_rng(4)
X = RNG.standard_normal((30, 4)) @ RNG.standard_normal((4, 18)) + 0.6 * RNG.standard_normal(
    (30, 18)
)
GROUPS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 0, 1, 8, 9])
COSTS = np.round(RNG.uniform(0.5, 3.0, 18), 2)
CASES: dict[str, dict[str, Any]] = {
    "columns": {},
    "columns, one held": {"include": [3], "exclude": [0]},
    "groups": {"groups": GROUPS},
    "costs": {"costs": COSTS, "budget_cost": 9.0},
    "costs, one held": {"costs": COSTS, "budget_cost": 9.0, "include": [11], "exclude": [2]},
    "groups with costs": {"groups": GROUPS, "costs": COSTS, "budget_cost": 12.0},
}


@cache
def error(columns: frozenset[int], criterion: str) -> float:
    """What least squares leave of X, or of its Gram matrix."""
    chosen = X[:, sorted(columns)]
    left = X - chosen @ np.linalg.lstsq(chosen, X, rcond=None)[0]
    return float(np.sum(left**2) if criterion == "trace" else np.sum((left.T @ left) ** 2))


def transcription(limits: dict[str, Any], criterion: str) -> tuple[PlainKnapsack, list[list[int]]]:
    """The search over the units of the case, and the columns of each unit."""
    groups = limits.get("groups", np.arange(18))
    members = [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)]
    costs = limits.get("costs", np.ones(18))
    each = [sum(costs[m]) if "costs" in limits else 1.0 for m in members]
    plain = PlainKnapsack(
        lambda units: error(frozenset(j for u in units for j in members[u]), criterion),
        np.array(each),
        limits.get("budget_cost", np.inf),
        len(members) if "costs" in limits else 4,
        tuple(groups[limits.get("include", [])]),
        tuple(groups[limits.get("exclude", [])]),
    )
    return plain, members


@pytest.mark.parametrize("form", [lm.data, lambda X: lm.psd(X.T @ X)], ids=["data", "matrix"])
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("name", CASES)
def test_the_trials_are_those_of_a_transcription(name, criterion, form):
    limits = CASES[name]
    plain, members = transcription(limits, criterion)
    units, trials = plain.run()
    k = None if "costs" in limits else 4
    found = lm.select(form(X), k, method="knapsack", criterion=criterion, **limits)
    assert [trial.label for trial in found.trials] == [label for label, _ in trials]
    # errors are updated from one exchange to the next, which costs a few of their digits
    np.testing.assert_allclose(
        [trial.error for trial in found.trials], [left for _, left in trials], rtol=1e-7
    )
    assert found.indices.tolist() == [j for u in units for j in members[u]]
