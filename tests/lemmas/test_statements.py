"""Every numbered statement of the paper has a test named after it and a docstring that cites it."""

import ast
from pathlib import Path

import pytest

import landmarks

STATEMENTS = (
    [("definition", "2.1"), ("definition", "2.5")]
    + [
        ("lemma", number)
        for number in ("2.2", "2.3", "2.4", "2.6", "2.7", "2.8", "3.1", "3.2", "3.3")
    ]
    + [("algorithm", "1"), ("section", "3.1"), ("section", "3.6")]
)


def python_files(folder):
    return sorted(Path(folder).rglob("*.py"))


def docstrings():
    for path in python_files(Path(landmarks.__file__).parent):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield ast.get_docstring(node) or ""


def test_names():
    for path in python_files(Path(__file__).parents[1]):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield node.name


test_names.__test__ = False
ALL_DOCSTRINGS = " ".join(docstrings())
ALL_TESTS = list(test_names())


@pytest.mark.parametrize(("kind", "number"), STATEMENTS)
def test_the_statement_has_a_test_named_after_it(kind, number):
    assert any(name.startswith(f"test_{kind}_{number.replace('.', '_')}_") for name in ALL_TESTS)


@pytest.mark.parametrize(("kind", "number"), STATEMENTS)
def test_the_statement_is_carried_by_a_docstring(kind, number):
    assert f"{kind.capitalize()} {number}" in ALL_DOCSTRINGS or (
        kind == "lemma" and f"Lemmas {number}" in ALL_DOCSTRINGS
    )


def test_the_trace_norm_identity_has_a_test():
    assert any(name.startswith("test_trace_norm_identity") for name in ALL_TESTS)
