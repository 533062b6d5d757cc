"""A run that is cut off and continued gives the same result; files of other runs are refused."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import FormatError
from landmarks.methods.relaxation.bisection import Bisection
from landmarks.methods.relaxation.steps import Adam
from landmarks.methods.relaxation.stopping import Stop
from landmarks.methods.relaxation.warm_path import WarmPath
from landmarks.runs import archive, snapshots

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


class Count:
    """A callback that counts the reports."""

    def __init__(self):
        self.reports = 0

    def __call__(self, progress):
        self.reports += 1


def facts(s):
    """All that must come out the same, to the last bit."""
    path = (
        None
        if not s.path
        else [part.tobytes() for part in (s.path.t, s.path.value, s.path.active, s.path.steps)]
    )
    trials = [(trial.label, trial.error) for trial in s.trials]
    return s.indices.tolist(), path, s.bound, trials, s.ledger.products, s.ledger.columns


@pytest.fixture
def no_fsync(monkeypatch):
    """Nothing here cuts the power, and waiting for the disk after every step takes long."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def every_step(monkeypatch):
    """Snapshots after every step, but written only at the start and at a crash, to save time."""
    monkeypatch.setattr(snapshots, "PAUSE", 0)
    monkeypatch.setattr(snapshots, "SNAPSHOT_SHARE", np.inf)
    monkeypatch.setattr(snapshots, "WRITE_SHARE", np.inf)


@pytest.fixture
def path(tmp_path):
    yield tmp_path / "run.npz"
    assert {entry.name for entry in tmp_path.iterdir()} <= {"run.npz"}, "files left behind"


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
        "iterated": (columns, 8, lm.Iterated(start="rpcholesky", rounds=10), "trace"),
        "nested": (
            columns,
            8,
            lm.Swap(start=lm.Swap(start="annealed", criterion="trace")),
            "frobenius",
        ),
        "annealed": (columns, 8, lm.Annealed(n_steps=15), "frobenius"),
        "annealed by candidates": (columns, 6, lm.Annealed(n_candidates=20, n_steps=12), "trace"),
        "annealed, black box": (black_box, 4, lm.Annealed(n_candidates=20, n_steps=12), "trace"),
        "nuclear": (black_box, 6, lm.NuclearScores(n_probes=20), "trace"),
        "rpcholesky": (kernel, 10, lm.RPCholesky(block=2), "trace"),
        "leverage": (kernel, 6, "leverage", "trace"),
        "pivoted_qr": (columns, 6, "pivoted_qr", "trace"),
        "continuous": (columns, 6, short, "trace"),
        "continuous, polished": (
            columns,
            6,
            lm.Continuous(strategy="frank_wolfe", polish=True),
            "frobenius",
        ),
        "continuous, path": (
            columns,
            6,
            lm.Continuous(strategy=WarmPath(growth=1.1)),
            "trace",
        ),
        "continuous, penalty": (
            columns,
            None,
            lm.Continuous(penalty=2.0, step=Adam(0.1), stop=Stop(max_steps=30)),
            "trace",
        ),
        "exact": (few, 5, "exact", "trace"),
        "exact, frobenius": (few, 4, lm.Exact(start="uniform"), "frobenius"),
    }


RUNS = runs()


def run(name, **more):
    make, k, method, criterion = RUNS[name]
    return lm.select(make(), k, method=method, criterion=criterion, include=[3], **more)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_crashed_anywhere_resumes_to_the_same_result(name, path, every_step):
    count = Count()
    expected = facts(run(name, callback=count))
    for j in {
        1,
        2,
        count.reports,
        *np.random.default_rng(0).integers(1, count.reports + 1, size=3).tolist(),
    }:
        path.unlink(missing_ok=True)
        with pytest.raises(Crash):
            run(name, callback=CrashAt(j), checkpoint=lm.Checkpoint(path, interval=3600))
        rest = Count()
        assert (
            facts(run(name, callback=rest, checkpoint=lm.Checkpoint(path, interval=3600)))
            == expected
        )
        assert (
            rest.reports <= count.reports - j + 6
        )  # it goes on, and does not start again; short loops may be run again


@pytest.mark.parametrize("name", ["auto", "iterated", "continuous", "exact"])
def test_a_run_may_crash_many_times_and_write_when_it_likes(name, path, no_fsync):
    expected, crashes = facts(run(name)), 0
    while True:
        interval = (0, 1e-3, 3600)[crashes % 3]  # at the longest only the crash itself writes
        with suppress(Crash):
            last = run(
                name, callback=CrashAt(12), checkpoint=lm.Checkpoint(path, interval=interval)
            )
            break
        crashes += 1
    assert crashes >= 2
    assert facts(last) == expected


