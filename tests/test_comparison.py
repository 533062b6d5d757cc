"""Several methods compared: one table, in Python and on the command line."""

import json

import numpy as np
import pytest

import landmarks as lm
from landmarks.cli.main import main

X = np.random.default_rng(3).standard_normal((40, 10)) * np.linspace(1, 3, 10)


def test_each_row_is_the_selection_of_its_method():
    found = lm.compare(X, 3, methods=["greedy", lm.Swap(start="uniform"), "uniform"], seed=4)
    for row, method in zip(
        found.rows, ["greedy", lm.Swap(start="uniform"), "uniform"], strict=True
    ):
        s = lm.select(X, 3, method=method, seed=4)
        assert row.indices == tuple(s.indices.tolist())
        assert row.relative_error == s.relative_error() and row.factor == s.factor()
    assert [row.method for row in found.rows] == ["greedy", "Swap(start='uniform')", "uniform"]


def test_the_best_comes_first_and_is_at_hand():
    found = lm.compare(X, 3, methods=["uniform", "greedy"])
    errors = {row.method: row.relative_error for row in found.rows}
    assert found.table["method"] == sorted(errors, key=errors.__getitem__)
    assert found.best.relative_error() == min(errors.values())
    assert found.table["kept"][0] == 1 - min(errors.values())
    assert f"{found.table['kept'][0]:.2%}" in repr(found).splitlines()[1]
    assert lm.compare(np.eye(3), 3, methods=["greedy"]).table["kept"] == [1.0]


def test_it_prints_and_shows_itself_in_a_notebook():
    found = lm.compare(X, 3, methods=["uniform", "greedy"])
    assert repr(found).splitlines()[0].split() == ["method", "k", "kept", "over", "best", "seconds"]
    assert found._repr_html_().count("<tr>") == 3
    assert len(found) == 2 and found.to_frame().shape == (2, 5)


def test_a_method_that_cannot_run_says_why():
    found = lm.compare(X, 3, methods=["greedy", "kmeans"])
    assert found.rows[1].relative_error is None
    assert "kmeans" in repr(found).splitlines()[-1] and found.rows[1].skipped in repr(found)


def test_several_sizes_give_curves():
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    found = lm.compare(X, [2, 4], methods=["greedy", "uniform"])
    assert [row.k for row in found.rows] == [2, 2, 4, 4] and found.best.k == 4
    assert found.plot().ax_.get_xlabel() == "columns chosen"
    assert lm.compare(X, 3, methods=["greedy"]).plot().figure_ is not None


def test_the_command_line_has_the_same_rows(tmp_path, capsys):
    np.save(tmp_path / "x.npy", X)
    command = ["compare", str(tmp_path / "x.npy"), "-k", "2,4", "--methods", "greedy,uniform"]
    assert main([*command, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    expected = lm.compare(X, [2, 4], methods=["greedy", "uniform"]).rows
    for row, ours in zip(rows, expected, strict=True):
        assert (row["method"], row["k"]) == (ours.method, ours.k)
        assert tuple(row["indices"]) == ours.indices
        assert row["relative_error"] == ours.relative_error


@pytest.mark.parametrize("methods", ["greedy", []])
def test_methods_are_a_list(methods):
    with pytest.raises(ValueError, match=r'a list such as \["greedy", "swap"\]'):
        lm.compare(X, 3, methods=methods)


def test_a_misspelt_method_is_refused_before_any_work():
    with pytest.raises(ValueError, match="did you mean 'greedy'"):
        lm.compare(X, 3, methods=["auto", "gredy"])
