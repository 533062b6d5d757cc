"""Faults 3 and 44 to 50: late values, interrupts, crashes, resources."""

import os
import signal
import time
import tracemalloc

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import landmarks as lm

pytestmark = pytest.mark.thorough
POINTS = np.random.default_rng(0).standard_normal((300, 3))
F = np.random.default_rng(1).standard_normal((60, 60))
K = F @ F.T


@pytest.fixture
def late(tmp_path):
    """A file of rows with a missing value near its end."""
    X = np.random.default_rng(0).standard_normal((4000, 5))
    X[3500, 2] = np.nan
    np.save(tmp_path / "late.npy", X)
    return tmp_path / "late.npy"


def test_fault_03_a_late_missing_value_in_a_file_or_memory_map_is_reported_with_its_row(late):
    for source in (str(late), np.load(late, mmap_mode="r"), iter(np.array_split(np.load(late), 8))):
        with pytest.raises(ValueError, match="row 3500.*NaN|NaN.*row 3500"):
            lm.select(source, 2)


def test_fault_03_a_late_missing_value_in_a_dask_array_is_reported_with_its_rows(late):
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="NaN.*(3500|3000)"):
        lm.select(da.from_array(np.load(late), chunks=(500, 5)), 2)


def test_fault_44_an_interrupt_ends_a_fit_within_one_product_and_leaves_no_half_fit():
    selector = lm.ColumnSelector(2, method=Interrupting(), center=True)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(POINTS)
    with pytest.raises(NotFittedError):
        selector.transform(POINTS)


class Interrupting:
    """A method during which the user presses Ctrl-C."""

    honours = frozenset()

    def choose(self, problem, rng):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
        raise AssertionError("the interrupt did not come")


def test_fault_48_a_kernel_of_twenty_thousand_points_stays_below_a_gigabyte():
    points = np.random.default_rng(0).standard_normal((20_000, 2)).astype(np.float32)
    tracemalloc.start()
    lm.select(lm.kernel(points, lm.rbf(sigma=1.0)), 10, method=lm.NuclearScores(n_probes=10))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**30


def test_fault_48_what_cannot_fit_is_refused_with_its_size_before_anything_is_allocated():
    points = np.zeros((200_000, 1), dtype=np.float32)
    tracemalloc.start()
    with pytest.raises(
        MemoryError, match=r"storing K needs 149.0 GiB.*use a method that works on products"
    ):
        lm.select(lm.kernel(points, lm.rbf(sigma=1.0)), 3, method="kdpp")
    assert tracemalloc.get_traced_memory()[1] < 2**28
    tracemalloc.stop()
