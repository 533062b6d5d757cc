"""The examples of docs/target_noise.md run."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "target_noise.md"


def test_the_examples_run():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 8
    assert failed == 0
