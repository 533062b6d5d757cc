"""A selection shows itself: one line, the table of the command line, a notebook, a picture."""

import json
import re
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

import landmarks as lm

pytest.importorskip("pandas", reason="needs pandas")
WINE = load_wine(as_frame=True).data
ASKED = {"center": True, "scale": True}
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


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("letters", [3, 30, "漢"])
@pytest.mark.parametrize("k", [2, 10])
def test_printed_alternatives_fit_the_terminal(columns, letters, k, monkeypatch):
    name = letters * 20 if isinstance(letters, str) else "n" * letters
    names = [f"{j}{name}" for j in range(12)]
    s = lm.select(X, k, center=True)
    found = replace(s.alternatives(within=0.1), names=tuple(names))
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: columns != 80, raising=False)
    lines = str(found).splitlines()
    wide = [sum(1 + (letter == "漢") for letter in line) for line in lines]
    assert len(found) > 1 and max(wide) <= columns - 2
    assert found.table["choice"][0] == ", ".join(names[j] for j in found.rows[0])
    if letters == 3 and (k == 2 or columns == 200):
        assert lines[-1].startswith(
            ", ".join(names[j] for j in found.rows[min(len(found), 20) - 1])
        )


def test_a_column_of_the_table_is_one_entry_of_one_list(tmp_path, monkeypatch, capsys):
    """It is then in the terminal, the summary, the notebook, the frame, the pipe and the record."""
    from cli.program import called

    from landmarks.report import overview

    def largest(row):
        return float(np.max(np.abs(row.selection.operator.factor([row.index]))))

    names = {"frame": "largest", "pipe": "largest", "record": "largest"}
    column = overview.Column(largest, title="largest", form=".3f", **names)
    monkeypatch.setattr(overview, "COLUMNS", (*overview.COLUMNS, column))
    WINE.to_csv(tmp_path / "wine.csv", index=False)
    asked = ("select", tmp_path / "wine.csv", "-k", 3, "--standardize", "-q")
    for s, criterion in (
        (wine(), "trace"),
        (lm.select(WINE, 3, **ASKED, criterion="logdet"), "logdet"),
    ):
        values = s.to_frame()["largest"].tolist()
        assert len(values) == 3 and min(values) > 2
        printed = [f"{value:.3f}" for value in values]
        listed = [line for line in str(s.summary()).splitlines() if line.endswith(tuple(printed))]
        assert len(listed) == 3 and all(len(line) <= 80 for line in listed)
        for html in (s._repr_html_(), s.summary()._repr_html_()):
            assert "<th>largest</th>" in html and all(
                f"<td>{cell}</td>" in html for cell in printed
            )
        _, piped, _ = called(capsys, *asked, "--criterion", criterion)
        assert piped.splitlines()[0].endswith("\tlargest")
        assert all(f"\t{value:.6g}" in piped for value in values)
        _, record, _ = called(capsys, *asked, "--criterion", criterion, "--json")
        assert json.loads(record)["largest"] == pytest.approx(values)


def test_a_notebook_shows_names_that_cannot_do_harm():
    frame = WINE.iloc[:, :2].set_axis(["<script>alert(1)</script>", "\u202eevil"], axis=1)
    html = lm.select(frame, 2, center=True)._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert "\u202e" not in html


def test_what_is_not_all_is_never_shown_as_all():
    nearly = np.diag([1.0, 1e-4]) + 1e-9 * RNG.standard_normal((2, 2))
    assert "over 99.9999%" in str(lm.select(nearly, 1, scale=False))


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
    assert columns.get_xlabel() == "columns chosen"
    assert columns._repr_png_().startswith(b"\x89PNG")
    points = lm.kernel(X[:, :2], lm.rbf(sigma=1.0))
    assert lm.select(points, 3, method="greedy").plot().get_xlabel() == "first coordinate"
    assert lm.path(X, 6).plot().get_xlabel() == "columns chosen"


def test_what_the_readme_names_is_found_by_tab():
    names = {"summary", "plot", "why", "stability", "report", "proved", "chosen_names", "save"}
    assert names <= set(dir(lm.select(X, 2)))


def every_result():
    s = wine()
    relaxed = lm.select(WINE, 3, **ASKED, method="annealed")
    return {
        "select": s,
        "path": lm.path(WINE, 8, **ASKED),
        "compare": lm.compare(WINE, 3, methods=["greedy", "uniform"], **ASKED),
        "stability": s.stability(5, method="greedy"),
        "why": s.why(),
        "held_out": lm.held_out(WINE, range(1, 6), **ASKED),
        "nystrom": s.nystrom(),
        "alternatives": s.alternatives(within=0.05),
        "reconstruction": s.reconstruction(),
        "relaxation": relaxed.path,
    }


RESULTS = sorted(every_result())


@pytest.fixture(scope="module")
def results():
    return every_result()


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_prints_short_and_has_a_table_and_a_picture(results, name):
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    found = results[name]
    printed = repr(found).splitlines()
    assert len(printed) <= 40 and max(map(len, printed)) <= 200
    assert "array(" not in repr(found)
    assert "<table>" in found._repr_html_()
    drawn = found.plot()  # the last line of a cell: what is returned is what is shown
    assert drawn._repr_png_().startswith(b"\x89PNG")
    assert drawn.get_xlabel() == drawn.ax_.get_xlabel() != ""


def test_one_size_is_not_shown_as_a_range():
    assert re.fullmatch(r"Curve: relative error 0\.\d+ at k = 3", repr(lm.path(WINE, [3], **ASKED)))
    held = lm.held_out(WINE, [3], cv=4, **ASKED)
    assert re.fullmatch(r"HeldOut: relative error 0\.\d+ at k = 3 on 4 folds", repr(held))


