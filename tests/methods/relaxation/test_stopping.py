"""Stopping rules: `Stop` against counters kept by hand, and rules of the user's own."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import landmarks as lm
from landmarks.methods.relaxation.stopping import History, Steps, Stop

X = np.random.default_rng(0).standard_normal((30, 10))


def first_stop(rule, changes, frozen):
    """The number of the step after which the rule first holds, by counting as one goes."""
    calm = last_frozen = 0
    for i, (change, froze) in enumerate(zip(changes, frozen, strict=True)):
        calm = calm + 1 if change <= rule.tolerance else 0
        last_frozen = i if froze else last_frozen
        if calm >= rule.patience or i - last_frozen >= rule.settled:
            return i
    return None


@settings(max_examples=200, deadline=None)
@given(
    steps=st.lists(st.tuples(st.sampled_from([0.0, 1e-4, 0.1]), st.booleans()), max_size=30),
    patience=st.integers(1, 5),
    settled=st.integers(1, 8),
)
def test_the_rule_agrees_with_counters(steps, patience, settled):
    rule, history, active = Stop(patience=patience, settled=settled), History(), 100
    held = []
    for change, froze in steps:
        active -= froze
        history.add(0.0, np.array([0.0, -change]), active)
        held.append(rule(history))
    expected = first_stop(rule, *zip(*steps, strict=True)) if steps else None
    assert (held.index(True) if any(held) else None) == expected


def test_a_history_keeps_the_value_the_largest_change_and_the_active_columns(xp):
    history = History()
    history.add(-2.5, xp.asarray([0.1, -0.3]), 2)
    assert (history.value, history.change, history.active) == ([-2.5], [pytest.approx(0.3)], [2])


@pytest.mark.parametrize("n_steps", [1, 7])
def test_steps_makes_just_so_many(n_steps):
    method = lm.Continuous(penalty=1.0, delta=0.1, stop=Steps(n_steps))
    assert len(lm.select(X, method=method).path) == n_steps


@dataclass(frozen=True)
class LowEnough:
    """Stop when the objective is below a value."""

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


def test_a_stop_without_a_penalty_is_refused():
    with pytest.raises(ValueError, match="stop ends a descent with a given penalty"):
        lm.Continuous(stop=Steps(3))
