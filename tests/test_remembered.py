"""Nothing of a call stays in the memory once its result is gone."""

import copy
import gc
import pickle

import numpy as np
import pytest

import landmarks as lm
from landmarks._remembered import Remembered
from landmarks.operators.base import Operator

X = np.random.default_rng(0).standard_normal((20, 7))
CALLS = {
    "data": lambda: lm.select(X, 3),
    "extreme scales": lambda: lm.select(X * 1e-170, 3),
    "frobenius": lambda: lm.select(X, 3, criterion="frobenius").gap(),
    "kernel": lambda: lm.select(lm.kernel(X, lm.rbf(sigma=1.0)), 3, method="swap").nystrom(),
    "psd": lambda: lm.select(lm.psd(X.T @ X), 3).why(),
    "target": lambda: lm.select(X, 3, target=X[:, :2]).lower_bound(),
    "noise": lambda: lm.select(lm.psd(X.T @ X), 3, noise=0.1).error(),
    "logdet": lambda: lm.select(lm.psd(X.T @ X + np.eye(7)), 3, criterion="logdet").gap(),
    "path": lambda: lm.path(X, 4),
    "compare": lambda: lm.compare(X, 3, methods=["greedy", "uniform"]),
    "held out": lambda: lm.held_out(X, [2]),
    "selector": lambda: lm.ColumnSelector(3).fit(X).score(X),
}


def operators():
    gc.collect()
    return sum(issubclass(type(found), Operator) for found in gc.get_objects())


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_data_are_kept_after_a_call(call):
    before = operators()
    call()
    assert operators() == before


def test_a_value_goes_with_its_object_and_is_not_copied():
    norms, operator = Remembered(), lm.psd(np.eye(2))
    norms[operator] = operator  # as the value of a WeakKeyDictionary it would live for ever
    assert norms[operator] is operator and norms.setdefault(operator, None) is operator
    assert copy.copy(operator) not in norms
    assert copy.deepcopy(operator) not in norms
    assert pickle.loads(pickle.dumps(operator)) not in norms
    assert norms.get(lm.psd(np.eye(2)), 5) == 5