def test_arrays_of_every_library_are_resumed(xp, path, every_step):
    def select(**more):
        points = xp.asarray(POINTS.astype(np.float32))
        start = lm.Continuous(strategy=WarmPath(growth=1.2))
        return lm.select(
            lm.kernel(points, lm.rbf(sigma=0.7)), 5, method=lm.Swap(start=start), **more
        )

    count = Count()
    expected = facts(select(callback=count))
    for j in (1, count.reports // 2, count.reports):
        path.unlink(missing_ok=True)
        with pytest.raises(Crash):
            select(callback=CrashAt(j), checkpoint=lm.Checkpoint(path, interval=3600))
        assert facts(select(checkpoint=path)) == expected


def test_a_fresh_seed_is_kept_in_the_checkpoint(path, no_fsync):
    with pytest.raises(Crash):
        lm.select(
            X,
            8,
            method="rpcholesky",
            seed=None,
            callback=CrashAt(3),
            checkpoint=lm.Checkpoint(path, interval=0),
        )
    first = lm.select(X, 8, method="rpcholesky", seed=None, checkpoint=path)
    assert (
        first.indices.tolist()
        == lm.select(X, 8, method="rpcholesky", seed=None, checkpoint=path).indices.tolist()
    )


def test_a_finished_run_is_read_and_not_run_again(path):
    calls = []
    operator = lm.function(lambda V: (calls.append(1), K @ V)[1], n=40, check_symmetric=False)
    first = lm.select(operator, 5, checkpoint=path)
    written, before = path.read_bytes(), len(calls)
    again = lm.select(operator, 5, checkpoint=path)
    assert len(calls) == before + 1  # the product that tells the data apart
    assert facts(again) == facts(first)
    assert path.read_bytes() == written


def test_the_seconds_of_all_parts_are_added_up(path, no_fsync):
    with pytest.raises(Crash):
        run("continuous", callback=CrashAt(20), checkpoint=lm.Checkpoint(path, interval=0))
    used = archive.read(path, max_bytes=2**30, allowed=lambda name: True)[0]["run"]["seconds"]
    assert run("continuous", checkpoint=path).ledger.seconds > used > 0


@pytest.mark.parametrize("j", [12, 30, 47])
def test_ctrl_c_leaves_a_checkpoint_and_nothing_else(j, path):
    products = []

    def mvm(V):
        products.append(1)
        if len(products) == j:
            signal.raise_signal(signal.SIGINT)
        return K @ V

    def select(mvm, **more):
        return lm.select(lm.function(mvm, n=40, diagonal=np.diag(K)), 6, method="iterated", **more)

    with pytest.raises(KeyboardInterrupt):
        select(mvm, checkpoint=path)
    assert len(products) == j
    assert facts(select(lambda V: K @ V, checkpoint=path)) == facts(select(lambda V: K @ V))


def test_nan_from_a_product_is_reported_with_its_step_and_the_state_before_is_kept(path):
    calls = []

    def mvm(V, broken_at=40):
        calls.append(1)
        return K @ V if len(calls) != broken_at else np.full_like(V, np.nan)

    method = lm.Continuous(strategy="path")
    with pytest.raises(
        ValueError, match="returned NaN or infinity after .* good products"
    ) as caught:
        lm.select(
            lm.function(mvm, n=40), 6, method=method, checkpoint=lm.Checkpoint(path, interval=0)
        )
    assert any("in path, after step" in note for note in caught.value.__notes__)
    good = lm.function(lambda V: K @ V, n=40)
    assert facts(lm.select(good, 6, method=method, checkpoint=path)) == facts(
        lm.select(lm.function(lambda V: K @ V, n=40), 6, method=method)
    )


def test_a_run_stopped_by_its_callback_can_be_resumed_to_its_end(path):
    count = Count()
    expected = facts(run("iterated", callback=count))
    stopped = run(
        "iterated",
        callback=lambda progress: progress.done == 5 and progress.phase == "iterated",
        checkpoint=path,
    )
    assert stopped.stopped and len(stopped) == 8
    rest = Count()
    assert facts(run("iterated", callback=rest, checkpoint=path)) == expected
    assert rest.reports < count.reports


def test_a_select_inside_the_callback_does_not_disturb_the_run(path, no_fsync):
    def callback(progress):
        lm.select(X[:, :9], 2, method="swap")

    assert facts(
        run("swap", callback=callback, checkpoint=lm.Checkpoint(path, interval=0))
    ) == facts(run("swap"))


@pytest.fixture
def unfinished(path, no_fsync):
    with pytest.raises(Crash):
        lm.select(
            X,
            8,
            method="iterated",
            callback=CrashAt(12),
            checkpoint=lm.Checkpoint(path, interval=0),
        )
    return path


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"k": 7}, "with k = 8, this one has 7"),
        (
            {"method": lm.Iterated(rounds=9)},
            r"with method = 'Iterated\(\)', this one has 'Iterated\(rounds=9\)'",
        ),
        ({"seed": 1}, "with seed = 0, this one has 1"),
        ({"criterion": "frobenius"}, "with criterion = 'trace', this one has 'frobenius'"),
        ({"include": [1]}, r"with include = \[\], this one has \[1\]"),
        ({"budget": 5}, "with budget = None, this one has 5.0"),
        ({"A": X + 1e-12}, "is of other data"),
        ({"A": X.astype(np.float32)}, "is of other data"),
        ({"A": lm.psd(K)}, "is of other data"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused_and_left_alone(change, sentence, unfinished):
    before = unfinished.read_bytes()
    with pytest.raises(ValueError, match=sentence):
        lm.select(**{"A": X, "k": 8, "method": "iterated", "checkpoint": unfinished} | change)
    assert unfinished.read_bytes() == before


def test_a_checkpoint_with_other_costs_is_refused(path, no_fsync):
    def run(costs, **more):
        return lm.select(
            X, costs=costs, budget_cost=8.0, checkpoint=lm.Checkpoint(path, interval=0), **more
        )

    with pytest.raises(Crash):
        run(np.ones(40), callback=CrashAt(2))
    with pytest.raises(ValueError, match=r"with costs = \[1\.0, .*\], this one has \[2\.0, "):
        run(np.full(40, 2.0))


def test_two_long_lists_of_starts_are_told_apart(path):
    start, operator = np.arange(1100), lm.psd(np.eye(1200), check_symmetric=False)
    lm.select(operator, 1100, method=lm.Swap(start=start, max_swaps=0), checkpoint=path)
    start[600] = 1150
    with pytest.raises(ValueError, match="with method"):
        lm.select(operator, 1100, method=lm.Swap(start=start, max_swaps=0), checkpoint=path)


def test_black_boxes_are_told_apart_by_a_product(path):
    def select(matrix):
        return lm.select(
            lm.function(lambda V: matrix @ V, n=40), 4, method="nuclear", checkpoint=path
        )

    first = select(K)
    assert facts(select(K * (1 + 1e-9))) == facts(first)
    with pytest.raises(ValueError, match="is of other data"):
        select(K * (1 + 1e-4))


def test_a_truncated_checkpoint_is_refused_and_left_alone(unfinished):
    whole = unfinished.read_bytes()
    for length in [
        0,
        1,
        100,
        *np.random.default_rng(0).integers(0, len(whole), size=20).tolist(),
        len(whole) - 1,
    ]:
        unfinished.write_bytes(whole[:length])
        with pytest.raises(FormatError, match="not a readable npz file"):
            lm.select(X, 8, method="iterated", checkpoint=unfinished)
        assert unfinished.read_bytes() == whole[:length]


def test_a_checkpoint_with_a_changed_byte_is_refused_or_means_the_same(unfinished):
    whole, expected = unfinished.read_bytes(), facts(lm.select(X, 8, method="iterated"))
    for place in np.random.default_rng(1).integers(0, len(whole), size=60):
        broken = bytearray(whole)
        broken[place] ^= 0x11
        unfinished.write_bytes(bytes(broken))
        try:  # a few bytes of a zip file say nothing, such as the times of its members
            assert facts(lm.select(X, 8, method="iterated", checkpoint=unfinished)) == expected
        except FormatError:
            assert unfinished.read_bytes() == bytes(broken)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"version": 2}, "has checkpoint version 2, this program reads version 1"),
        ({"format": "other"}, "not a checkpoint"),
        ({"run": 3}, "damaged"),
    ],
)
def test_a_newer_or_edited_checkpoint_is_refused(change, sentence, unfinished):
    record, arrays = archive.read(unfinished, max_bytes=2**30, allowed=lambda name: True)
    archive.write(unfinished, record | change, arrays)
    before = unfinished.read_bytes()
    with pytest.raises(FormatError, match=sentence):
        lm.select(X, 8, method="iterated", checkpoint=unfinished)
    assert unfinished.read_bytes() == before


