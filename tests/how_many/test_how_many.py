"""How many: a target, a knee and a test, against what each promises."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.errors import UnsupportedError
from landmarks.operators.dense import Data


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.standard_normal((40, 6)) @ rng.standard_normal((6, 25)) + 0.3 * rng.standard_normal(
        (40, 25)
    )


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("method", ["auto", "greedy", "swap", "uniform"])
@pytest.mark.parametrize("error", [0.3, 0.05])
def test_the_target_is_reached_and_missed_with_one_fewer(X, method, criterion, error):
    s = lm.select(X, "auto", error=error, method=method, criterion=criterion)
    assert s.relative_error() <= error
    fewer = lm.select(X, s.k - 1, method=method, criterion=criterion)
    assert fewer.relative_error() > error


def test_the_selection_is_that_of_its_k(X):
    s = lm.select(X, lm.MaxError(error=0.1), method="rpcholesky", seed=3)
    assert s.indices.tolist() == lm.select(X, s.k, method="rpcholesky", seed=3).indices.tolist()
    assert "MaxError(error=0.1)" in s.method


@pytest.mark.thorough
def test_an_error_of_zero_takes_the_rank():
    rng = np.random.default_rng(1)
    low = rng.standard_normal((30, 5)) @ rng.standard_normal((5, 20))
    assert lm.select(low, lm.MaxError(error=0.0)).k == 5
    assert lm.select(np.zeros((3, 4)), lm.MaxError(), method="uniform").k == 1


def test_a_target_counts_what_must_be_included_and_leaves_what_is_excluded(X):
    s = lm.select(X, lm.MaxError(0.2), include=[7, 8], exclude=[0])
    assert {7, 8} <= set(s.indices.tolist()) and 0 not in s.indices and s.relative_error() <= 0.2
    with pytest.raises(
        ValueError,
        match="a relative error of 0.1 cannot be reached: all 2 candidates together leave 0.5",
    ):
        lm.select(np.eye(4), lm.MaxError(0.1), exclude=[0, 1])


def test_duplicates_among_few_candidates_do_not_hide_what_is_left():
    X = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="cannot be reached"):
        lm.select(X, lm.MaxError(0.1), exclude=[2])


def test_a_target_counts_groups(X):
    labels = np.arange(25) // 3
    s = lm.select(X, lm.MaxError(0.1), groups=labels)
    groups = len(set(labels[s.indices]))
    assert s.relative_error() <= 0.1 < lm.select(X, groups - 1, groups=labels).relative_error()


def test_auto_without_an_error_is_the_knee(X):
    knee = lm.select(X, "auto", method="greedy")
    assert knee.k == lm.path(X, range(1, 26)).knee() == lm.select(X, lm.Knee(), method="greedy").k
    assert abs(knee.k - 6) <= 1


def test_the_knee_of_one_dominant_column_is_there():
    X = np.outer(np.arange(1.0, 21.0), np.ones(8)) + 0.01 * np.random.default_rng(
        0
    ).standard_normal((20, 8))
    assert lm.select(X, "auto", scale=False).k == 1


@pytest.mark.parametrize("rule", [lm.MaxError(0.3), lm.Knee(), lm.LikelihoodRatio()], ids=repr)
def test_a_rule_gives_the_same_on_every_library(X, rule, xp):
    assert (
        lm.select(xp.asarray(X), rule, method="greedy").indices.tolist()
        == lm.select(X, rule, method="greedy").indices.tolist()
    )


def test_a_budget_is_shared_by_the_attempts(X):
    assert lm.select(X, lm.MaxError(0.1), budget=1.0).relative_error() <= 0.1


WRONG = [
    ({"k": "auto", "error": 1.5}, ValueError, "error must be a number from 0 to below 1"),
    ({"k": "auto", "error": True}, ValueError, "error must be a number from 0 to below 1"),
    ({"k": 3, "error": 0.1}, ValueError, 'give k="auto" with it, got k=3'),
    ({"error": 0.1}, ValueError, 'give k="auto" with it, got k=None'),
    ({"k": "many"}, TypeError, "k must be an integer"),
    ({"k": lm.MaxError}, TypeError, "k must be an integer"),
    (
        {"k": lm.Knee(), "groups": np.arange(25)},
        UnsupportedError,
        "with groups give k as a number or as a MaxError",
    ),
    (
        {"k": lm.LikelihoodRatio(), "groups": np.arange(25)},
        UnsupportedError,
        "with groups give k as a number or as a MaxError",
    ),
    (
        {"k": "auto", "costs": np.ones(25), "budget_cost": 3},
        ValueError,
        "leave k out, or give the most to choose as a number",
    ),
    (
        {"k": lm.MaxError(0.5), "method": "greedy", "groups": np.arange(25)},
        UnsupportedError,
        "Greedy does not support groups; use auto, knapsack or exact",
    ),
]


@pytest.mark.parametrize(("options", "error", "message"), WRONG)
def test_wrong_use_is_refused(X, options, error, message):
    with pytest.raises(error, match=message):
        lm.select(X, **options)


def test_the_likelihood_ratio_says_what_it_cannot_test(X):
    with pytest.raises(
        UnsupportedError, match="needs the rows of X; for a covariance matrix give LikelihoodRatio"
    ):
        lm.select(lm.psd(X.T @ X), lm.LikelihoodRatio())
    with pytest.raises(ValueError, match="more degrees of freedom than columns, got 24 for 25"):
        lm.select(X[:25], lm.LikelihoodRatio())
    with pytest.raises(ValueError, match="some are constant or combinations of others"):
        lm.select(np.column_stack([X, X[:, 0]]), lm.LikelihoodRatio())


def test_the_likelihood_ratio_is_of_the_centred_rows_however_they_come(X):
    expected = lm.select(X, lm.LikelihoodRatio(), method="greedy").k
    centred = X - X.mean(axis=0)
    scaled = centred / centred.std(axis=0)
    covariance = lm.psd(scaled.T @ scaled / 39)
    assert lm.select(X + 100.0, lm.LikelihoodRatio(), method="greedy", scale=False).k == expected
    assert lm.select(scipy.sparse.csr_array(X), lm.LikelihoodRatio(), method="greedy").k == expected
    assert lm.select(covariance, lm.LikelihoodRatio(degrees=39), method="greedy").k == expected


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_a_target_that_all_candidates_together_just_reach_is_met_by_all(criterion):
    for n in (1, 5):
        assert lm.select(np.eye(n), lm.MaxError(0.0), criterion=criterion).k == n
    assert lm.select(np.eye(4), lm.MaxError(0.25), criterion=criterion).k == 3
    assert lm.select(np.eye(4), lm.MaxError(0.249), criterion=criterion).k == 4


def test_too_few_rows_for_the_folds_are_refused():
    X = np.random.default_rng(0).standard_normal((6, 4))
    assert lm.select(X, lm.CrossValidated(folds=2), method="greedy").k >= 1
    with pytest.raises(ValueError, match="3 folds need at least 6 rows, got 2"):
        lm.select(X[:2], lm.CrossValidated(folds=3), scale=False)


def test_the_errors_of_held_out_rows_are_those_of_least_squares():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((23, 3)) @ rng.standard_normal((3, 8)) + rng.standard_normal((23, 8))
    found = lm.CrossValidated(folds=4).curve(lm.Problem(Data(X), 0), np.random.default_rng(5))
    parts = np.array_split(np.random.default_rng(5).permutation(23), 4)
    for errors, test in zip(found.errors, parts, strict=True):
        train = np.setdiff1d(np.arange(23), test)
        picks = lm.path(X[train], 8, scale=False).indices
        for k, error in zip(found.ks, errors, strict=True):
            fitted = np.linalg.lstsq(X[train][:, picks[:k]], X[train], rcond=None)[0]
            left = X[test] - X[test][:, picks[:k]] @ fitted
            assert error == pytest.approx(np.sum(left**2) / np.sum(X[test] ** 2), rel=1e-9)


def test_folds_of_low_rank_give_no_warning():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lm.CrossValidated(folds=2).curve(lm.Problem(lm.data(X), 0), rng)
    assert found.ks.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert np.all(found.errors[:, 1:] < 1e-20) and np.all(found.errors[:, 0] > 1e-3)
