"""When the time is up, a method makes no further step and gives what it has."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import landmarks as lm

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 16)) @ RNG.standard_normal((16, 16))
B = RNG.standard_normal((40, 2))
AIMED = {"target": B}
SQUARES = {"criterion": "frobenius"}
OPEN = {"iterated", "bisection"}  # they have no end that they miss
LOOPS: list[tuple[str, Any, dict[str, Any]]] = [
    ("greedy", "greedy", {}),
    ("greedy", "greedy", AIMED),
    ("nuclear", "nuclear", {}),
    ("supervised", lm.Supervised(RNG.standard_normal(16)), {}),
    ("pivoted_qr", "pivoted_qr", {}),
    ("exchange", "knapsack", {}),
    ("swap", lm.Swap(start=[0, 1, 2, 3]), {}),
    ("swap", lm.Swap(start=[0, 1, 2, 3]), AIMED),
    ("swap", lm.Swap(start=[0, 1, 2, 3]), SQUARES),
    ("swap", lm.Iterated(start=[0, 1, 2, 3]), {}),
    ("swap", lm.Iterated(start=[0, 1, 2, 3]), AIMED),
    ("iterated", "iterated", {}),
    ("iterated", "iterated", AIMED),
    ("exact", "exact", {}),
    ("annealed", lm.Annealed(sweeps=0), {}),
    ("annealed", lm.Annealed(sweeps=0), AIMED),
    ("bisection", lm.Continuous(strategy="bisection"), {}),
    ("path", lm.Continuous(strategy="path"), {}),
]


class Clock:
    """A callback that lets hours pass at the first report of a phase."""

    def __init__(self, phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.phase, self.passed, self.heard = phase, 0.0, list[str]()
        clock = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: clock() + self.passed)

    def __call__(self, progress: Any) -> None:
        self.heard.append(progress.phase)
        if progress.phase == self.phase:
            self.passed = 1e5


@pytest.mark.parametrize(("phase", "method", "options"), LOOPS, ids=str)
def test_no_step_is_made_after_the_deadline(phase, method, options, monkeypatch):
    clock = Clock(phase, monkeypatch)
    s = lm.select(X, 4, method=method, budget=1e4, callback=clock, **options)
    assert clock.heard.count(phase) == 1
    assert len(set(s.indices.tolist())) == 4
    assert s.stopped == (phase not in OPEN)


KERNEL = lm.kernel(RNG.standard_normal((900, 3)), lm.rbf(sigma=1.0))
OBJECTIVES: list[dict[str, Any]] = [{}, SQUARES, {"noise": 0.1}, {"criterion": "logdet"}]


@pytest.mark.parametrize("options", OBJECTIVES, ids=str)
@pytest.mark.parametrize("method", ["auto", "greedy", "swap", "iterated", "exact"])
def test_no_search_is_worse_than_a_quick_draw_whatever_its_budget(method, options):
    drawn = lm.select(KERNEL, 20, method="rpcholesky", seed=3).indices
    problem = lm.Problem(KERNEL, 20, **{"objective": options.get("criterion", "trace")})
    if "noise" in options:
        problem = lm.Problem(KERNEL, 20, type(problem.objective)(noise=np.full(900, 0.1)))
    for budget in (1e-4, 0.05):
        s = lm.select(KERNEL, 20, method=method, budget=budget, seed=3, **options)
        error, most = (problem.objective.error(KERNEL, S) for S in (s.indices, drawn))
        assert error <= most + 1e-9 * abs(most)
        assert s.stopped or error < most  # a search gets some hundredths of a second in any case


UNITS: list[tuple[Any, dict[str, Any]]] = [
    (5, {"groups": RNG.integers(0, 16, 40)}),
    (None, {"costs": RNG.uniform(1, 4, 40), "budget_cost": 12.0}),
    (6, {"costs": RNG.integers(1, 4, 40), "budget_cost": 12, "criterion": "frobenius"}),
]


@pytest.mark.parametrize("phase", ["greedy", "exchange"])
@pytest.mark.parametrize("method", ["auto", "knapsack"])
@pytest.mark.parametrize(("k", "options"), UNITS, ids=["groups", "costs", "costs and k"])
def test_groups_and_costs_say_that_the_time_was_over(k, options, method, phase, monkeypatch):
    asked = {"method": method, **options}
    wide = np.random.default_rng(2).standard_normal((60, 40)) @ np.diag(np.arange(1.0, 41.0))
    whole = lm.select(wide, k, **asked)
    ample = lm.select(wide, k, budget=1e4, **asked)
    assert not whole.stopped
    assert not ample.stopped
    assert ample.error() <= whole.error() * (1 + 1e-9)
    cut = lm.select(wide, k, budget=1e4, callback=Clock(phase, monkeypatch), **asked)
    assert cut.stopped
    assert cut.error() >= ample.error() * (1 - 1e-9)
