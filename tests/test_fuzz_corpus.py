"""Every file of the fuzzing corpus is read or refused; `tools/fuzz` looks for more."""

import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))
from targets import TARGETS  # noqa: E402 (it is next to the tests)

FILES = sorted(path for path in (FUZZ / "corpus").glob("*/*") if path.parent.name in TARGETS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
@pytest.mark.filterwarnings("ignore")
def test_a_file_is_read_or_refused(path):
    TARGETS[path.parent.name](path.read_bytes())
