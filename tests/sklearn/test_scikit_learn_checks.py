"""The checks of scikit-learn, with the defaults and with settings that take other paths."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import landmarks as lm

pytestmark = pytest.mark.thorough

ESTIMATORS = [
    lm.ColumnSelector(),
    lm.ColumnSelector(method="greedy", scale=False, missing="impute"),
    lm.ColumnSelector(method="greedy", scale=True, missing="pairwise", center=True),
    lm.ColumnSelector(lm.Knee(most=10), method="greedy", center=True),
    lm.Nystroem(),
    lm.Nystroem(n_components=3, selection="uniform"),
]


# Some checks fit 100 components to fewer samples, or to equal samples, or to columns that are far
# from zero or constant; a warning reports each.
@pytest.mark.filterwarnings(
    "ignore:n_components > n_samples",
    "ignore:numerical rank",
    "ignore:the means of the columns",
    "ignore:.* one value only",
)
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check_passes(estimator: Any, check: Any) -> None:
    check(estimator)