@pytest.mark.parametrize("name", ["path", "stability", "why", "held_out", "nystrom", "relaxation"])
def test_a_picture_goes_on_given_axes(results, name):
    figure = pytest.importorskip("matplotlib.figure", reason="needs matplotlib")
    ax = figure.Figure().subplots()
    assert results[name].plot(ax).ax_ is ax and ax.has_data()
    with pytest.raises(AttributeError):
        results[name].plot().no_such_method


def test_tables_say_what_the_results_hold(results):
    held = results["held_out"].table
    assert held["k"] == [1, 2, 3, 4, 5]
    assert held["error"] == results["held_out"].mean.tolist()
    stable = results["stability"]
    assert stable.table["chosen"] == sorted(stable.frequencies[stable.frequencies > 0])[::-1]
    assert results["path"].to_frame()["relative error"].tolist() == list(results["path"].relative)
    eigenvalues = np.linalg.eigvalsh(results["nystrom"].factor.T @ results["nystrom"].factor)
    assert results["nystrom"].table["eigenvalue"] == pytest.approx(eigenvalues[::-1].tolist())
    r2 = results["reconstruction"]
    assert r2.table["r2"] == sorted(r2.r2) and r2.table["name"][-1] in wine().chosen_names


def test_a_large_approximation_is_not_computed_to_be_shown():
    s = lm.select(lm.kernel(np.ones((60_000, 1)), lm.linear()), 1, method="uniform")
    approximation = lm.linalg.nystrom.Nystrom(s.operator, np.arange(400))
    assert "60000 × 60000 from 400 columns" in approximation._repr_html_()
    assert "factor" not in vars(approximation)


def test_names_in_tables_cannot_do_harm():
    frame = WINE.iloc[:, :3].set_axis(["<b>x</b>", "\u202eevil", "\033[31mred"], axis=1)
    s = lm.select(frame, 2, center=True)
    for shown in (s.why(), s.stability(3, method="greedy"), s.reconstruction()):
        assert "<b>x" not in shown._repr_html_()
        assert not {"\u202e", "\033"} & set(repr(shown) + shown._repr_html_())


def test_the_summary_in_a_notebook_compares_with_chance_and_the_best():
    shown = wine().summary()
    for words in ("these 3 columns", "3 columns at random", "any 3 directions, at best"):
        assert words in shown._repr_html_() and words in str(shown)


@pytest.mark.parametrize("form", ["array", "list", "sparse", "pandas", "polars", "shuffled"])
def test_the_chosen_columns_of_other_rows(form):
    import scipy.sparse

    s, rows = wine(), WINE.iloc[::7]
    expected = rows[s.chosen_names].to_numpy()
    given = {
        "array": rows.to_numpy,
        "list": rows.to_numpy().tolist,
        "sparse": lambda: scipy.sparse.csr_array(rows.to_numpy()),
        "pandas": lambda: rows,
        "polars": lambda: pytest.importorskip("polars", reason="needs polars").from_pandas(rows),
        "shuffled": lambda: rows.iloc[:, ::-1],
    }[form]()
    found = s.transform(given)
    found = found.toarray() if form == "sparse" else np.asarray(found)
    np.testing.assert_array_equal(found, expected)


def test_a_table_with_other_columns_is_refused_by_name():
    s = wine()
    with pytest.raises(ValueError, match=f"lacks chosen columns: {s.chosen_names[0]!r}"):
        s.transform(WINE.drop(columns=s.chosen_names[0]))
    with pytest.raises(ValueError, match="must have the 13 columns of the run"):
        s.transform(WINE.to_numpy()[:, :5])
    twice = WINE.set_axis([*"aa", *WINE.columns[2:]], axis=1)
    np.testing.assert_array_equal(s.transform(twice), WINE.iloc[:, s.indices])


def test_a_choice_is_a_frame():
    frame = wine().to_frame()
    assert frame.columns.tolist() == ["index", "name", "kept so far"] and len(frame) == 3
    assert frame["kept so far"].iloc[-1] == pytest.approx(1 - wine().relative_error())


def test_random_choices_leave_out_what_was_excluded():
    X = np.random.default_rng(0).standard_normal((60, 8)) * [9, 1, 1, 1, 1, 1, 1, 1]
    shown = str(lm.select(X, 2, exclude=[0], scale=False).summary())
    kept = re.findall(r"(?:these 2 columns|2 columns at random) .*? ([\d.]+)%", shown)
    assert len(kept) == 2 and float(kept[1]) < float(kept[0])


@pytest.mark.parametrize("first", [[3], [0, 1], [3, 5]], ids=["constant", "twice", "constants"])
def test_what_is_kept_so_far_grows_after_an_included_column_that_adds_nothing(first):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 8))
    X[:, 1], X[:, 3], X[:, 5] = 2 * X[:, 0], 0.1, 7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        s = lm.select(X, 5, center=True, include=first)
    total, centred = s.total(), X - X.mean(axis=0)
    errors = [_left(centred, s.indices[:k]) for k in range(1, 6)]
    kept = s.to_frame()["kept so far"]
    np.testing.assert_allclose(kept, 1 - np.array(errors) / total, atol=1e-12)
    assert f"{kept.iloc[-1]:.1%}" in str(s.summary())


def _left(X, chosen):
    """The squared error of least squares on the chosen columns."""
    return np.sum((X - X[:, chosen] @ np.linalg.lstsq(X[:, chosen], X, rcond=1e-10)[0]) ** 2)
