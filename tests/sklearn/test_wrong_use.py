"""Wrong use, by the text of the error."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import landmarks as lm

X = np.random.default_rng(0).standard_normal((20, 6))
K = X @ X.T

PARAMETERS = [
    (
        {"n_features_to_select": 0},
        "The 'n_features_to_select' parameter of ColumnSelector must be an int in the range",
    ),
    (
        {"n_features_to_select": 1.0},
        "The 'n_features_to_select' parameter of ColumnSelector must be",
    ),
    (
        {"n_features_to_select": "many"},
        "The 'n_features_to_select' parameter of ColumnSelector must be",
    ),
    ({"n_features_to_select": 7}, "n_features_to_select=7 must be at most n_features = 6"),
    ({"method": "magic"}, "method must be one of .*greedy.* or a method object, got 'magic'"),
    ({"method": 3}, "The 'method' parameter of ColumnSelector must be"),
    ({"criterion": "nuclear"}, "The 'criterion' parameter of ColumnSelector must be a str among"),
    ({"missing": "drop"}, "The 'missing' parameter of ColumnSelector must be a str among"),
    ({"budget": 0}, "The 'budget' parameter of ColumnSelector must be"),
    ({"explained_variance": 1.5}, "The 'explained_variance' parameter of ColumnSelector must be"),
    (
        {"n_features_to_select": 3, "include": [1], "exclude": [1]},
        "1 cannot be both included and excluded",
    ),
    (
        {"n_features_to_select": 2, "include": [1, 2, 3]},
        "include lists 3 candidates, more than n_features_to_select = 2",
    ),
    (
        {"n_features_to_select": 3, "exclude": [0, 1, 2, 3]},
        "n_features_to_select = 3 is more than the 2 candidates that exclude leaves",
    ),
    (
        {"exclude": [0, 1, 2, 3]},
        "a relative error of 0.05 cannot be reached: all 2 candidates together leave 0",
    ),
    ({"groups": 3}, "The 'groups' parameter of ColumnSelector must be an array-like or None"),
    (
        {"n_features_to_select": 4, "groups": list("aabbcc")},
        "n_features_to_select=4 must be at most the number of groups = 3",
    ),
    (
        {"n_features_to_select": 1, "groups": list("aabbcc"), "include": [0, 2]},
        "include lists 2 groups, more than n_features_to_select = 1",
    ),
    (
        {"n_features_to_select": 3, "groups": list("aabbcc"), "exclude": [0]},
        "n_features_to_select = 3 is more than the 2 groups that exclude leaves",
    ),
    ({"costs": [1] * 6}, "costs and budget_cost go together, got only costs"),
    (
        {"costs": [1] * 6, "budget_cost": 0},
        "The 'budget_cost' parameter of ColumnSelector must be a float in the range",
    ),
    (
        {"n_features_to_select": lm.LikelihoodRatio(degrees=3)},
        "needs more degrees of freedom than columns, got 3 for 6",
    ),
    ({"include": [9]}, "include: indices must be from 0 to 5, got 9"),
    ({"include": ["age"]}, "include holds names, but the data have none"),
]


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS)
def test_column_selector_says_which_parameter_is_wrong(parameters, message):
    with pytest.raises(ValueError, match=message):
        lm.ColumnSelector(**{"method": "greedy", **parameters}).fit(X)


def test_a_name_that_is_not_there_is_named():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="the data have no column named 'age'"):
        lm.ColumnSelector(3, method="greedy", include="age", center=True).fit(
            pandas.DataFrame(X, columns=list("abcdef"))
        )


def test_one_row_has_no_variance():
    with pytest.raises(
        ValueError, match=r"1 sample\(s\).* while a minimum of 2 is required by ColumnSelector"
    ):
        lm.ColumnSelector(1, center=True).fit(X[:1])
    assert lm.ColumnSelector(1, method="greedy", center=False).fit(X[:1]).transform(X).shape == (
        20,
        1,
    )


@pytest.mark.parametrize("call", ["transform", "inverse_transform", "score"])
def test_unfitted_estimators_say_so(call):
    with pytest.raises(NotFittedError, match="This ColumnSelector instance is not fitted yet"):
        getattr(lm.ColumnSelector(center=True), call)(X)


def test_inverse_transform_takes_the_selected_columns_alone():
    with pytest.raises(
        ValueError, match="X has 6 features, but ColumnSelector selected 3 features"
    ):
        lm.ColumnSelector(3, method="greedy", center=True).fit(X).inverse_transform(X)


def test_weights_must_not_be_negative_nor_all_zero():
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        lm.ColumnSelector(3, center=True).fit(X, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match="at least one non-zero"):
        lm.ColumnSelector(3, center=True).fit(X, sample_weight=np.zeros(20))


def test_partial_fit_refuses_a_gram_matrix_that_does_not_fit():
    with pytest.raises(
        MemoryError,
        match=r"partial_fit keeps the Gram matrix, which needs 11\.9 GiB for 40000 features; "
        r"use fit",
    ):
        lm.ColumnSelector(3, center=True).partial_fit(np.ones((2, 40_000)))


KERNELS = [
    ({"kernel": "magic"}, X, "The 'kernel' parameter of Nystroem must be a str among"),
    (
        {"kernel": "precomputed"},
        X,
        r"needs the square matrix of kernel values between the training points, got shape "
        r"\(20, 6\)",
    ),
    (
        {"kernel": "precomputed", "gamma": 1.0},
        K,
        "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel",
    ),
    (
        {"kernel": lambda x, y: 1.0, "gamma": 1.0},
        X,
        "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel",
    ),
    ({"kernel": "precomputed"}, K + np.triu(K), "K must be symmetric"),
    (
        {"kernel": "sigmoid", "selection": "greedy"},
        X,
        "kernel='sigmoid' is not positive semidefinite: no landmarks can be chosen for it",
    ),
    ({"selection": "magic"}, X, "method must be one of"),
    (
        {"selection": lm.Greedy},
        X,
        "The 'selection' parameter of Nystroem must be|method must be a name or a method object",
    ),
    (
        {"n_components": 0},
        X,
        "The 'n_components' parameter of Nystroem must be an int in the range",
    ),
    ({"subsample": 0}, X, "The 'subsample' parameter of Nystroem must be"),
]


@pytest.mark.parametrize(("parameters", "points", "message"), KERNELS)
def test_nystroem_says_which_parameter_is_wrong(parameters, points, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lm.Nystroem(**{"n_components": 3, **parameters}).fit(points)


def test_more_components_than_samples_is_said_as_scikit_learn_says_it():
    with pytest.warns(UserWarning, match="n_components > n_samples. This is not possible"):
        assert lm.Nystroem(n_components=30).fit(X).components_.shape == (20, 6)


def test_an_indefinite_kernel_is_drawn_uniformly_with_a_warning():
    with pytest.warns(
        UserWarning,
        match="kernel='sigmoid' is not positive semidefinite; its landmarks are drawn uniformly",
    ):
        lm.Nystroem("sigmoid", n_components=3).fit(X)


def test_new_kernel_values_must_be_with_all_points_or_the_landmarks():
    model = lm.Nystroem("precomputed", n_components=3).fit(K)
    with pytest.raises(
        ValueError, match="X has 6 features, but Nystroem is expecting 20 features as input"
    ):
        model.transform(X)
