"""The page about reasons shows what the program prints."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "reasons.md"


def test_its_examples_run():
    assert (
        doctest.testfile(
            str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
        ).failed
        == 0
    )
