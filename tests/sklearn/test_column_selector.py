"""The feature selector: its attributes, its inverse, and the many forms that data come in."""

from __future__ import annotations

import datetime
import inspect
import pickle

import numpy as np
import pytest
from sklearn import set_config
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

import landmarks as lm
from landmarks.errors import ScaleWarning

WINE = load_wine()
X = WINE.data
GREEDY = {"method": "greedy", "n_features_to_select": 4}


def pickled(selector: lm.ColumnSelector) -> lm.ColumnSelector:
    return pickle.loads(pickle.dumps(selector))


# The wine data are raw here: one column holds far larger numbers than the others.
pytestmark = pytest.mark.filterwarnings("ignore::landmarks.errors.ScaleWarning")


def test_selects_what_select_chooses_of_the_standardised_columns():
    selector = lm.ColumnSelector(4, method="swap", scale=True, random_state=0, center=True).fit(X)
    expected = lm.select(scale(X), 4, method="swap")
    assert selector.indices_.tolist() == expected.indices.tolist()
    assert selector.reconstruction_error_ == pytest.approx(expected.error("trace"))
    assert np.flatnonzero(selector.support_).tolist() == sorted(expected.indices)


def test_inverse_is_least_squares_with_an_intercept():
    selector = lm.ColumnSelector(**GREEDY, center=True).fit(X)
    chosen = selector.transform(X)
    design = np.column_stack([np.ones(len(X)), chosen])
    expected = design @ np.linalg.lstsq(design, X, rcond=None)[0]
    np.testing.assert_allclose(selector.inverse_transform(chosen), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_score_on_the_training_data_is_one_less_the_relative_error(center, scale):
    selector = lm.ColumnSelector(**GREEDY, center=center, scale=scale).fit(X)
    assert selector.score(X) == pytest.approx(
        1 - selector.selection_.relative_error("trace"), rel=1e-8
    )


def test_score_is_the_lost_share_without_each_column():
    selector = lm.ColumnSelector(**GREEDY, scale=True, center=True).fit(X)
    Z = scale(X)
    for j in selector.indices_:
        others = [i for i in selector.indices_ if i != j]
        rest = Z - Z[:, others] @ np.linalg.lstsq(Z[:, others], Z, rcond=None)[0]
        assert selector.scores_[j] == pytest.approx(
            np.sum(rest**2) / np.sum(Z**2) - (1 - selector.score(X))
        )
    assert np.all(selector.scores_[~selector.support_] == 0)


def test_auto_takes_the_fewest_columns_that_explain_the_share():
    selector = lm.ColumnSelector(
        method="greedy", scale=True, explained_variance=0.8, center=True
    ).fit(X)
    fewer = lm.ColumnSelector(
        len(selector.indices_) - 1, method="greedy", scale=True, center=True
    ).fit(X)
    assert fewer.score(X) < 0.8 <= selector.score(X)


def test_fraction_is_of_the_columns():
    assert lm.ColumnSelector(0.5, method="greedy", center=True).fit(X).transform(X).shape[1] == 6
    assert lm.ColumnSelector(0.001, method="greedy", center=True).fit(X).transform(X).shape[1] == 1


def test_columns_are_included_and_excluded_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=WINE.feature_names)
    selector = lm.ColumnSelector(
        3, method="greedy", include="ash", exclude=["proline", "magnesium"], center=True
    ).fit(frame)
    names = selector.get_feature_names_out().tolist()
    assert "ash" in names
    assert not {"proline", "magnesium"} & set(names)
    assert set(selector.selection_.chosen_names) == set(names)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_output_is_a_data_frame_when_asked(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(dict(zip(WINE.feature_names, X.T, strict=True)))
    selector = lm.ColumnSelector(**GREEDY, center=True).set_output(transform=library).fit(frame)
    out = selector.transform(frame)
    assert isinstance(out, frames.DataFrame)
    assert list(out.columns) == [WINE.feature_names[j] for j in np.flatnonzero(selector.support_)]


def test_pickle_gives_the_same_answers_without_the_data():
    selector = lm.ColumnSelector(**GREEDY, center=True).fit(X)
    again = pickled(selector)
    assert again.selection_.operator is None
    assert selector.selection_.operator is not None
    assert again.selection_.error("trace") == selector.reconstruction_error_
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))


def test_clone_keeps_a_method_object():
    selector = clone(lm.ColumnSelector(4, method=lm.Greedy(), center=True))
    assert (
        selector.fit(X).indices_.tolist()
        == lm.ColumnSelector(**GREEDY, center=True).fit(X).indices_.tolist()
    )


def test_one_seed_gives_one_selection_and_leaves_the_global_one_alone():
    before = np.random.get_state()[1].copy()
    runs = [
        lm.ColumnSelector(4, method="rpcholesky", random_state=state, center=True)
        .fit(X)
        .indices_.tolist()
        for state in (3, 3, np.random.RandomState(3), None)
    ]
    assert runs[0] == runs[1]
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_grid_search_over_the_number_of_columns():
    pipeline = make_pipeline(
        lm.ColumnSelector(method="greedy", scale=True, center=True), LinearRegression()
    )
    search = GridSearchCV(pipeline, {"columnselector__n_features_to_select": [2, 12]}, cv=3).fit(
        X, X.sum(axis=1)
    )
    assert search.best_params_["columnselector__n_features_to_select"] == 12


