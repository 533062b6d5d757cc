"""A column counts as represented at the share of its own size that docs/guarantees.md says."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning

PAGE = (Path(__file__).parents[2] / "docs" / "guarantees.md").read_text(encoding="utf-8")
FACTOR, ADDED = map(int, re.findall(r"at most (\d+)\(k \+ (\d+)\) eps", PAGE)[0])
LIMIT = FACTOR * (3 + ADDED) * 2.0**-52  # for k = 3


def given(form: str, left: float) -> object:
    """Column 1 is column 0 and a little of what column 3 shows: of its size, `left` is left."""
    if form == "data":
        return np.asarray([[1, 1, 0, 0], [0, left, 0, 1], [0, 0, 1, 0.0]])
    K = np.eye(4)
    K[0, 1] = K[1, 0] = 1
    K[1, 1] += left
    K[1, 3] = K[3, 1] = np.sqrt(left / 2)  # then column 1 rebuilds half of column 3
    return lm.psd(K)


@pytest.mark.parametrize(("form", "with_it"), [("data", 0.0), ("psd", 0.5)])
@pytest.mark.parametrize("share", [0.75, 1.25])
def test_the_error_counts_a_chosen_column_beyond_the_limit(form, with_it, share):
    A = given(form, share * LIMIT)
    s = lm.select(A, 3, method="uniform", include=[0, 1, 2], scale=False)
    assert s.error() == pytest.approx(with_it if share > 1 else 1.0)


@pytest.mark.parametrize("share", [0.75, 1.25])
def test_a_search_warns_of_the_rank_up_to_the_limit(share):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lm.select(given("data", share * LIMIT), 3, method="greedy", exclude=[3], scale=False)
    assert [warning.category for warning in caught] == ([] if share > 1 else [RankWarning])
