"""Every fault that was ever found has a test that names it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

LAST = 102


def named(path: Path) -> Iterator[int]:
    """The numbers in names of tests, and in the first words of classes that hold tests."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        words = ""
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            words = "".join(re.findall(r"^test_faults?((?:_\d+)+)_", node.name))
        if isinstance(node, ast.ClassDef) and "def test_" in ast.unparse(node):
            words = "".join(re.findall(r"^Fault (\d+):", ast.get_docstring(node) or ""))
        yield from map(int, re.findall(r"\d+", words))


def test_fault_101_every_number_has_a_test():
    tests = Path(__file__).parents[1].rglob("test_*.py")
    assert set(range(1, LAST + 1)) - {number for path in tests for number in named(path)} == set()
