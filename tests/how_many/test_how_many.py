"""How many: a target, a knee and a test, against what each promises."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.errors import UnsupportedError
from landmarks.how_many.knee import RuledMethod
from landmarks.how_many.max_error import Attempts
from landmarks.operators.data import Data
from landmarks.runs.runner import watching


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


def test_a_better_method_needs_no_more_than_greedy(X):
    for error in (0.5, 0.1):
        assert lm.select(X, lm.MaxError(error)).k <= lm.path(X, range(1, 26)).smallest(error)


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


def test_kernels_have_a_target_and_a_knee():
    kernel = lm.kernel(np.random.default_rng(0).standard_normal((80, 2)), lm.rbf(sigma=2.0))
    assert lm.select(kernel, "auto", error=0.01, method="greedy").relative_error() <= 0.01
    assert 1 < lm.select(kernel, lm.Knee(most=30), method="greedy").k < 30


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
        "Greedy does not support groups; use auto or knapsack",
    ),
]


@pytest.mark.parametrize(("options", "error", "message"), WRONG)
def test_wrong_use_is_refused(X, options, error, message):
    with pytest.raises(error, match=message):
        lm.select(X, **options)


def test_settings_of_rules_are_checked():
    for make, message in [
        (lambda: lm.Knee(most=1), "most must be a whole number of at least 2, got 1"),
        (lambda: lm.LikelihoodRatio(alpha=1.0), "alpha must be a number between 0 and 1, got 1.0"),
        (lambda: lm.LikelihoodRatio(degrees=0), "degrees must be a positive number or None, got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()


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


@pytest.mark.parametrize(
    ("criterion", "impossible", "promising"), [("trace", 1, 2), ("frobenius", 0, 1)]
)
def test_the_search_begins_between_what_no_choice_and_what_greedy_reaches(
    criterion, impossible, promising
):
    problem = lm.Problem(
        lm.data(np.diag([4.0, 3.0, 2.0, 1.0])), 0, criterion
    )  # squares 16, 9, 4, 1, and 256, 81, 16, 1
    attempts = Attempts(problem, lm.Greedy(), np.random.default_rng(0), 0.3)
    assert attempts.impossible() == impossible and attempts.promising() == promising
    assert attempts.reaches(promising) and list(attempts.found) == [promising]


def test_what_must_be_included_is_the_least_and_what_may_be_chosen_the_most():
    problem = lm.Problem(lm.data(np.diag([4.0, 3.0, 2.0, 1.0])), 0, include=(3, 2), exclude=(0,))
    attempts = Attempts(problem, lm.Greedy(), np.random.default_rng(0), 0.9)
    assert attempts.impossible() == 1 and attempts.most == 3 and attempts.total == 30.0


def test_the_best_size_and_the_smallest_within_one_standard_error():
    errors = np.array([[0.5, 0.30, 0.20, 0.25], [0.6, 0.24, 0.28, 0.25]])
    found = lm.HeldOut(np.array([1, 2, 4, 8]), errors)
    np.testing.assert_allclose(found.mean, [0.55, 0.27, 0.24, 0.25])
    np.testing.assert_allclose(found.standard_error, [0.05, 0.03, 0.04, 0.0], atol=1e-15)
    assert found.best == 4 and found.one_standard_error == 2


def test_a_method_with_a_rule_honours_what_the_method_does():
    assert RuledMethod(lm.Greedy(), lm.Knee()).honours == lm.Greedy.honours
    assert RuledMethod(lm.KDPP(), lm.Knee()).honours == {"include", "exclude"}


def test_too_few_rows_for_the_folds_are_refused():
    X = np.random.default_rng(0).standard_normal((6, 4))
    assert lm.select(X, lm.CrossValidated(folds=2), method="greedy").k >= 1
    with pytest.raises(ValueError, match="3 folds need at least 6 rows, got 2"):
        lm.select(X[:2], lm.CrossValidated(folds=3), scale=False)


def test_a_likelihood_ratio_knows_no_groups():
    problem = lm.Problem(lm.data(np.eye(4)), 0, groups=np.array([0, 0, 1, 1]))
    with pytest.raises(UnsupportedError, match="tests single columns; with groups give k as a"):
        lm.LikelihoodRatio().size(problem, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("rule", "sizes"),
    [
        (lm.CrossValidated(), [1, 2, 3, 4, 5, 6, 7]),  # folds of two leave eight rows
        (lm.CrossValidated(folds=2), [1, 2, 3, 4]),
        (lm.CrossValidated(most=3), [1, 2, 3]),
        (lm.CrossValidated(folds=10), [1, 2, 3, 4, 5, 6, 7, 8]),
        (lm.CrossValidated(ridge="cv"), [1, 2, 3, 4, 5, 6, 7]),
    ],
    ids=repr,
)
def test_the_sizes_that_are_tried_leave_rows_to_learn_from(rule, sizes):
    X = np.random.default_rng(0).standard_normal((10, 20))
    heard = []
    with watching(heard.append):
        found = rule.curve(lm.Problem(lm.data(X), 0), np.random.default_rng(1))
    assert found.ks.tolist() == sizes and found.errors.shape == (rule.folds, len(sizes))
    assert [(p.phase, p.done, p.total) for p in heard if p.phase == "held out"] == [
        ("held out", i + 1, rule.folds) for i in range(rule.folds)
    ]


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


class Noting:
    """A uniform draw, and how much time each attempt was given."""

    honours = lm.Uniform.honours

    def __init__(self):
        self.given = []

    def choose(self, problem, rng):
        self.given.append((problem.k, problem.time_left))
        return lm.Uniform().choose(problem, rng)


def test_each_attempt_has_its_share_of_the_time(X):
    method = Noting()
    s = lm.select(X, lm.MaxError(0.1), method=method, budget=1000.0)
    sizes = [k for k, _ in method.given]
    assert s.k in sizes and len(sizes) == len(set(sizes)) > 1
    assert all(0 < left <= 500 for _, left in method.given)  # half of it at most
    assert method.given[0][1] > 490
    method.given.clear()
    lm.select(X, lm.MaxError(0.1), method=method)
    assert all(left == np.inf for _, left in method.given)


def test_every_size_is_tried_by_least_squares_and_some_with_a_penalty():
    X = np.random.default_rng(0).standard_normal((90, 60))
    problem = lm.Problem(lm.data(X), 0)
    every = lm.CrossValidated(folds=2, most=40).curve(problem, np.random.default_rng(1)).ks
    assert every.tolist() == list(range(1, 41))
    penalised = lm.CrossValidated(folds=2, most=40, ridge="cv")
    some = penalised.curve(problem, np.random.default_rng(1)).ks
    assert some.tolist() == [1, 2, 3, 4, 6, 7, 9, 12, 15, 19, 24, 31, 40]  # by equal factors


def test_folds_of_low_rank_give_no_warning():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lm.CrossValidated(folds=2).curve(lm.Problem(lm.data(X), 0), rng)
    assert found.ks.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert np.all(found.errors[:, 1:] < 1e-20) and np.all(found.errors[:, 0] > 1e-3)
