"""The runner makes the steps of an iteration, reports them, and ends early when it is asked to."""

import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

import landmarks as lm
from landmarks.runs.runner import Step, report, run, watching
from landmarks.runs.state import State


@dataclass
class Count(State):
    done: int = 0


def counting(count, to):
    while count.done < to:
        count.done += 1
        yield Step(count.done, to)


def test_an_iteration_that_is_left_alone_makes_all_steps():
    count = Count()
    assert run("counting", counting(count, 5), count) is True
    assert count.done == 5


def test_the_callback_hears_every_step_and_ends_the_iteration():
    heard, count = [], Count()

    def callback(progress):
        heard.append((progress.phase, progress.done, progress.total))
        return progress.done == 3

    with watching(callback):
        assert run("counting", counting(count, 5), count) is False
    assert count.done == 3
    assert heard == [("counting", 1, 5), ("counting", 2, 5), ("counting", 3, 5)]


def test_one_step_is_made_when_the_deadline_has_passed():
    count = Count()
    assert run("counting", counting(count, 5), count, deadline=time.monotonic() - 1) is False
    assert count.done == 1


def test_an_error_says_in_which_iteration_and_after_which_step_it_came():
    def failing():
        yield Step(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        run("failing", failing())
    assert caught.value.__notes__ == ["in failing, after step 1"]


def test_the_error_is_computed_only_if_there_is_a_callback():
    def step():
        yield Step(1, None, lambda: pytest.fail("nobody watches"))

    assert run("silent", step())


def test_without_a_callback_nothing_is_computed_and_nothing_stops():
    assert report("greedy", 1, 10) is False


def test_the_callback_hears_phase_count_and_error():
    heard = []
    with watching(heard.append):
        report("greedy", 3, 10, error=0.25)
    assert (heard[0].phase, heard[0].done, heard[0].total, heard[0].error) == (
        "greedy",
        3,
        10,
        0.25,
    )
    assert heard[0].seconds >= 0


def test_a_request_to_stop_is_remembered_until_the_run_ends():
    answers = iter([False, True, False])
    with watching(lambda progress: next(answers)):
        assert [report("swap", i) for i in range(3)] == [False, True, True]
    assert report("swap", 3) is False


def test_what_the_callback_raises_goes_through_and_ends_the_watch():
    with pytest.raises(ZeroDivisionError), watching(lambda progress: 1 / 0):
        report("swap", 0)
    assert report("swap", 1) is False


def test_runs_in_other_threads_are_not_heard():
    heard = []
    with watching(heard.append):
        thread = threading.Thread(target=report, args=("elsewhere", 1))
        thread.start()
        thread.join()
    assert heard == []


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
def test_a_request_to_stop_holds_between_calls():
    with watching(lambda progress: True):
        assert all([report("swap", i) for i in range(100)])
