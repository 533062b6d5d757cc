"""How many columns, groups and costs, as the selector passes them on."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import landmarks as lm

RNG = np.random.default_rng(0)
CAUSES = RNG.standard_normal((200, 2))
X = (
    np.hstack(
        [CAUSES, CAUSES @ RNG.uniform(0.5, 1.5, (2, 6)) + 0.5 * RNG.standard_normal((200, 6))]
    )
    + 3.0
)


def test_auto_explains_the_share_with_as_few_as_possible():
    selector = lm.ColumnSelector(explained_variance=0.9, center=True).fit(X)
    assert (
        selector.score(X)
        >= 0.9
        > lm.ColumnSelector(len(selector.indices_) - 1, center=True).fit(X).score(X)
    )


@pytest.mark.parametrize(
    "rule", [lm.MaxError(0.1), lm.Knee(), lm.LikelihoodRatio(alpha=0.01)], ids=repr
)
def test_a_rule_sees_the_centred_columns(rule):
    selector = clone(lm.ColumnSelector(rule, method="greedy", center=True)).fit(X)
    assert len(selector.indices_) == lm.select(X - X.mean(axis=0), rule, method="greedy").k


def test_the_test_counts_rows_however_they_come():
    rule = lm.LikelihoodRatio(alpha=0.01)
    twice = lm.ColumnSelector(rule, method="greedy", center=True).fit(np.vstack([X, X]))
    weighted = lm.ColumnSelector(rule, method="greedy", center=True).fit(
        X, sample_weight=np.full(200, 2.0)
    )
    assert len(twice.indices_) == len(weighted.indices_)
    once = lm.ColumnSelector(rule, method="greedy", center=True).fit(X).indices_
    assert (
        lm.ColumnSelector(rule, method="greedy", center=True)
        .partial_fit(X[:90])
        .partial_fit(X[90:])
        .indices_.tolist()
        == once.tolist()
    )
    assert (
        lm.ColumnSelector(rule, method="greedy", center=True)
        .fit(scipy.sparse.csr_array(X))
        .indices_.tolist()
        == once.tolist()
    )


def test_groups_are_selected_whole():
    labels = np.array(list("aabbccdd"))
    selector = lm.ColumnSelector(2, groups=labels, include=[2], center=True).fit(X)
    assert set(labels[selector.indices_]) >= {"b"} and len(selector.indices_) == 4
    assert len(lm.ColumnSelector(0.5, groups=labels, center=True).fit(X).indices_) == 4
    assert (
        lm.ColumnSelector(groups=labels, explained_variance=0.8, center=True).fit(X).score(X) >= 0.8
    )


def test_costs_are_kept_within_the_budget():
    costs = np.arange(1.0, 9.0)
    selector = lm.ColumnSelector(costs=costs, budget_cost=9.0, center=True).fit(X)
    assert costs[selector.indices_].sum() <= 9.0
    assert len(lm.ColumnSelector(1, costs=costs, budget_cost=9.0, center=True).fit(X).indices_) == 1


def test_rules_can_be_searched_over():
    search = GridSearchCV(
        lm.ColumnSelector(method="greedy", center=True),
        {"n_features_to_select": [1, lm.MaxError(0.05), lm.Knee()]},
        cv=3,
    ).fit(X)
    assert search.best_params_["n_features_to_select"] == lm.MaxError(0.05)
