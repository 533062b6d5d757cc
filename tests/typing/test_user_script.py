"""Type checkers see every public name, with its types, from outside the package."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import landmarks as lm

pytestmark = pytest.mark.thorough

SCRIPT = Path(__file__).parent / "user_script.py"
SOURCES = Path(__file__).parent.parent.parent / "src"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for all runs of mypy."""
    return tmp_path_factory.mktemp("mypy")


def test_the_script_uses_every_public_name():
    used = set(re.findall(r"\blm\.(\w+)", SCRIPT.read_text(encoding="utf-8")))
    assert used == set(lm.__all__)


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_strict_passes(cache):
    assert_passes(mypy(SCRIPT, cache))


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_refuses_a_name_that_is_not_there_and_a_wrong_type(tmp_path, cache):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import landmarks as lm\nlm.selct\ns: int = lm.select([[1.0]], 1)\n")
    run = mypy(wrong, cache)
    assert 'no attribute "selct"' in run.stdout and "Incompatible types" in run.stdout


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_passes(tmp_path):
    config = tmp_path / "pyrightconfig.json"
    script = tmp_path / "user_script.py"
    script.write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    config.write_text(f'{{"extraPaths": ["{SOURCES}"], "include": ["user_script.py"]}}')
    command = ["pyright", "--pythonpath", sys.executable, "-p", str(config)]
    assert_passes(subprocess.run(command, capture_output=True, text=True, check=False))


def mypy(script, folder):
    """What mypy --strict says of a script; the package itself is checked elsewhere."""
    options = ["--strict", "--follow-imports=silent", f"--cache-dir={folder}", "--config-file="]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={"MYPYPATH": str(SOURCES), "PATH": ""},
    )


def assert_passes(run):
    assert run.returncode == 0, run.stdout + run.stderr
