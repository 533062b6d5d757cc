"""Faults 3 and 44 to 50: late values, interrupts, crashes, resources."""

import os
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import clusters
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import landmarks as lm
from landmarks.errors import FormatError

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
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


def test_fault_44_an_interrupt_leaves_a_checkpoint_from_which_the_run_goes_on(tmp_path):
    path, calls = tmp_path / "run.npz", []

    def interrupted(V):
        calls.append(V.shape)
        if len(calls) == 30:
            os.kill(os.getpid(), signal.SIGINT)
        return K @ V

    method = lm.Continuous(strategy="frank_wolfe")
    with pytest.raises(KeyboardInterrupt):
        lm.select(
            lm.function(interrupted, n=60),
            6,
            method=method,
            checkpoint=lm.Checkpoint(path, interval=0),
        )
    assert len(calls) == 30
    resumed = lm.select(lm.function(lambda V: K @ V, n=60), 6, method=method, checkpoint=path)
    whole = lm.select(lm.function(lambda V: K @ V, n=60), 6, method=method)
    np.testing.assert_array_equal(resumed.indices, whole.indices)
    np.testing.assert_array_equal(resumed.path.t, whole.path.t)


def test_fault_44_the_command_line_ends_with_130(tmp_path):
    file = tmp_path / "table.csv"
    np.savetxt(file, np.random.default_rng(0).standard_normal((400, 300)), delimiter=",")
    command = [
        sys.executable,
        "-m",
        "landmarks",
        "select",
        str(file),
        "--k",
        "40",
        "--budget",
        "60",
        "--out",
        str(tmp_path / "out.csv"),
    ]
    program = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    time.sleep(6)
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=30)
    assert program.returncode == 130
    assert "interrupted" in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv"]


def test_fault_45_killed_at_random_times_a_run_resumes_to_the_same_bits():
    run = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "kill_test"), "--kills", "8"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.count("0 other results, 0 files left behind") == 4


def checkpointed(path, A=K, k=6, **settings):
    return lm.select(
        lm.psd(A), k, method="swap", checkpoint=lm.Checkpoint(path, interval=0), **settings
    )


def test_fault_46_a_damaged_or_foreign_checkpoint_is_refused_and_stays(tmp_path):
    path = tmp_path / "run.npz"
    checkpointed(path)
    whole = path.read_bytes()
    with pytest.raises(ValueError, match="a run on other data, so it is not overwritten"):
        checkpointed(path, A=K + np.eye(60))
    with pytest.raises(ValueError, match="to a run with k = 6, but this run has 7"):
        checkpointed(path, k=7)
    assert path.read_bytes() == whole
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError):
        checkpointed(path)
    assert path.read_bytes() == whole[: len(whole) // 2]


FULL_DISK = """
import resource, signal, sys
import numpy as np
import landmarks as lm
F = np.random.default_rng(1).standard_normal((60, 60))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    lm.select(lm.psd(F @ F.T), 6, method="swap", checkpoint=lm.Checkpoint(sys.argv[1], interval=0))
except OSError as error:
    print(error)
"""


def test_fault_46_a_full_disk_leaves_the_old_checkpoint_and_nothing_else(tmp_path):
    path = tmp_path / "run.npz"
    checkpointed(path)
    whole = path.read_bytes()
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "new.npz")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "could not be written" in run.stdout
    assert path.read_bytes() == whole
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_fault_47_a_worker_killed_in_a_kernel_product_changes_nothing(tmp_path):
    da = pytest.importorskip("dask.array")
    pytest.importorskip("distributed")
    points = np.random.default_rng(0).standard_normal((5000, 3))  # few would not go to the workers
    deadly = clusters.DeadlyKernel(str(tmp_path / "struck"), float(points[-1, 0]))
    with clusters.cluster(2, silence_logs=50):
        K = lm.kernel(da.from_array(points, chunks=(1250, 3)), deadly)
        far = lm.select(K, 5, method="greedy").indices
    assert (tmp_path / "struck").exists()
    near = lm.select(lm.kernel(points, lm.rbf(sigma=1.0)), 5, method="greedy").indices
    np.testing.assert_array_equal(far, near)


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


@pytest.mark.parametrize(
    "failure",
    [
        MemoryError("no room"),
        RuntimeError("CUDA out of memory"),
        RuntimeError("[enforce] can't allocate memory"),
    ],
)
def test_fault_49_a_chunk_that_does_not_fit_is_halved_with_one_warning(failure):
    def tight(x, y):
        if x.shape[0] * y.shape[0] > 5000:
            raise failure
        return np.exp(-((x[:, None] - y[None]) ** 2).sum(-1))

    operator = lm.kernel(POINTS, tight, memory=2**20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        product = operator.matmul(np.ones((300, 1)))
    np.testing.assert_allclose(
        product, lm.kernel(POINTS, lm.rbf(sigma=1.0)).matmul(np.ones((300, 1))), rtol=1e-12
    )
    assert [str(w.message) for w in caught if "did not fit" in str(w.message)] == [
        "a chunk of kernel values did not fit in memory; going on with chunks of half the size"
    ]


def test_fault_49_below_the_floor_the_error_comes_through():
    def hopeless(x, y):
        if x.shape[0] * y.shape[0] > 9:
            raise MemoryError("no room at all")
        return np.ones((x.shape[0], y.shape[0]))

    with warnings.catch_warnings(), pytest.raises(MemoryError, match="no room at all"):
        warnings.simplefilter("ignore")
        lm.kernel(POINTS, hopeless, memory=2**20).matmul(np.ones((300, 1)))


def test_fault_50_what_a_callback_raises_ends_the_run_and_the_next_one_is_whole():
    class Enough(Exception):
        pass

    def callback(progress):
        raise Enough

    with pytest.raises(Enough):
        lm.select(lm.psd(K), 6, callback=callback)
    np.testing.assert_array_equal(lm.select(lm.psd(K), 6).indices, lm.select(lm.psd(K), 6).indices)


def test_fault_50_a_callback_cannot_change_the_run():
    def meddling(progress):
        for name in ("phase", "done", "error"):
            object.__setattr__(progress, name, None)

    np.testing.assert_array_equal(
        lm.select(lm.psd(K), 6, callback=meddling).indices, lm.select(lm.psd(K), 6).indices
    )
