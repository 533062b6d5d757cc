"""Folders, disks and kills: a checkpoint is complete or not there."""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

import landmarks as lm

from .crashes import X, facts

pytestmark = pytest.mark.thorough


def test_a_folder_that_is_missing_is_reported_at_once(tmp_path):
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


def test_fault_46_a_limit_on_the_size_of_files_is_an_error_that_leaves_the_old_checkpoint(
    unfinished,
):
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


KILL_TEST = Path(__file__).parents[2] / "tools" / "kill_test"


def kill(*arguments):
    return subprocess.run(
        [sys.executable, str(KILL_TEST), *arguments], capture_output=True, text=True
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_fault_45_killed_runs_resume_to_the_same_result():
    ended = kill("--kills", "8")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("0 other results, 0 files left behind") == 4


@pytest.mark.slow
def test_two_hundred_kills():
    ended = kill("--kills", "200", "--seed", "1")
    assert ended.returncode == 0, ended.stdout + ended.stderr
