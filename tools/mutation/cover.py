"""Which tests cover which lines, and how long each takes."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import coverage
import pytest
from mutation.mutant import PACKAGES, Mutant
from mutation.trial import start

FOLDERS = (*PACKAGES, "contracts", "lemmas", "faults", "placement", "target")
TESTS = [
    *(f"tests/{folder}" for folder in FOLDERS),
    *(f"src/landmarks/{package}" for package in PACKAGES),
]
# contracts run with NumPy in double precision only: the other cases run the same lines
AGAIN = {"torch", "strict", "float32"}
BUDGET = 15.0  # seconds of tests for one mutant


class Recorder:
    """A pytest plugin: names the running test to coverage, and records its seconds and result."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured, self.seconds, self.failed = measured, Counter(), set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not is_again(item.nodeid)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.measured.switch_context(item.nodeid)
        result = yield
        self.measured.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if not report.passed:
            self.failed.add(report.nodeid)


def is_again(test: str) -> bool:
    """Whether the test repeats a contract on another array library or in another precision."""
    return test.startswith("tests/contracts") and bool(
        set(test.partition("[")[2].strip("]").split("-")) & AGAIN
    )


def record(
    copy: Path, kept: Path, processes: int = 2, folders: Sequence[str] = TESTS
) -> dict[str, Any]:
    """The record of the test files that changed since `kept` was written, merged with it."""
    state = {path: fingerprint(path) for path in test_files(copy, folders)}
    code = fingerprint(*sorted((copy / "src").rglob("*.py")))
    old = json.loads(kept.read_text()) if kept.exists() else {}
    if old.get("code") != code:
        old = {"files": {}, "seconds": {}, "lines": {}}
    names = {str(path.relative_to(copy)): digest for path, digest in state.items()}
    stale = [name for name, digest in names.items() if old["files"].get(name) != digest]
    if stale:
        print(f"recording what the tests of {len(stale)} files cover", flush=True)
        shares = [stale[i::processes] for i in range(min(processes, len(stale)))]
        parts = [(share, kept.with_suffix(f".{i}")) for i, share in enumerate(shares)]
        processes = [
            start(
                lambda part=part, out=out: measure(copy, part, out),
                copy,
                out.with_suffix(f"{out.suffix}.log"),
            )
            for part, out in parts
        ]
        for pid in processes:
            if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) > 1:
                sys.exit(f"the tests cannot be run; see {kept.parent}/*.log")
        for part, out in parts:
            old = merged(old, json.loads(out.read_text()), set(part))
        kept.write_text(json.dumps(old := old | {"files": names, "code": code}))
    return old


def test_files(copy: Path, folders: Sequence[str]) -> list[Path]:
    """The files that hold tests or doctests."""
    found = [path for folder in folders for path in sorted((copy / folder).rglob("*.py"))]
    return [path for path in found if path.name.startswith("test_") or ">>>" in path.read_text()]


def fingerprint(*paths: Path) -> str:
    """A digest of what the files hold."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def measure(copy: Path, files: list[str], out: Path) -> int:
    """Run the tests of the files, write which lines each covers, and return pytest's status."""
    measured = coverage.Coverage(
        data_file=None,
        config_file=False,
        include=[str(copy / "src/landmarks" / package / "*") for package in PACKAGES],
    )
    recorder = Recorder(measured)
    measured.start()
    status = pytest.main(["-q", "-p", "no:cacheprovider", *files], plugins=[recorder])
    measured.stop()
    data = measured.get_data()
    lines = {
        os.path.relpath(path, copy): data.contexts_by_lineno(path) for path in data.measured_files()
    }
    seconds = {test: s for test, s in recorder.seconds.items() if test not in recorder.failed}
    if recorder.failed:
        print(
            "not used, as they are skipped or fail without any change:",
            *sorted(recorder.failed),
            sep="\n  ",
        )
    out.write_text(json.dumps({"seconds": seconds, "lines": lines}))
    return status


def merged(old: dict[str, Any], new: dict[str, Any], stale: set[str]) -> dict[str, Any]:
    """The new record, and the old one without the tests of the stale files."""
    kept = {test: s for test, s in old["seconds"].items() if test.split("::")[0] not in stale}
    lines: dict[str, dict[str, list[str]]] = {}
    for record_, valid in ((old, kept), (new, new["seconds"])):
        for path, tests in record_["lines"].items():
            for line, names in tests.items():
                lines.setdefault(path, {}).setdefault(line, []).extend(
                    name for name in names if name in valid
                )
    return {"seconds": kept | new["seconds"], "lines": lines}


class Cover:
    """The tests for a mutant."""

    def __init__(self, recorded: dict[str, Any]) -> None:
        self.seconds, self.lines = recorded["seconds"], recorded["lines"]

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that cover the changed statement, function, class or file, up to the budget."""
        hit = self.lines.get(mutant.path, {})
        for span in spans(mutant.module.code, mutant.line):
            found = {name for line in span for name in hit.get(str(line), ())}
            if found:
                return self.within_budget(found, Path(mutant.path).stem.strip("_"))
        return []

    def within_budget(self, tests: set[str], module: str) -> list[str]:
        """One case of every test first, the module's tests and the short ones before the others."""
        seen: Counter[str] = Counter()
        ranked = []
        for test in sorted(tests, key=lambda test: self.seconds[test]):
            name = test.split("[")[0]
            ranked.append((seen[name], f"test_{module}.py" not in test, self.seconds[test], test))
            seen[name] += 1
        chosen, spent = [], 0.0
        for *_, seconds, test in sorted(ranked):
            if spent + seconds <= BUDGET or not chosen:
                chosen.append(test)
                spent += seconds
        return chosen


def spans(code: str, line: int) -> Iterator[set[int]]:
    """The lines of the statement, function, class and file around the line that run when called."""
    tree, called = parsed(code)
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno
    ]
    for node in sorted(around, key=lambda node: node.end_lineno - node.lineno):
        yield called & set(range(node.lineno, node.end_lineno + 1))
    yield called


@cache
def parsed(code: str) -> tuple[ast.Module, frozenset[int]]:
    """The tree, and the lines in function bodies; the other lines run at import."""
    tree = ast.parse(code)
    functions = [
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    return tree, frozenset(
        line for node in functions for line in range(node.body[0].lineno, node.end_lineno + 1)
    )
