"""Faults 35 to 43: the same answer every time, and the right one."""

import hashlib
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from contracts.methods import METHODS
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine

import landmarks as lm

METHODS = [name for name in METHODS if name not in ("exact", "kmeans", "knapsack")]
WINE = load_wine().data
WINE = (WINE - WINE.mean(0)) / WINE.std(0)
DIGITS = load_digits().data[:300]
REFERENCE = """
import json, sys
import numpy as np
from sklearn.datasets import load_digits, load_wine
import landmarks as lm
wine = load_wine().data
wine = (wine - wine.mean(0)) / wine.std(0)
digits = load_digits().data[:300]
problems = [lm.data(wine), lm.data(digits), lm.kernel(wine, lm.rbf(sigma=3.0))]
methods = ("auto", "greedy", "swap", "annealed", "nuclear", "rpcholesky")
found = [lm.select(p, 6, method=m) for p in problems for m in methods]
print(json.dumps([[s.indices.tolist(), s.error()] for s in found]))
"""


@pytest.mark.parametrize("method", METHODS)
def test_fault_35_one_seed_gives_the_same_bits_twice(method):
    first, second = (lm.select(WINE, 5, method=method, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.indices, second.indices)
    assert first.error() == second.error()


@pytest.mark.parametrize("method", ["rpcholesky", "auto", "kdpp"])
def test_fault_35_also_after_pickle_and_clone(method):
    selector = lm.ColumnSelector(5, method=method, random_state=7, center=True)
    expected = clone(selector).fit(WINE).indices_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(selector)).fit(WINE).indices_, expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(selector.fit(WINE))).indices_, expected)


def test_fault_35_without_a_seed_draws_differ():
    draws = {
        tuple(lm.select(DIGITS, 10, method="uniform", seed=None, scale=False).indices.tolist())
        for _ in range(5)
    }
    assert len(draws) > 1


@pytest.fixture(scope="module")
def by_threads():
    """The reference problems, each with one thread and with two, in processes of their own."""
    outputs = []
    for threads in ("1", "2"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, threads)
        run = subprocess.run(
            [sys.executable, "-c", REFERENCE],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        outputs.append(json.loads(run.stdout))
    return outputs


@pytest.mark.thorough
def test_fault_36_one_thread_and_two_choose_alike(by_threads):
    for (one, error_one), (two, error_two) in zip(*by_threads, strict=True):
        assert sorted(one) == sorted(two)
        assert error_one == pytest.approx(error_two, rel=1e-10)


@pytest.mark.parametrize("method", ["auto", "greedy", "swap", "annealed", "nuclear", "rpcholesky"])
def test_fault_37_chunks_change_no_choice(method):
    points = DIGITS / 16
    whole, chunked = (
        lm.select(lm.kernel(points, lm.rbf(sigma=2.0), memory=memory), 8, method=method).indices
        for memory in (2**28, 2**20)
    )
    np.testing.assert_array_equal(whole, chunked)


def random_states():
    states = [hashlib.sha256(repr(np.random.get_state()).encode()).hexdigest()]
    if "torch" in sys.modules:
        states.append(sys.modules["torch"].get_rng_state().numpy().tobytes())
    return states


@pytest.mark.parametrize("method", METHODS)
def test_fault_38_global_random_states_are_untouched(method):
    before = random_states()
    lm.select(WINE, 4, method=method, seed=None)
    lm.ColumnSelector(4, method=method, center=True).fit(WINE)
    assert random_states() == before
