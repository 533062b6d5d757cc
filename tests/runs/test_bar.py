"""The progress bar: for a person who watches, after a moment, and gone when the work is done."""

import io
import sys

import numpy as np
import pytest

import landmarks as lm
from landmarks.runs import bar
from landmarks.runs.runner import report


class Watched(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def stream(monkeypatch):
    monkeypatch.setattr(bar, "PATIENCE", 0.0)
    monkeypatch.setattr(bar, "PAUSE", 0.0)
    return Watched()


def work(stream, **options):
    with bar.progress_bar(stream=stream, **options):
        for step in range(1, 4):
            report("greedy", step, 3, error=0.25)
        report("swap", 1)


def test_a_line_shows_phase_part_error_and_time(stream):
    work(stream)
    assert "greedy" in stream.getvalue()
    assert "2/3  error 25.00%  0 s, 0 s left" in stream.getvalue()
    assert stream.getvalue().endswith("\r\033[K")


def test_work_that_is_done_in_a_moment_shows_no_bar(stream, monkeypatch):
    monkeypatch.setattr(bar, "PATIENCE", 60.0)
    work(stream)
    assert stream.getvalue() == ""


def test_progress_true_draws_on_the_terminal_of_the_user(stream, monkeypatch):
    monkeypatch.setattr("sys.stderr", stream)
    lm.select(np.random.default_rng(0).standard_normal((30, 20)), 8, progress=True)
    assert "greedy" in stream.getvalue()


def test_a_notebook_gets_a_line_that_is_replaced_and_goes_away(monkeypatch):
    shown = []

    class Place:
        def update(self, bundle, raw):
            shown.append(bundle["text/plain"])

    def display(bundle, raw, display_id):
        shown.append(bundle["text/plain"])
        return Place()

    monkeypatch.setattr(bar, "PATIENCE", 0.0)
    monkeypatch.setattr(bar, "PAUSE", 0.0)
    monkeypatch.setattr(bar, "in_notebook", lambda: True)
    ipython = type(sys)("IPython.display")
    ipython.display = display
    monkeypatch.setitem(sys.modules, "IPython", type(sys)("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", ipython)
    with bar.progress_bar():
        report("greedy", 1, 3)
        report("greedy", 2, 3)
    assert ["1/3" in line for line in shown[:2]] == [True, False]
    assert "2/3" in shown[1] and shown[-1] == ""
