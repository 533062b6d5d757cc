"""The feature map against scikit-learn's where they must agree, and where scikit-learn's fails."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn import kernel_approximation
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import landmarks as lm

DIGITS = load_digits()
X = DIGITS.data[:300] / 16
PARAMETERS = {
    "rbf": {"gamma": 0.1},
    "laplacian": {"gamma": 0.02},
    "poly": {"gamma": 0.05, "degree": 2, "coef0": 0.5},
    "linear": {},
    "cosine": {},
    "chi2": {"gamma": 0.05},
    "sigmoid": {"gamma": 0.01},
    "additive_chi2": {},
}


def approximation_error(features: np.ndarray, K: np.ndarray) -> float:
    return float(np.trace(K - features @ features.T))


@pytest.mark.parametrize("kernel", PARAMETERS)
def test_uniform_gives_the_result_of_scikit_learn(kernel):
    settings = {"kernel": kernel, "n_components": 20, "random_state": 3, **PARAMETERS[kernel]}
    theirs = kernel_approximation.Nystroem(**settings).fit(X)
    ours = lm.Nystroem(selection="uniform", **settings).fit(X)
    np.testing.assert_array_equal(ours.component_indices_, theirs.component_indices_)
    np.testing.assert_array_equal(ours.components_, theirs.components_)
    np.testing.assert_allclose(ours.normalization_, theirs.normalization_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-10, atol=1e-10)


def test_parameters_and_attributes_include_those_of_scikit_learn():
    theirs, ours = (
        kernel_approximation.Nystroem(n_components=5).fit(X),
        lm.Nystroem(n_components=5).fit(X),
    )
    assert set(theirs.get_params()) <= set(ours.get_params())
    assert {name for name in vars(theirs) if name.endswith("_")} <= set(vars(ours))


def test_uniform_with_a_callable_gives_the_result_of_scikit_learn():
    def kernel(x, y, power):
        return (x @ y) ** power

    settings = {
        "kernel": kernel,
        "kernel_params": {"power": 2},
        "n_components": 8,
        "random_state": 0,
    }
    expected = kernel_approximation.Nystroem(**settings).fit_transform(X[:40])
    np.testing.assert_allclose(
        lm.Nystroem(selection="uniform", **settings).fit_transform(X[:40]), expected
    )
    assert lm.Nystroem(**settings).fit_transform(X[:40]).shape == (40, 8)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "cosine", "chi2"])
def test_chosen_landmarks_beat_drawn_ones(kernel):
    K = pairwise_kernels(X, metric=kernel, **PARAMETERS[kernel])
    settings = {"kernel": kernel, "n_components": 20, **PARAMETERS[kernel]}
    chosen = approximation_error(lm.Nystroem(random_state=0, **settings).fit_transform(X), K)
    drawn = [
        approximation_error(
            lm.Nystroem(selection="uniform", random_state=s, **settings).fit_transform(X), K
        )
        for s in range(5)
    ]
    assert chosen < min(drawn)


def test_features_are_the_nystrom_approximation():
    model = lm.Nystroem(gamma=0.1, n_components=20, random_state=0).fit(X)
    K = rbf_kernel(X, gamma=0.1)
    S = model.component_indices_
    np.testing.assert_allclose(
        model.transform(X) @ model.transform(X).T,
        K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S]),
        atol=1e-10,
    )


def test_precomputed_works_with_fewer_landmarks_than_points():
    K = rbf_kernel(X, gamma=0.1)
    points, values = (
        lm.Nystroem(gamma=0.1, n_components=20, random_state=0).fit(X),
        lm.Nystroem(kernel="precomputed", n_components=20, random_state=0).fit(K),
    )
    new = rbf_kernel(X[:7] + 0.1, X, gamma=0.1)
    np.testing.assert_array_equal(values.component_indices_, points.component_indices_)
    np.testing.assert_allclose(values.transform(new), points.transform(X[:7] + 0.1), atol=1e-9)
    np.testing.assert_allclose(
        values.transform(new[:, values.component_indices_]), values.transform(new)
    )
    with pytest.raises(ValueError):  # the same in scikit-learn, when this changes the docs must
        kernel_approximation.Nystroem(kernel="precomputed", n_components=20).fit(K).transform(K)


def test_precomputed_kernels_are_split_both_ways_in_cross_validation():
    K = rbf_kernel(X, gamma=0.1)
    model = make_pipeline(
        lm.Nystroem(kernel="precomputed", n_components=20, random_state=0), LinearSVC()
    )
    assert cross_val_score(model, K, DIGITS.target[:300], cv=3).min() > 0.6


@pytest.mark.parametrize("selection", ["uniform", "auto"])
@pytest.mark.filterwarnings("ignore:numerical rank")
def test_fault_34_duplicate_points_leave_the_features_finite(selection):
    Y = np.repeat(X[:5], 10, axis=0)
    model = lm.Nystroem(gamma=0.1, n_components=12, selection=selection, random_state=0).fit(Y)
    assert np.abs(model.normalization_).max() < 1e3
    if selection == "auto":
        np.testing.assert_allclose(
            model.transform(Y) @ model.transform(Y).T, rbf_kernel(Y, gamma=0.1), atol=1e-8
        )


def test_the_cut_off_is_relative():
    settings = {"kernel": "linear", "n_components": 5, "selection": "uniform", "random_state": 0}
    small, large = (
        lm.Nystroem(**settings).fit_transform(X * 1e-9),
        lm.Nystroem(**settings).fit_transform(X),
    )
    np.testing.assert_allclose(small * 1e9, large, rtol=1e-6, atol=1e-6)


def test_sparse_points_give_the_landmarks_of_dense_ones():
    dense, sparse = (
        lm.Nystroem(gamma=0.1, n_components=10, random_state=0).fit(form(X))
        for form in (np.asarray, scipy.sparse.csr_array)
    )
    np.testing.assert_array_equal(sparse.component_indices_, dense.component_indices_)
    assert scipy.sparse.issparse(sparse.components_)
    np.testing.assert_allclose(
        sparse.transform(scipy.sparse.csr_array(X)), dense.transform(X), atol=1e-8
    )


def test_landmarks_come_from_the_subsample():
    model = lm.Nystroem(gamma=0.1, n_components=10, subsample=40, random_state=0).fit(X)
    again = clone(model).fit(X)
    np.testing.assert_array_equal(model.component_indices_, again.component_indices_)
    np.testing.assert_array_equal(model.components_, X[model.component_indices_])
    others = clone(model).set_params(random_state=1).fit(X)
    assert set(others.component_indices_) != set(model.component_indices_)


def test_float32_is_kept():
    model = lm.Nystroem(gamma=0.1, n_components=10, random_state=0).fit(X.astype(np.float32))
    assert model.normalization_.dtype == model.transform(X.astype(np.float32)).dtype == np.float32


def test_pickle_and_feature_names():
    model = lm.Nystroem(gamma=0.1, n_components=2, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert model.get_feature_names_out().tolist() == ["nystroem0", "nystroem1"]


class TestTarget:
    """With a target, the default chooses landmarks that help to predict it."""

    x = np.linspace(0, 1, 300)[:, None]
    wave = np.where(x[:, 0] < 0.5, 0.0, np.sin(60 * x[:, 0]))

    def where(self, y, **settings):
        return (
            lm.Nystroem(gamma=1000.0, n_components=20, random_state=0, **settings)
            .fit(self.x, y)
            .component_indices_
        )

    def test_names_of_classes_do_not_matter(self):
        number = np.digitize(self.wave, [-0.3, 0.3])
        names = np.array(["low", "middle", "up"])[number]
        assert (
            self.where(names).tolist()
            == self.where(number).tolist()
            == self.where(list(names)).tolist()
        )

    def test_several_classes_and_sparse_labels_are_taken(self):
        labels = np.column_stack([self.wave > 0, self.x[:, 0] > 0.7]).astype(int)
        assert self.where(scipy.sparse.csr_array(labels)).tolist() == self.where(labels).tolist()
        two_outputs = np.column_stack([labels[:, 0], np.digitize(self.wave, [-0.3, 0.3])])
        columns = [two_outputs[:, [0]] == [0, 1], two_outputs[:, [1]] == [0, 1, 2]]
        assert (
            self.where(two_outputs).tolist()
            == self.where(np.column_stack(columns).astype(int)).tolist()
        )

    def test_only_the_target_of_the_subsample_counts(self):
        """Chosen among 100 points: a target that varies elsewhere alone is none."""
        drawn = np.sort(np.random.default_rng(0).choice(300, size=100, replace=False))
        y = np.where(np.isin(np.arange(300), drawn), 0.0, self.wave)
        assert self.where(y, subsample=100).tolist() == self.where(None, subsample=100).tolist()

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.ones(299), "inconsistent numbers of samples"),
            (np.r_[np.ones(299) / 3, np.nan], "Input y contains NaN"),
            (
                np.array([None, 1, "a"] * 100, dtype=object),
                "Unknown label type: y must hold numbers or the names of classes",
            ),
        ],
    )
    def test_a_target_that_cannot_be_used_is_reported(self, y, message):
        with pytest.raises(ValueError, match=message):
            self.where(y)

    def test_a_precomputed_kernel_gives_the_same_landmarks(self):
        K = rbf_kernel(self.x, gamma=1000.0)
        fitted = lm.Nystroem(kernel="precomputed", n_components=20, random_state=0).fit(
            K, self.wave
        )
        assert fitted.component_indices_.tolist() == self.where(self.wave).tolist()

    @pytest.mark.thorough
    def test_a_pipeline_with_half_the_landmarks_does_as_well_on_digits(self):
        """Accuracy on held-out digits with 50 chosen and with 100 random landmarks."""
        y = DIGITS.target
        ours = make_pipeline(
            StandardScaler(),
            lm.Nystroem(n_components=50, random_state=0),
            LogisticRegression(max_iter=1000),
        )
        drawn = make_pipeline(
            StandardScaler(),
            kernel_approximation.Nystroem(n_components=100, random_state=0),
            LogisticRegression(max_iter=1000),
        )
        assert (
            cross_val_score(ours, DIGITS.data, y, cv=3).mean()
            > cross_val_score(drawn, DIGITS.data, y, cv=3).mean()
        )


def test_our_kernels_have_a_width_for_each_column():
    widths = [0.5, 2.0, 4.0, 1.0]
    X = np.random.default_rng(0).standard_normal((60, 4))
    ours = lm.Nystroem(lm.rbf(sigma=widths), n_components=9).fit(X)
    named = lm.Nystroem(gamma=1.0, n_components=9).fit(X / widths)
    assert ours.component_indices_.tolist() == named.component_indices_.tolist()
    np.testing.assert_allclose(ours.transform(X), named.transform(X / widths), atol=1e-10)
    with pytest.raises(TypeError, match="dense"):
        ours.fit(scipy.sparse.csr_array(X))


def test_the_selection_is_there_and_its_data_are_not_pickled():
    X = np.random.default_rng(0).standard_normal((60, 4))
    fitted = lm.Nystroem(n_components=9, random_state=0).fit(X)
    assert fitted.selection_.indices.tolist() == fitted.component_indices_.tolist()
    assert fitted.selection_.relative_error() < 1
    assert pickle.loads(pickle.dumps(fitted)).selection_.operator is None
    assert fitted.set_params(selection="uniform").fit(X).selection_ is None
