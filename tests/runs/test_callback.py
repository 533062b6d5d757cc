"""A callback hears of every method's work, and can end it with a valid choice."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from contracts.methods import BLIND

import landmarks as lm
from landmarks.errors import Stopped
from landmarks.methods.registry import METHODS
from landmarks.methods.relaxation.continuous import Bisection
from landmarks.operators import base

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


@pytest.mark.parametrize("strategy", ["bisection", "path", "frank_wolfe"])
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


def test_stopping_while_the_matrix_is_read_is_an_error_because_there_is_no_choice(monkeypatch):
    monkeypatch.setattr(base, "block_width", lambda operator: 7)
    with pytest.raises(Stopped, match="before there was a choice"):
        lm.select(X, 6, method="greedy", callback=lambda progress: progress.phase == "reading")


def test_stopping_while_a_later_phase_reads_gives_the_choice_of_the_phase_before(monkeypatch):
    monkeypatch.setattr(base, "block_width", lambda operator: 7)
    method = lm.Swap(start="pivoted_qr")
    s = lm.select(X, 6, method=method, callback=lambda progress: progress.phase == "reading")
    assert s.stopped
    assert s.indices.tolist() == lm.select(X, 6, method="pivoted_qr").indices.tolist()


def test_what_a_callback_raises_goes_through():
    class Enough(Exception):
        pass

    def callback(progress):
        raise Enough

    with pytest.raises(Enough):
        lm.select(X, 6, callback=callback)


def test_a_callback_cannot_change_what_it_is_reported():
    def callback(progress):
        with pytest.raises(FrozenInstanceError):
            progress.done = 0

    lm.select(X, 6, method="greedy", callback=callback)


def test_a_stopped_selection_is_saved_as_such(tmp_path):
    s = lm.select(X, 6, method="swap", callback=lambda progress: True)
    s.save(tmp_path / "s.npz")
    assert lm.load(tmp_path / "s.npz").stopped


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_a_bisection_reports_the_error_of_its_best_rounding(criterion):
    heard = []
    strategy = Bisection(n_steps=20, bracket_steps=10, bisections=2)
    s = lm.select(
        X, 6, method=lm.Continuous(strategy=strategy), criterion=criterion, callback=heard.append
    )
    reports = [progress for progress in heard if progress.phase == "bisection"]
    assert [progress.done for progress in reports] == list(range(1, len(reports) + 1)) and all(
        progress.total is None for progress in reports
    )
    errors = [progress.error for progress in reports]
    if criterion == "trace":
        assert errors == sorted(errors, reverse=True) and errors[-1] == pytest.approx(
            s.relative_error(), rel=1e-9
        )
    else:
        assert set(errors) == {None}


def test_swaps_report_their_error_relative_to_the_total_of_the_criterion():
    for criterion, inner in (("trace", None), ("frobenius", "frobenius"), ("frobenius", "trace")):
        heard = []
        s = lm.select(
            X,
            6,
            method=lm.Swap(start=range(6), criterion=inner),
            criterion=criterion,
            callback=heard.append,
        )
        reports = [progress for progress in heard if progress.phase == "swap"]
        done = [progress.done for progress in reports]
        assert done == sorted(set(done)) and {progress.total for progress in reports} == {300}
        assert reports[-1].error == pytest.approx(s.relative_error(), rel=1e-9)


@pytest.mark.parametrize("name", ["greedy", "nuclear", "rpcholesky", "leverage", "pivoted_qr"])
def test_methods_that_pick_one_by_one_report_each_pick(name):
    heard = []
    s = lm.select(X, 6, method=name, callback=heard.append)
    reports = [progress for progress in heard if progress.phase == name]
    assert [(progress.done, progress.total) for progress in reports] == [
        (i, 6) for i in range(1, 7)
    ]
    assert reports[-1].error == pytest.approx(s.relative_error(), rel=1e-9)
    lm.select(X, 6, method=name, criterion="frobenius", callback=heard.append)
    assert heard[-1].phase == name and heard[-1].error is None


def test_nuclear_scores_of_a_product_alone_report_each_pick():
    heard = []
    lm.select(
        lm.function(lambda V: X.T @ (X @ V), n=X.shape[1]),
        6,
        method="nuclear",
        callback=heard.append,
    )
    assert [progress.done for progress in heard if progress.phase == "nuclear"] == list(range(1, 7))


PHASES = {
    "auto": {"reading", "greedy", "rpcholesky", "swap", "exact"},
    "continuous": {"descent", "bisection"},
    "annealed": {"annealed", "greedy", "reading"},
    "iterated": {"reading", "greedy", "swap", "iterated"},
    "knapsack": {"greedy", "exchange"},
    "exact": {"reading", "greedy", "exact"},
}


@pytest.mark.parametrize("name", PHASES)
def test_the_phases_of_a_search_are_reported_by_name(name):
    heard = []
    lm.select(X[:, :20], 4, method=name, callback=heard.append)
    # rounds that are compiled do not report their swaps
    assert {progress.phase for progress in heard} | {"swap"} == PHASES[name] | {"swap"}


def test_annealing_reports_its_steps_and_its_rounds():
    heard = []
    lm.select(
        X, 4, method=lm.Annealed(n_steps=10, n_candidates=12, n_rounds=2), callback=heard.append
    )
    fixed = [(p.done, p.total) for p in heard if p.phase == "annealed"]
    assert fixed == 2 * (5 * [(0, 4)] + [(i, 4) for i in range(1, 5)])
    assert [(p.done, p.total) for p in heard if p.phase == "rounds"] == [(1, 2), (2, 2)]


@pytest.mark.parametrize("strategy", ["path", "frank_wolfe"])
def test_strategies_of_the_relaxation_report_their_steps(strategy):
    heard = []
    lm.select(X, 4, method=lm.Continuous(strategy=strategy), callback=heard.append)
    assert strategy in {progress.phase for progress in heard}
    assert all(progress.error is None for progress in heard)


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