def test_weights_are_routed_through_a_pipeline():
    set_config(enable_metadata_routing=True)
    try:
        w = np.random.default_rng(0).random(len(X))
        pipeline = make_pipeline(
            lm.ColumnSelector(**GREEDY, center=True).set_fit_request(sample_weight=True),
            Ridge().set_fit_request(sample_weight=False),
        )
        pipeline.fit(X, WINE.target, sample_weight=w)
        assert pipeline[0].reconstruction_error_ == pytest.approx(
            lm.ColumnSelector(**GREEDY, center=True).fit(X, sample_weight=w).reconstruction_error_
        )
    finally:
        set_config(enable_metadata_routing=False)


def test_reasons_have_the_names_of_the_features():
    pandas = pytest.importorskip("pandas")
    Y = np.random.default_rng(0).standard_normal((30, 3)) * [3, 2, 1]
    frame = pandas.DataFrame(
        np.column_stack([Y, -5 + 2 * Y[:, 0]]), columns=["size", "shape", "colour", "twice"]
    )
    selector = lm.ColumnSelector(
        2, method="greedy", scale=True, include=["size", "shape"], center=True
    ).fit(frame)
    reasons = selector.why(stability=selector.selection_.stability(5))
    assert reasons.chosen["name"] == ["size", "shape"] and reasons.chosen["stability"] == [1, 1]
    assert reasons.chosen["substitute_1"][0] == "twice" and reasons.chosen["cost_1"][0] == 0
    np.testing.assert_allclose(reasons.chosen["adds"], selector.scores_[[0, 1]])
    twice = next(row for row in reasons.dropped.rows if row["name"] == "twice")
    np.testing.assert_allclose([twice["r2"], twice["weight_1"]], 1)
    assert twice["source_1"] == "size"


def test_reasons_of_a_copy_by_pickle_ask_for_another_fit():
    selector = lm.ColumnSelector(2, method="greedy", center=True).fit(
        np.random.default_rng(0).standard_normal((20, 5))
    )
    with pytest.raises(
        ValueError,
        match="this ColumnSelector was pickled without its training data; call "
        "fit again before why",
    ):
        pickled(selector).why()


def test_reasons_need_a_fit():
    with pytest.raises(NotFittedError):
        lm.ColumnSelector(2, center=True).why()


class TestCenterIsFalseByDefaultAsInSelect:
    far = np.random.default_rng(0).standard_normal((40, 6)) + 10.0

    @pytest.mark.parametrize("function", [lm.select, lm.path, lm.held_out, lm.compare, lm.data])
    def test_one_default_everywhere(self, function):
        assert inspect.signature(function).parameters["center"].default is False
        assert lm.ColumnSelector().center is False

    def test_the_choice_is_that_of_select(self):
        Y = self.far - 10.0
        chosen = lm.ColumnSelector(2, method="greedy").fit(Y).indices_
        np.testing.assert_array_equal(chosen, lm.select(Y, 2, method="greedy").indices)

    def test_batches_warn_too(self):
        with pytest.warns(ScaleWarning, match=r"make up 99% of the sum of squares"):
            lm.ColumnSelector(2, method="greedy").partial_fit(self.far)

    @pytest.mark.parametrize("settings", [{"center": True}, {"scale": False}, {"scale": True}])
    def test_explicit_settings_for_the_columns_give_no_warning(self, settings):
        lm.ColumnSelector(2, method="greedy", **settings).fit(self.far)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_numeric_only_leaves_out_text_and_dates_in_fit_and_afterwards(library):
    frames = pytest.importorskip(library, reason=f"needs {library}")
    values = np.random.default_rng(0).standard_normal((40, 4))
    columns = dict(zip("abcd", values.T, strict=True))
    columns = {"name": ["x"] * 40, **columns, "born": [datetime.date(2026, 1, 1)] * 40}
    table = frames.DataFrame(columns)
    plain = lm.ColumnSelector(2).fit(values)
    selector = lm.ColumnSelector(2, numeric_only=True)
    with pytest.warns(UserWarning, match="leaves out 2 of 6 columns: 'name'"):
        selector.fit(table)
    assert selector.indices_.tolist() == plain.indices_.tolist()
    assert selector.get_feature_names_out().tolist() == ["abcd"[j] for j in plain.get_support(True)]
    np.testing.assert_array_equal(selector.transform(table), plain.transform(values))
    assert selector.score(table) == pytest.approx(plain.score(values))
    with pytest.warns(UserWarning, match="leaves out 2 of 6"):
        added = lm.ColumnSelector(2, numeric_only=True).partial_fit(table[:20], select=False)
    assert added.partial_fit(table[20:]).indices_.tolist() == plain.indices_.tolist()


def test_a_missing_value_of_a_frame_is_named_by_its_column():
    frames = pytest.importorskip("pandas", reason="needs pandas")
    table = frames.DataFrame(np.arange(12.0).reshape(4, 3) ** 2, columns=["a", "b", "c"])
    selector = lm.ColumnSelector(2).fit(table)
    table.loc[2, "b"] = np.nan
    for call in (lm.ColumnSelector(2).fit, selector.score):
        with pytest.raises(ValueError, match=r"NaN \(first at row 2, column 1 'b'; 1 in all\)"):
            call(table)
