"""Targets in ColumnSelector and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

import landmarks as lm
from landmarks.cli.main import main
from landmarks.errors import UnsupportedError

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((60, 8)) + 3, columns=list("abcdefgh"))
Y = pd.DataFrame(
    X[["a", "d"]].to_numpy() @ RNG.standard_normal((2, 3)) + 0.1 * RNG.standard_normal((60, 3)),
    columns=list("uvw"),
)


def test_a_selector_rebuilds_y() -> None:
    selector = lm.ColumnSelector(2, target="y", center=True).fit(X, Y)
    assert selector.get_feature_names_out().tolist() == ["a", "d"]
    model = LinearRegression().fit(X[["a", "d"]], Y)
    np.testing.assert_allclose(selector.target_coefficients_, model.coef_.T, rtol=1e-9)
    left = np.sum((Y - model.predict(X[["a", "d"]])).to_numpy() ** 2)
    assert selector.reconstruction_error_ == pytest.approx(left)
    whole = np.sum((Y - Y.mean()).to_numpy() ** 2)
    assert selector.score(X, Y) == pytest.approx(1 - left / whole)
    assert selector.scores_[[0, 3]].min() > 0.01
    assert selector.inverse_transform(selector.transform(X)).shape == X.shape


def test_a_selector_takes_an_array_and_weights() -> None:
    twice = np.repeat([1, 2], 30)
    rows = np.repeat(np.arange(60), twice)
    weighted = lm.ColumnSelector(2, target=Y).fit(X, sample_weight=twice.astype(float))
    repeated = lm.ColumnSelector(2, target=Y.iloc[rows]).fit(X.iloc[rows])
    assert weighted.reconstruction_error_ == pytest.approx(repeated.reconstruction_error_)
    np.testing.assert_allclose(weighted.target_coefficients_, repeated.target_coefficients_)


def test_a_scaled_selector_scores_in_scaled_units() -> None:
    selector = lm.ColumnSelector(2, target="y", scale=True).fit(X, Y)
    kept = 1 - selector.selection_.relative_error()
    assert selector.score(X, Y) == pytest.approx(kept)


def test_a_grid_search_scores_the_target() -> None:
    search = GridSearchCV(lm.ColumnSelector(target="y"), {"n_features_to_select": [1, 2]}, cv=3)
    assert search.fit(X, Y).best_params_ == {"n_features_to_select": 2}


def test_a_selector_says_what_a_target_needs() -> None:
    with pytest.raises(ValueError, match="requires y to be passed"):
        lm.ColumnSelector(2, target="y").fit(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        lm.ColumnSelector(2, target="y").fit(X, Y[:10])
    with pytest.raises(UnsupportedError, match="use fit on all rows"):
        lm.ColumnSelector(2, target="y").partial_fit(X, Y)


def test_the_command_line_rebuilds_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "data.csv"
    X.join(Y).to_csv(file, index=False)
    page = tmp_path / "page.html"
    arguments = ["select", str(file), "-k", "2", "--target-columns", "u,v,w", "--center", "-q"]
    assert main([*arguments, "--json", "--report", str(page)]) == 0
    record = json.loads(capsys.readouterr().out)
    s = lm.select(X, 2, target=Y, center=True)
    assert record["names"] == s.chosen_names
    assert record["error"] == pytest.approx(s.error())
    assert record["settings"]["target_columns"] == ["u", "v", "w"]
    assert "of the variance of the target" in page.read_text("utf-8")
    assert main([*arguments, "--rows"]) == 2
    assert "--target-columns needs a table in memory" in capsys.readouterr().err


def test_the_command_line_knows_noise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "data.csv"
    X.to_csv(file, index=False)
    assert main(["select", str(file), "-k", "3", "--noise", "5", "--center", "--json", "-q"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["error"] == pytest.approx(lm.select(X, 3, noise=5.0, center=True).error())
    assert main(["select", str(file), "-k", "3", "--noise", "-5", "-q"]) == 2
    assert "must be finite and not negative" in capsys.readouterr().err
