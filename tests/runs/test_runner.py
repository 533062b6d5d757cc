"""The runner makes the steps of an iteration, and ends early when it is asked to."""

import time
from dataclasses import dataclass

import pytest

from landmarks.runs.progress import watching
from landmarks.runs.runner import Step, run
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


def test_the_error_is_computed_only_for_somebody_who_watches():
    def step():
        yield Step(1, None, lambda: pytest.fail("nobody watches"))

    assert run("silent", step())
