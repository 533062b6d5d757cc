"""Runs to interrupt, and callbacks that do so."""

from dataclasses import dataclass

import numpy as np
import pytest
from contracts.methods import CONTRACT

import landmarks as lm
from landmarks.methods.registry import as_method
from landmarks.methods.relaxation.algorithm_1 import Stop
from landmarks.methods.relaxation.continuous import Bisection, WarmPath
from landmarks.problem import complete
from landmarks.runs.runner import Step
from landmarks.runs.runner import run as run_steps
from landmarks.runs.state import State

RNG = np.random.default_rng(1)
X = RNG.standard_normal((25, 40)) * np.linspace(1, 3, 40)
POINTS = RNG.standard_normal((60, 2))
K = X.T @ X


class Crash(Exception):
    pass


class CrashAt:
    """A callback that raises at the j-th report."""

    def __init__(self, j):
        self.left = j

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0:
            raise Crash


def facts(s):
    """All that must come out the same, to the last bit."""
    path = (
        None
        if not s.path
        else [part.tobytes() for part in (s.path.t, s.path.value, s.path.active, s.path.steps)]
    )
    trials = [(trial.label, trial.error) for trial in s.trials]
    return s.indices.tolist(), path, s.bound, trials, s.ledger.products, s.ledger.columns


def runs():
    black_box = lambda: lm.function(lambda V: K @ V, n=40)  # noqa: E731
    kernel = lambda: lm.kernel(POINTS, lm.rbf(sigma=0.7))  # noqa: E731
    columns = lambda: X  # noqa: E731
    few = lambda: X[:, :16]  # noqa: E731
    short = lm.Continuous(strategy=Bisection(n_steps=8, bracket_steps=4, bisections=2))
    return {
        "auto": (columns, 8, "auto", "trace"),
        "auto, frobenius": (kernel, 6, "auto", "frobenius"),
        "auto, black box": (black_box, 4, "auto", "trace"),
        "greedy": (kernel, 6, lm.Greedy(gain="frobenius"), "trace"),
        "swap": (kernel, 6, lm.Swap(start="uniform"), "frobenius"),
        "iterated": (columns, 8, lm.Iterated(start="rpcholesky", rounds=30), "trace"),
        "nested": (
            columns,
            8,
            lm.Swap(start=lm.Swap(start="annealed", criterion="trace")),
            "frobenius",
        ),
        "annealed": (columns, 8, lm.Annealed(n_steps=15), "frobenius"),
        "annealed, black box": (black_box, 4, lm.Annealed(n_steps=12), "trace"),
        "nuclear": (black_box, 6, lm.NuclearScores(n_probes=20), "trace"),
        "rpcholesky": (kernel, 10, lm.RPCholesky(block=2), "trace"),
        "leverage": (kernel, 6, "leverage", "trace"),
        "pivoted_qr": (columns, 6, "pivoted_qr", "trace"),
        "continuous": (columns, 6, short, "trace"),
        "continuous, polished": (
            columns,
            6,
            lm.Continuous(strategy=WarmPath(growth=1.2), polish=True),
            "frobenius",
        ),
        "continuous, path": (columns, 6, lm.Continuous(strategy=WarmPath(growth=1.1)), "trace"),
        "continuous, penalty": (
            columns,
            None,
            lm.Continuous(penalty=2.0, stop=Stop(max_steps=30)),
            "trace",
        ),
        "exact": (few, 5, "exact", "trace"),
        "exact, frobenius": (few, 4, lm.Exact(start="uniform"), "frobenius"),
    }


def under_contract(known):
    """A run of every method of the contract whose class has none yet, 20 picks long."""
    classes = {type(as_method(method)) for _, _, method, _ in known.values()}
    for entry in CONTRACT:
        if type(entry.method) not in classes:
            data = X if entry.serves is None else lm.kernel(POINTS, lm.rbf(sigma=0.7))
            yield repr(entry), (lambda data=data: data, 20, entry.method, "trace")


RUNS = runs()
RUNS |= dict(under_contract(RUNS))


def run(name, **more):
    make, k, method, criterion = RUNS[name]
    included = {"include": [3]} if "include" in as_method(method).honours else {}
    return lm.select(make(), k, method=method, criterion=criterion, **included, **more)


class Count:
    """A callback that counts the reports."""

    def __init__(self):
        self.reports = 0

    def __call__(self, progress):
        self.reports += 1


SHORT = 6  # reports of loops that may be made again


def moments(reports):
    """The numbers of some reports: the first two, the last and three others."""
    if reports == 0:
        return set()
    some = np.random.default_rng(0).integers(1, reports + 1, size=3).tolist()
    return {1, min(2, reports), reports, *some}


def check_resumes(run, path):
    """A run that crashed anywhere goes on from there, to the same result."""
    count = Count()
    expected = facts(run(callback=count))
    for j in moments(count.reports):
        path.unlink(missing_ok=True)
        with pytest.raises(Crash):
            run(callback=CrashAt(j), checkpoint=lm.Checkpoint(path, interval=3600))
        rest = Count()
        resumed = run(callback=rest, checkpoint=lm.Checkpoint(path, interval=3600))
        assert facts(resumed) == expected
        assert rest.reports <= count.reports - j + SHORT, "it started again"


@dataclass(frozen=True)
class Forgetful:
    """The columns of largest norm, pick by pick.

    whole : whether `run` is given no state at all; else one that lacks the picks.
    """

    whole: bool
    honours = frozenset()

    def choose(self, problem, rng):
        order = np.argsort(-np.asarray(problem.operator.diagonal()), kind="stable")
        picks = []
        count = Counted()
        states = () if self.whole else (count,)
        run_steps("forgetful", self.steps(problem, order, picks, count), *states)
        return lm.Choice(complete(problem, picks))

    def steps(self, problem, order, picks, count):
        while count.done < problem.k:
            picks.append(int(order[count.done]))
            count.done += 1
            yield Step(count.done, problem.k)


@dataclass
class Counted(State):
    done: int = 0
