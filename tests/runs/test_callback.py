"""A callback hears of every method's work, and can end it with a valid choice."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from contracts.methods import BLIND, METHODS

import landmarks as lm

RNG = np.random.default_rng(1)
X = RNG.standard_normal((25, 30)) * np.linspace(1, 3, 30)
METHODS_WITH_LOOPS = sorted(set(METHODS) - BLIND - {"kmeans", "kdpp"})


@pytest.mark.parametrize("name", METHODS_WITH_LOOPS)
@pytest.mark.parametrize("j", [1, 3])
def test_a_run_that_is_stopped_gives_a_valid_choice(name, j):
    reports = []
    s = lm.select(
        X,
        6,
        method=name,
        callback=lambda progress: reports.append(progress) or len(reports) == j,
        include=[3],
        exclude=[7, 29],
    )
    assert s.stopped
    assert len(s) == 6 and 3 in s.indices and not {7, 29} & set(s.indices.tolist())
    assert all(report.seconds >= 0 and report.done >= 0 for report in reports)


@pytest.mark.parametrize("strategy", ["bisection", "path"])
def test_every_strategy_of_the_relaxation_can_be_stopped(strategy):
    s = lm.select(
        X, 6, method=lm.Continuous(strategy=strategy), callback=lambda progress: progress.done == 2
    )
    assert s.stopped and len(s) == 6


def test_a_run_that_is_not_stopped_says_so():
    heard = []
    s = lm.select(X, 6, method="swap", callback=heard.append)
    assert not s.stopped
    assert s.indices.tolist() == lm.select(X, 6, method="swap").indices.tolist()


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_last_error_reported_by_a_search_is_that_of_its_choice(criterion):
    heard = []
    s = lm.select(X, 6, method=lm.Iterated(rounds=5), criterion=criterion, callback=heard.append)
    assert heard[-1].phase == "iterated" and (heard[-1].done, heard[-1].total) == (5, 5)
    assert heard[-1].error == pytest.approx(
        s.relative_error(), rel=1e-9
    )  # rank-one changes against one factorisation


def test_greedy_reports_its_error_after_each_pick():
    heard = []
    lm.select(X, 6, method="greedy", callback=heard.append)
    reports = [progress.error for progress in heard if progress.phase == "greedy"]
    assert reports == pytest.approx(lm.path(X, range(1, 7)).relative.tolist(), rel=1e-9)


def test_fault_50_what_a_callback_raises_goes_through():
    class Enough(Exception):
        pass

    def callback(progress):
        raise Enough

    with pytest.raises(Enough):
        lm.select(X, 6, callback=callback)


def test_fault_50_a_callback_cannot_change_what_it_is_reported():
    def callback(progress):
        with pytest.raises(FrozenInstanceError):
            progress.done = 0

    lm.select(X, 6, method="greedy", callback=callback)


def test_a_stopped_selection_is_saved_as_such(tmp_path):
    s = lm.select(X, 6, method="swap", callback=lambda progress: True)
    s.save(tmp_path / "s.npz")
    assert lm.load(tmp_path / "s.npz").stopped


@pytest.mark.parametrize(
    "call",
    [
        lambda: lm.select(X, 4, callback=3),
        lambda: lm.select(X, 4, callback=3, progress=True),
        lambda: lm.compare(X, 4, methods=["greedy"], callback=3),
        lambda: lm.select(X, 4, method="greedy").certificate(1.0, callback=3),
    ],
    ids=["select", "with a bar", "compare", "certificate"],
)
def test_a_callback_that_cannot_be_called_is_refused(call):
    message = "callback must be None or a function that takes a Progress, got 3; give such a func"
    with pytest.raises(TypeError, match=message):
        call()


def test_the_callback_of_the_error_message_works(capsys):
    lm.select(X, 4, method="greedy", callback=print)
    assert "Progress(phase='greedy'" in capsys.readouterr().out
