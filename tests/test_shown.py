"""A selection shows itself: one line, the table of the command line, a notebook, a picture."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_wine

import landmarks as lm
from landmarks.plots.coverage import CoverageDisplay
from landmarks.plots.error_curve import ErrorCurveDisplay

pytest.importorskip("pandas", reason="needs pandas")
WINE = load_wine(as_frame=True).data
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 12))


def wine():
    return lm.select(WINE, 3, center=True, scale=True)


def test_it_prints_as_one_line_with_the_share_and_the_names():
    s = wine()
    assert "\n" not in str(s)
    kept = f"{1 - s.relative_error():.1%}"
    assert str(s).startswith(f"Selection: 3 of 13 columns keep {kept} of the variance: ")
    assert str(s).endswith(", ".join(s.chosen_names))


def test_five_thousand_columns_print_no_more_than_ten():
    wide = np.random.default_rng(0).standard_normal((20, 5000))
    s = lm.select(wide, 15, method="greedy")
    for shown in (str(s), str(s.summary()), s._repr_html_()):
        listed = [f"column {j}" in shown for j in s.indices]
        assert sum(listed) == 10
        assert "… 5 more" in shown
    assert len(str(s)) < 300


def test_the_summary_is_the_table_of_the_command_line(tmp_path):
    from cli.program import in_terminal

    WINE.to_csv(tmp_path / "wine.csv", index=False)
    _, shown = in_terminal("select", tmp_path / "wine.csv", "-k", 3, "--standardize", "-q")
    summary = str(wine().summary()).splitlines()
    assert summary[0] == "  3 of 13 columns keep " + summary[0].partition("keep ")[2]
    plain = re.sub(r"\033\[[0-9;]*m", "", shown)
    for line in summary[2:6]:
        assert line in plain


def test_a_notebook_shows_names_that_cannot_do_harm():
    frame = WINE.iloc[:, :2].set_axis(["<script>alert(1)</script>", "\u202eevil"], axis=1)
    html = lm.select(frame, 2, center=True)._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert "\u202e" not in html


def test_what_is_not_all_is_never_shown_as_all():
    nearly = np.diag([1.0, 1e-4]) + 1e-9 * RNG.standard_normal((2, 2))
    assert "over 99.9%" in str(lm.select(nearly, 1, scale=False))


def test_an_error_that_would_cost_much_is_not_computed_for_a_line():
    calls = []

    def product(block):
        calls.append(block.shape[1])
        return X.T @ (X @ block)

    s = lm.select(lm.function(product, n=12), 3, method="nuclear")
    before = len(calls)
    assert "3 of 12" in repr(s) and len(calls) == before


def test_a_loaded_selection_shows_what_it_knows(tmp_path):
    s = wine()
    s.save(tmp_path / "run.npz")
    assert str(lm.load(tmp_path / "run.npz")) == str(s)
    assert "worst" not in lm.load(tmp_path / "run.npz")._repr_html_()


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize(
    "make",
    [lambda: lm.kernel(X, lm.rbf(sigma=2.0)), lambda: lm.psd(X.T @ X), lambda: lm.data(X)],
    ids=["kernel", "psd", "data"],
)
def test_a_loaded_selection_has_the_words_of_its_data(tmp_path, make, criterion):
    s = lm.select(make(), 3, method="greedy", criterion=criterion)
    shown = str(s)
    s.save(tmp_path / "run.npz")
    assert str(lm.load(tmp_path / "run.npz")) == shown
    assert lm.load(tmp_path / "run.npz", data=make()).from_rows is s.from_rows


def test_a_path_that_is_not_there_says_why():
    s = lm.select(X, 3)
    assert not s.path and len(s.path) == 0
    with pytest.raises(AttributeError, match="method='annealed'"):
        s.path.plot()
    assert lm.select(X, 3, method="annealed").path.t.shape[1] == 12


def test_the_picture_suits_the_data_and_shows_itself_in_notebooks():
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    columns = lm.select(X, 3).plot()
    assert isinstance(columns, ErrorCurveDisplay)
    assert columns._repr_png_().startswith(b"\x89PNG")
    points = lm.kernel(X[:, :2], lm.rbf(sigma=1.0))
    assert isinstance(lm.select(points, 3, method="greedy").plot(), CoverageDisplay)
    assert lm.path(X, 6).plot().get_xlabel() == "columns chosen"


def test_what_the_readme_names_is_found_by_tab():
    names = {"summary", "plot", "why", "stability", "report", "proved", "chosen_names", "save"}
    assert names <= set(dir(lm.select(X, 2)))
