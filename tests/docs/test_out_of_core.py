"""The example of the page on data beyond memory runs."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "out_of_core.md"


def test_its_example_runs():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 3 and result.failed == 0
