"""The snippets of the pages on how many, and on groups and costs."""

import doctest

import pytest
from skeletons import DOCS


@pytest.mark.parametrize("page", ["how_many.md", "groups_costs.md"])
def test_the_page_runs(page):
    result = doctest.testfile(str(DOCS / page), module_relative=False)
    assert result.attempted > 5 and result.failed == 0
