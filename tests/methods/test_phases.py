"""What a progress bar shows: each method names what it does, counts it and knows the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contracts.methods import BLIND, CONTRACT, METHODS

import landmarks as lm

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 16)) @ RNG.standard_normal((16, 16))
B = RNG.standard_normal((40, 2))
#: what is reported besides "reading"; a method that is not listed names its phase by its own name
OTHERS: dict[str, tuple[Any, set[str]]] = {
    "supervised": (lm.Supervised(RNG.standard_normal(16)), {"supervised"}),
    "knapsack": ("knapsack", {"greedy", "exchange"}),
    "kdpp": ("kdpp", set()),
    "swap": (lm.Swap(start=[0, 1, 2, 3]), {"swap"}),
    "iterated": (lm.Iterated(rounds=5), {"greedy", "swap", "iterated"}),
    "exact": ("exact", {"greedy", "exact"}),
    "annealed": (lm.Annealed(sweeps=0), {"annealed"}),
    "continuous": (lm.Continuous(strategy="path"), {"descent", "path"}),
}
COMPOSED = {"auto", "kmeans"}  # runs other methods; serves kernels alone
PHASES = {
    name: (name, set() if name in BLIND else {name}) for name in METHODS if name not in COMPOSED
} | OTHERS


def heard(method: Any, **more: Any) -> list[lm.Progress]:
    reports: list[lm.Progress] = []
    lm.select(X, 4, method=method, callback=reports.append, **more)
    return reports


@pytest.mark.parametrize("name", PHASES)
def test_a_method_names_what_it_does(name):
    method, phases = PHASES[name]
    found = {progress.phase for progress in heard(method)} - {"reading"}
    # a swap from greedy may find nothing to improve
    assert phases - {"swap"} <= found <= phases and (name != "swap" or "swap" in found)


@pytest.mark.parametrize("entry", CONTRACT, ids=repr)
def test_reports_stay_within_their_total_and_errors_between_zero_and_one(entry):
    data = X if entry.serves is None else lm.kernel(X.T, lm.rbf(sigma=5.0))
    reports: list[lm.Progress] = []
    lm.select(data, 4, method=entry.method, callback=reports.append)
    for report in reports:
        assert report.total is None or 0 <= report.done <= report.total
        assert report.error is None or -1e-12 <= report.error <= 1 + 1e-12


@pytest.mark.parametrize(
    ("method", "phase", "first", "options"),
    [
        (lm.Iterated(rounds=5), "iterated", (0, 5), {}),
        (lm.Iterated(rounds=5), "iterated", (0, 5), {"target": B}),
        (lm.Iterated(rounds=5), "iterated", (0, None), {"budget": 0.05}),
        ("exact", "exact", (1820, 1820), {}),  # all choices of 4 of 16 columns
        ("knapsack", "greedy", (1, None), {}),
    ],
    ids=str,
)
def test_the_first_report_counts_from_the_start_to_the_end(method, phase, first, options):
    found = next(p for p in heard(method, **options) if p.phase == phase)
    assert (found.done, found.total) == first


@pytest.mark.parametrize(
    ("method", "phases"),
    [
        ("greedy", {"greedy"}),
        (lm.Swap(start=[0, 1, 2, 3]), {"swap"}),
        (lm.Iterated(start=[0, 1, 2, 3], rounds=5), {"swap", "iterated"}),
        (lm.Annealed(sweeps=0), {"annealed"}),
    ],
    ids=["greedy", "swap", "iterated", "annealed"],
)
def test_with_a_target_the_phases_have_the_same_names(method, phases):
    reports = heard(method, target=B)
    assert {progress.phase for progress in reports} == phases
    assert all(0 < progress.error < 1 for progress in reports if progress.phase != "annealed")


def test_the_error_that_is_reported_last_is_that_of_the_choice():
    for name in ("greedy", "rpcholesky", "pivoted_qr", "swap", "iterated", "exact"):
        reports: list[lm.Progress] = []
        found = lm.select(X, 4, method=PHASES[name][0], callback=reports.append)
        assert reports[-1].error == pytest.approx(found.relative_error(), rel=1e-9)


def test_a_search_for_how_many_reports_the_sizes_that_it_tries():
    reports: list[lm.Progress] = []
    found = lm.select(X, lm.MaxError(0.1), method="rpcholesky", callback=reports.append)
    tried = [p for p in reports if p.phase == "how many"]
    assert found.k in {p.done for p in tried} and all(0 <= p.error <= 1 for p in tried)


@pytest.mark.parametrize("phase", ["greedy", "swap", "rpcholesky"])
def test_the_default_that_is_stopped_makes_no_further_trial(phase):
    wide = np.random.default_rng(1).standard_normal((40, 70))  # too many choices for a quick proof
    whole = [trial.label for trial in lm.select(wide, 6).trials]
    heard: list[str] = []

    def stop(progress: lm.Progress) -> bool:
        heard.append(progress.phase)
        return progress.phase == phase

    found = lm.select(wide, 6, callback=stop)
    assert found.stopped and heard.count(phase) == 1 and len(found) == 6
    assert heard[-1] in (phase, "swap")  # the swaps of a start that was stopped begin
    done = [trial.label for trial in found.trials]
    assert done == whole[: len(done)] and (phase == "iterated" or len(done) < len(whole))


@pytest.mark.parametrize("options", [{}, {"target": B}], ids=["columns", "target"])
def test_an_annealed_run_reports_how_many_columns_are_fixed(options):
    reports = heard(lm.Annealed(sweeps=0, n_steps=5), **options)
    assert {progress.total for progress in reports} == {4}
    done = [progress.done for progress in reports]
    assert done[:5] == [0] * 5 and done[-1] == 4 and done == sorted(done)


@pytest.mark.parametrize("most", [None, 2])
def test_exchanges_of_groups_are_counted_from_each_start(most):
    rng = np.random.default_rng(2)
    Y = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 24))
    Y += 0.6 * rng.standard_normal((30, 24))
    reports: list[lm.Progress] = []
    method = lm.Knapsack(max_exchanges=most)
    lm.select(Y, 7, method=method, callback=reports.append)
    reports = [progress for progress in reports if progress.phase == "exchange"]
    assert {progress.total for progress in reports} == {most}
    done = [progress.done for progress in reports]
    starts = [i for i, count in enumerate(done) if count == 0]
    for begin, end in zip(starts, [*starts[1:], len(done)], strict=True):
        assert done[begin:end] == list(range(end - begin))
    assert max(done) == (4 if most is None else 1)  # told before each: the second is the last
