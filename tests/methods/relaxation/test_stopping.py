"""Stopping rules: `Stop` against counters kept by hand, and rules of the user's own."""

from dataclasses import dataclass

import numpy as np
import pytest
from lemmas import oracle

import landmarks as lm
from landmarks.methods.relaxation.algorithm_1 import Steps, Stop

X = np.random.default_rng(0).standard_normal((30, 10))


@pytest.mark.parametrize("seed", [0, 3])
def test_the_default_ends_no_exact_descent_on_a_plateau(seed):
    """Seed 0 has changes below 0.0003 for 90 steps, seed 3 for 380, before a column is frozen."""
    X = np.random.default_rng(seed).standard_normal((30, 10))
    criterion = {0: "frobenius", 3: "trace"}[seed]

    def chosen(stop):
        method = lm.Continuous(penalty=4.0, delta=0.1, n_probes=None, stop=stop)
        return lm.select(X, method=method, criterion=criterion)

    assert set(chosen(None).indices) == set(chosen(Steps(3000)).indices)
    assert len(chosen(None).path) < 600


@dataclass(frozen=True)
class Watched:
    """Never stop, and show the history."""

    shown: list
    max_steps: int = 20

    def __call__(self, history):
        self.shown[:] = [history]
        return False


@pytest.mark.parametrize(("criterion", "objective"), [("trace", oracle.f), ("frobenius", oracle.g)])
def test_both_values_are_those_of_the_paper_and_the_penalised_one_falls(criterion, objective):
    """Against dense NumPy; the path holds float32 weights, of relative rounding 1e-7."""
    shown = []
    method = lm.Continuous(
        penalty=30.0, delta=2.0, n_probes=None, units="absolute", stop=Watched(shown)
    )
    path = lm.select(X, method=method, criterion=criterion).path
    values = np.array([objective(X.T @ X, t.astype(float), 2.0) for t in path.t])
    np.testing.assert_allclose(shown[0].value, values, rtol=1e-5)
    penalised = values + 30.0 * path.t.sum(axis=1)
    np.testing.assert_allclose(shown[0].penalised, penalised, rtol=1e-5)
    assert np.all(np.diff(shown[0].penalised) < 0)


@pytest.mark.parametrize("n_steps", [1, 7])
def test_steps_makes_just_so_many(n_steps):
    method = lm.Continuous(penalty=1.0, delta=0.1, stop=Steps(n_steps))
    assert len(lm.select(X, method=method).path) == n_steps


@dataclass(frozen=True)
class LowEnough:
    """Stop when f, without its penalty, is below a value."""

    value: float
    max_steps: int = 300

    def __call__(self, history):
        return history.value[-1] < self.value


def test_a_rule_of_the_users_own_ends_the_descent():
    full = lm.select(X, method=lm.Continuous(penalty=0.1, delta=0.1, n_probes=None)).path.value
    middle = (full[0] + full.min()) / 2
    method = lm.Continuous(penalty=0.1, delta=0.1, n_probes=None, stop=LowEnough(middle))
    values = lm.select(X, method=method).path.value
    assert len(values) == 1 + np.flatnonzero(full < middle)[0] < len(full)


def test_a_rule_without_a_limit_is_refused():
    with pytest.raises(TypeError, match="stop must have max_steps and be callable with a History"):
        lm.Continuous(penalty=1.0, stop=lambda history: True)


@pytest.mark.parametrize("stop", [Steps(3), Stop()], ids=repr)
def test_a_stop_without_a_penalty_is_refused(stop):
    with pytest.raises(ValueError, match="stop ends a descent with a given penalty"):
        lm.Continuous(stop=stop)
