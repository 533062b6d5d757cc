"""After annealing: swaps, then the better of the result and greedy's choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm

RNG = np.random.default_rng(9)
DATA = [RNG.standard_normal((25, 18)) @ RNG.standard_normal((18, 18)) for _ in range(8)]


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("sweeps", [1, 50])
def test_a_polished_choice_is_that_of_swaps_or_of_greedy(criterion, sweeps):
    """A single rough step leaves enough to be improved, and sometimes greedy is still better."""
    method = lm.Annealed(n_steps=1, fixed=1.0, between=0, sweeps=sweeps)
    kept = []
    for X in DATA:
        problem = lm.Problem(lm.data(X), 5, criterion, include=(3,), exclude=(0,))
        raw = replace(method, sweeps=0).choose(problem, np.random.default_rng(1))
        swaps = lm.Swap(start=raw.indices, max_swaps=5 * sweeps if criterion == "trace" else None)
        greedy = lm.Greedy().choose(problem, RNG).indices
        found = method.choose(problem, np.random.default_rng(1))
        errors = [
            selection_error(problem.operator, indices, criterion)
            for indices in (greedy, swaps.choose(problem, RNG).indices, found.indices)
        ]
        kept.append(found.details.get("kept"))
        if criterion == "trace" or sweeps == 50:
            assert errors[2] == pytest.approx(min(errors[:2]), rel=1e-9)
            tied = abs(errors[0] / errors[1] - 1) < 1e-9  # then rounding decides
            assert tied or (kept[-1] == "greedy") == (errors[0] < errors[1])
        assert errors[2] <= errors[0] * (1 + 1e-9)
        assert 3 in found.indices and 0 not in found.indices
    assert set(kept) <= {"greedy", None} and None in kept


@pytest.mark.parametrize("seed", [4, 7, 27])
def test_swaps_on_the_trace_lead_to_a_lower_frobenius_error(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 30)) @ rng.standard_normal((30, 30))
    method = lm.Annealed(n_steps=1, fixed=1.0, between=0, sweeps=50)
    problem = lm.Problem(lm.data(X), 6, "frobenius")
    raw = replace(method, sweeps=0).choose(problem, np.random.default_rng(1)).indices
    found, led, alone = (
        selection_error(
            problem.operator, m.choose(problem, np.random.default_rng(1)).indices, "frobenius"
        )
        for m in (method, lm.Swap(start=raw), lm.Swap(start=raw, criterion="frobenius"))
    )
    assert found == pytest.approx(led, rel=1e-9) and led < alone * (1 - 1e-6)


def test_a_polished_choice_comes_in_the_order_of_greedy_selection():
    X = DATA[0]
    s = lm.select(X, 5, method=lm.Annealed(n_steps=4))
    others = np.setdiff1d(np.arange(18), s.indices)
    ordered = lm.select(X, 5, method="greedy", exclude=others)
    assert s.indices.tolist() == ordered.indices.tolist()


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_what_a_target_leaves_is_no_more_than_swaps_or_greedy_leave(criterion):
    for X in DATA:
        given = {"target": X[:, :2] + RNG.standard_normal((25, 2)), "exclude": (0, 1)}
        rough = lm.Annealed(n_steps=1, fixed=1.0, between=0, sweeps=0)
        raw = lm.select(X, 5, criterion=criterion, method=rough, **given)
        polished = replace(rough, sweeps=50)
        found, swapped, greedy = (
            lm.select(X, 5, criterion=criterion, method=method, **given).error()
            for method in (polished, lm.Swap(start=raw.indices), "greedy")
        )
        assert found == pytest.approx(min(swapped, greedy), rel=1e-9)
