"""The trial of a mutant: its tests in a separate process, on a changed copy of the repository."""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mutation.cover import Cover
    from mutation.mutant import Mutant

# Imported once, before the processes fork: they take longer than most tests. None that extends
# pytest: pytest must come first.
LIBRARIES = (
    "numpy",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.datasets",
    "sklearn.gaussian_process",
    "torch",
    "array_api_strict",
    "array_api_compat.torch",
    "dask.array",
    "distributed",
    "pandas",
    "h5py",
)
PATIENCE = 60.0  # seconds beyond four times what the tests took when recorded
MEMORY = 6 << 30


def preload() -> None:
    """Import the libraries, those that are there."""
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)


def start(action: Callable[[], Any], folder: Path, log: Path) -> int:
    """Run the action in a separate process, in the folder; the exit status is 1 if it fails."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 3
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        with log.open("w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        os.chdir(folder)
        status = int(action() or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def forked(action: Callable[[], Any], folder: Path, log: Path) -> int:
    """The exit status of the action, waited for."""
    return os.waitstatus_to_exitcode(os.waitpid(start(action, folder, log), 0)[1])


class Chosen:
    """A plugin of pytest: these tests, in this order."""

    def __init__(self, tests: list[str]) -> None:
        self.rank = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.rank),
            key=lambda item: self.rank[item.nodeid],
        )


def run_tests(tests: list[str]) -> int:
    """Pytest's status after these tests, up to the first that fails."""
    sys.dont_write_bytecode = True
    files = dict.fromkeys(test.split("::")[0] for test in tests)
    return pytest.main(
        ["-q", "-x", "-p", "no:cacheprovider", "--tb=short", *files], plugins=[Chosen(tests)]
    )


@dataclass
class Trial:
    """A mutant whose tests run now."""

    mutant: Mutant
    copy: Path
    deadline: float

    @property
    def log(self) -> Path:
        """What the tests print."""
        return self.copy / "log.txt"


class Trials:
    """As many trials at once as there are copies."""

    def __init__(self, copies: list[Path], cover: Cover) -> None:
        self.copies, self.cover = copies, cover
        self.running: dict[int, Trial] = {}
        self.fates: dict[Mutant, str] = {}
        self.killers: dict[Mutant, str] = {}

    def unchanged(self, mutants: list[Mutant]) -> None:
        """Make sure that the tests of these mutants pass where nothing is changed."""
        for mutant in mutants:
            tests = self.cover.tests(mutant)
            log = self.copies[0] / "log.txt"
            if tests and forked(lambda tests=tests: run_tests(tests), self.copies[0], log):
                sys.exit(f"the tests fail without a change:\n{log.read_text()[-3000:]}")

    def run(self, mutants: list[Mutant]) -> tuple[dict[Mutant, str], dict[Mutant, str]]:
        """The fates of the mutants, and what killed them."""
        waiting, free = mutants[::-1], list(self.copies)
        while waiting or self.running:
            while waiting and free:
                self.begin(waiting.pop(), free)
            self.end_overdue()
            pid, status = os.waitpid(-1, os.WNOHANG) if self.running else (0, 0)
            if pid in self.running:
                free.append(self.finish(pid, os.waitstatus_to_exitcode(status)))
            elif not pid:
                time.sleep(0.05)
        return self.fates, self.killers

    def begin(self, mutant: Mutant, free: list[Path]) -> None:
        """Apply the change and start its tests; what no test covers has survived already."""
        tests = self.cover.tests(mutant)
        if not tests:
            self.note(mutant, "survived", "no test covers it")
            return
        copy = free.pop()
        (copy / mutant.path).write_text(mutant.code)
        for compiled in (copy / mutant.path).parent.glob(
            f"__pycache__/{Path(mutant.path).stem}.*.pyc"
        ):
            compiled.unlink()
        expected = sum(self.cover.seconds[test] for test in tests)
        trial = Trial(mutant, copy, time.monotonic() + PATIENCE + 4 * expected)
        self.running[start(lambda: run_tests(tests), copy, trial.log)] = trial

    def end_overdue(self) -> None:
        """Kill what takes too long."""
        for pid, trial in self.running.items():
            if time.monotonic() > trial.deadline:
                os.killpg(pid, signal.SIGKILL)
                trial.deadline = float("inf")

    def finish(self, pid: int, status: int) -> Path:
        """Note the fate, undo the change and return the copy."""
        trial = self.running.pop(pid)
        (trial.copy / trial.mutant.path).write_text(trial.mutant.module.code)
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # what the tests left running
        killer = [
            line.split()[1]
            for line in trial.log.read_text().splitlines()
            if line.startswith(("FAILED ", "ERROR "))
        ]
        fate = "timed out" if trial.deadline == float("inf") else "killed" if status else "survived"
        self.note(trial.mutant, fate, killer[0] if killer else f"status {status}" if status else "")
        return trial.copy

    def note(self, mutant: Mutant, fate: str, killer: str) -> None:
        """Keep the fate and say it."""
        self.fates[mutant], self.killers[mutant] = fate, killer
        print(
            f"{len(self.fates):4} {fate:9} {mutant.name} (line {mutant.line}) {killer}", flush=True
        )
