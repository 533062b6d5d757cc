"""One callback for all that a run tells."""

import threading

import pytest

from landmarks.runs.progress import report, watching


def test_nobody_watching_costs_nothing_and_never_stops():
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


def test_a_wish_to_stop_is_remembered_until_the_run_ends():
    wishes = iter([False, True, False])
    with watching(lambda progress: next(wishes)):
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