def test_a_saved_selection_is_no_checkpoint(path):
    lm.select(X, 3).save(path)
    with pytest.raises(FormatError):
        lm.select(X, 3, checkpoint=path)
    assert len(lm.load(path)) == 3


def test_a_file_that_claims_more_than_it_holds_is_refused_before_anything_is_allocated(path):
    header = json.dumps({"format": "landmarks-checkpoint", "version": 1}).encode()
    archive.write(path, {}, {"a0": np.zeros(3)})
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"(3,)", b"(9,)"))
    with pytest.raises(FormatError):
        lm.select(X, 3, checkpoint=path)
    assert header not in path.read_bytes()


@pytest.mark.parametrize(
    "checkpoint, kind", [(3, TypeError), (True, TypeError), (b"run", TypeError)]
)
def test_something_else_than_a_path_is_refused(checkpoint, kind):
    with pytest.raises(kind, match="checkpoint must be a path or a Checkpoint"):
        lm.select(X, 3, checkpoint=checkpoint)


def test_a_folder_that_is_missing_is_told_at_once(tmp_path):
    with pytest.raises(OSError, match=r"could not be written .*; there is none yet"):
        lm.select(X, 3, checkpoint=tmp_path / "nowhere" / "run.npz")


def test_a_leftover_of_a_killed_run_is_removed(path):
    path.with_name(".run.npz.tmp").write_bytes(b"half a file")
    lm.select(X, 3, checkpoint=path)


