"""The page of guarantees names files that exist and faults that have tests."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "guarantees.md").read_text() + (ROOT / "SECURITY.md").read_text()


def test_every_file_that_is_named_exists():
    named = re.findall(r"\b((?:tests|tools|benchmarks|fuzz)/[\w./]+)", TEXT)
    assert named and [name for name in named if not (ROOT / name.rstrip(".")).exists()] == []


def test_every_fault_that_is_named_has_a_test():
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "faults").glob("test_*.py"))
    named = set(re.findall(r"\bfault (\d+)", TEXT))
    assert (
        named
        and [number for number in named if f"def test_fault_{int(number):02d}_" not in tests] == []
    )
