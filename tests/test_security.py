"""No part of the package runs what it reads, judged by its syntax."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {"src", "paper", "benchmarks", "docs", "fuzz"}
CODE = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
MODULES = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "shelve",
    "marshal",
    "telnetlib",
    "ftplib",
    "xmlrpc",
}
CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "pickle.load",
    "pickle.loads",
    "joblib.load",
    "torch.load",
    "yaml.load",
}
CALLS |= {"extractall", "unpack_archive"}


def dotted(node: ast.expr) -> str:
    """The name that is called, as it is written."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}".lstrip(".")
    return node.id if isinstance(node, ast.Name) else ""


def dangers(tree: ast.AST) -> list[str]:
    """What in the syntax could run or unpack what a file holds."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
            )
            found += [name for name in names if name.split(".")[0] in MODULES]
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            found += (
                [name]
                if name in CALLS or name.split(".")[-1] in ("extractall", "unpack_archive")
                else []
            )
            found += [
                f"{name}({keyword.arg}=True)"
                for keyword in node.keywords
                if keyword.arg in ("shell", "allow_pickle") and is_true(keyword.value)
            ]
    return found


def is_true(node: ast.expr) -> bool:
    return not (isinstance(node, ast.Constant) and not node.value)


def test_fault_60_nothing_is_run_that_was_read():
    found = {str(path): dangers(ast.parse(path.read_text())) for path in CODE}
    assert {path.relative_to(ROOT).parts[0] for path in CODE} == FOLDERS  # none has moved
    assert {path: what for path, what in found.items() if what} == {}


@pytest.mark.parametrize(
    "code",
    [
        "eval(x)",
        "import pickle",
        "np.load(f, allow_pickle=flag)",
        "run(c, shell=True)",
        "os.system(c)",
        "z.extractall()",
    ],
)
def test_the_search_finds_what_it_looks_for(code):
    assert dangers(ast.parse(code))
