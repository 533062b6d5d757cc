"""Each line of the page of guarantees names a test, and what it names is there."""

import re
from pathlib import Path

from faults.test_every_fault import named

from landmarks._array import represented

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
TEXT = PAGE + (ROOT / "SECURITY.md").read_text(encoding="utf-8")
FAULT = re.compile(r"\bfaults? (\d+)")


def test_every_file_that_is_named_exists():
    files = re.findall(r"\b((?:tests|tools|benchmarks|fuzz)/[\w./]+)", TEXT)
    assert files and [name for name in files if not (ROOT / name.rstrip(".")).exists()] == []


def test_every_fault_that_is_named_has_a_test():
    tested = {number for path in (ROOT / "tests").rglob("test_*.py") for number in named(path)}
    asked = set(map(int, FAULT.findall(TEXT)))
    assert asked and asked - tested == set()


def test_every_guarantee_names_its_test():
    tables = re.findall(r"^\| guarantee \| shown by \|\n.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    shown = [row.rstrip(" |").rpartition("|")[2] for row in rows]
    assert len(tables) == 3 and len(rows) > 25
    assert [
        row for row, by in zip(rows, shown, strict=True) if not (FAULT.search(by) or "tests/" in by)
    ] == []


def test_the_limits_of_what_is_represented_are_those_of_the_code():
    rules = re.findall(r"(\d+)\((k|\d+) \+ (\d+)\) eps", PAGE)
    assert {k for _, k, _ in rules} == {"k", "0"}
    for factor, given, added in rules:
        for k in (0, 1, 7, 500) if given == "k" else (int(given),):
            assert int(factor) * (k + int(added)) == represented(k, 1.0)
