"""Callbacks hear the run that they were given to, and not too often."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import landmarks as lm

X = np.random.default_rng(0).standard_normal((30, 40))


@pytest.mark.throttled
def test_no_second_has_more_than_twenty_calls():
    called = []
    lm.select(
        X, 12, method="iterated", budget=1.5, callback=lambda report: called.append(report.seconds)
    )
    calls = np.array(called)
    most = max(np.sum((calls >= start) & (calls < start + 1.0)) for start in calls)
    assert len(calls) >= 10 and most <= 20


@pytest.mark.throttled
def test_a_short_run_is_heard_in_full():
    heard = []
    lm.select(X[:, :6], 5, method="greedy", callback=heard.append)
    assert [progress.done for progress in heard if progress.phase == "greedy"] == [1, 2, 3, 4, 5]


def test_runs_in_other_threads_are_not_heard():
    def heard(k):
        reports = []
        lm.select(X, k, method="greedy", callback=reports.append)
        return [report.done for report in reports if report.phase == "greedy"]

    with ThreadPoolExecutor(4) as pool:
        for k, done in zip(range(5, 25), pool.map(heard, range(5, 25)), strict=True):
            assert done == list(range(1, k + 1))
