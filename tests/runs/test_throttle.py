"""A callback is called at most 20 times in any second, however fast the run reports."""

import time

import numpy as np
import pytest

import landmarks as lm
from landmarks.runs.progress import report, watching


@pytest.mark.throttled
def test_no_second_has_more_than_twenty_calls():
    called = []
    with watching(lambda progress: called.append(time.monotonic())):
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            report("swap", 1)
    calls = np.array(called)
    most = max(np.sum((calls >= start) & (calls < start + 1.0)) for start in calls)
    assert len(calls) >= 15 and most <= 20


@pytest.mark.throttled
def test_a_short_run_is_heard_in_full():
    heard = []
    lm.select(
        np.random.default_rng(0).standard_normal((9, 6)), 5, method="greedy", callback=heard.append
    )
    assert [progress.done for progress in heard if progress.phase == "greedy"] == [1, 2, 3, 4, 5]


@pytest.mark.throttled
def test_a_wish_to_stop_holds_between_calls():
    with watching(lambda progress: True):
        assert all([report("swap", i) for i in range(100)])