def test_a_temporary_file_that_another_run_is_writing_is_left_alone(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    temporary = tmp_path / ".run.npz.tmp"
    with open(temporary, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another run is writing"):
            lm.select(X, 3, checkpoint=tmp_path / "run.npz")
        assert temporary.exists()


def in_python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )


RUN = """
import sys, resource, numpy as np, landmarks as lm
rng = np.random.default_rng(1)
X = rng.standard_normal((25, 40)) * np.linspace(1, 3, 40)
if len(sys.argv) > 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
lm.select(X, 8, method="iterated", checkpoint=lm.Checkpoint(sys.argv[1], interval=0))
"""


def test_a_limit_on_the_size_of_files_is_an_error_that_leaves_the_old_checkpoint(unfinished):
    pytest.importorskip("resource")
    before = unfinished.read_bytes()
    ended = in_python(RUN, unfinished, len(before) // 2)
    assert ended.returncode == 1
    assert "could not be written" in ended.stderr and "the last one is kept" in ended.stderr
    assert unfinished.read_bytes() == before
    assert facts(lm.select(X, 8, method="iterated", checkpoint=unfinished)) == facts(
        lm.select(X, 8, method="iterated")
    )


@pytest.fixture
def small_disk():
    """A file system of 64 kB of its own."""
    folder = Path(tempfile.mkdtemp())
    made = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True
        )
        if sys.platform == "linux"
        else None
    )
    if made is None or made.returncode != 0:
        folder.rmdir()
        pytest.skip("mounting a small file system is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


def test_a_full_disk_is_an_error_that_leaves_the_old_checkpoint(small_disk, unfinished):
    before = unfinished.read_bytes()
    assert len(before) < 40_000
    kept = small_disk / "run.npz"
    kept.write_bytes(before)
    with open(small_disk / "other", "wb", buffering=0) as other, suppress(OSError):
        while True:
            other.write(bytes(4096))
    with pytest.raises(OSError, match=r"No space left on device.*the last one is kept"):
        lm.select(X, 8, method="iterated", checkpoint=kept)
    assert kept.read_bytes() == before
    assert {entry.name for entry in small_disk.iterdir()} == {"run.npz", "other"}


def test_a_read_only_folder_is_an_error_that_leaves_the_old_checkpoint(small_disk, unfinished):
    kept = small_disk / "run.npz"
    kept.write_bytes(unfinished.read_bytes())
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(OSError, match=r"Read-only file system.*the last one is kept"):
        lm.select(X, 8, method="iterated", checkpoint=kept)
    assert kept.read_bytes() == unfinished.read_bytes()
    assert [entry.name for entry in small_disk.iterdir()] == ["run.npz"]


KILL_TEST = Path(__file__).parents[1] / "tools" / "kill_test"


def kill(*arguments):
    return subprocess.run(
        [sys.executable, str(KILL_TEST), *arguments], capture_output=True, text=True
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_killed_runs_resume_to_the_same_result():
    ended = kill("--kills", "6")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("0 other results, 0 files left behind") == 2


@pytest.mark.slow
def test_two_hundred_kills():
    ended = kill("--kills", "200", "--seed", "1")
    assert ended.returncode == 0, ended.stdout + ended.stderr
