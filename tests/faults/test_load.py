"""Fault 51: many selections at once, in threads and in processes."""

import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import landmarks as lm

pytestmark = pytest.mark.thorough

METHODS = ["auto", "greedy", "swap", "rpcholesky"]


def work(seed):
    """A selection of its own data, and one of data that all share."""
    X = np.random.default_rng(seed).standard_normal((30, 12))
    own = lm.select(X, 4, method=METHODS[seed % len(METHODS)], seed=seed)
    shared = lm.select(SHARED, 4, method="greedy")
    return own.indices.tolist(), own.error(), shared.indices.tolist()


SHARED = np.random.default_rng(99).standard_normal((30, 12))


def test_fault_51_eight_threads_choose_as_one_does():
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(16)))
    assert found == [work(seed) for seed in range(16)]


def test_fault_51_eight_threads_share_one_operator():
    operator = lm.kernel(SHARED, lm.rbf(sigma=3.0))
    expected = [
        lm.select(lm.kernel(SHARED, lm.rbf(sigma=3.0)), 5, method=method).indices.tolist()
        for method in METHODS
    ]
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(
                lambda i: lm.select(operator, 5, method=METHODS[i % 4]).indices.tolist(), range(16)
            )
        )
    assert found == expected * 4


@pytest.mark.parametrize("method", [pytest.param("spawn", marks=pytest.mark.slow), "forkserver"])
def test_fault_51_four_processes_choose_as_one_does(method):
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context(method)) as pool:
        found = list(pool.map(work, range(8), timeout=300))
    assert found == [work(seed) for seed in range(8)]


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_fault_51_estimators_fit_in_joblib_workers(backend):
    import joblib

    fits = joblib.Parallel(n_jobs=4, backend=backend)(
        joblib.delayed(lm.ColumnSelector(4, random_state=seed, center=True).fit)(SHARED)
        for seed in range(6)
    )
    assert [fit.indices_.tolist() for fit in fits] == [
        lm.ColumnSelector(4, random_state=seed, center=True).fit(SHARED).indices_.tolist()
        for seed in range(6)
    ]


AFTER_TORCH = """
import os, sys, warnings
import torch, landmarks as lm
X = torch.randn(400, 60, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
before = lm.select(X, 8, method="swap").indices.tolist()
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    os._exit(0 if lm.select(X, 8, method="swap").indices.tolist() == before else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork here")
def test_fault_51_a_fork_after_torch_was_used_does_not_hang():
    pytest.importorskip("torch")
    subprocess.run([sys.executable, "-c", AFTER_TORCH], check=True, timeout=120)


ROW = """
import os, warnings
import numpy as np, landmarks as lm
warnings.simplefilter("ignore")
def left():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    anonymous = int(status["RssAnon"].split()[0])
    return anonymous, len(os.listdir("/proc/self/fd")), int(status["Threads"])
def some(count):
    for i in range(count):
        X = np.random.default_rng(i).standard_normal((20, 10))
        lm.select(X, 3, method=("greedy", "swap", "rpcholesky", "nuclear")[i % 4]).error()
some(200)
before = left()
some(1000)
print(*(b - a for a, b in zip(before, left())))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what a process holds is read from /proc")
def test_fault_51_a_thousand_selections_leave_nothing_behind():
    printed = subprocess.run(
        [sys.executable, "-c", ROW], check=True, capture_output=True, text=True, timeout=600
    ).stdout
    kilobytes, files, threads = map(int, printed.split())
    assert kilobytes < 2048  # of 1000 leaked operators each would hold 5 kB
    assert files == 0 and threads == 0
