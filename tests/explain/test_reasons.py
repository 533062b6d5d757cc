"""The tables of reasons on data where the right answer is known."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse
from contracts.operators import KINDS

import landmarks as lm
from landmarks.explain.stability import Stability

pandas = pytest.importorskip("pandas", reason="data frames need pandas")
NORMAL = np.random.default_rng(0).standard_normal((40, 5))


@pytest.fixture
def frame():
    """a, b, c orthonormal; twin = 2 b; sum = a + b; less = a − 2 c + a fifth direction; nothing."""
    Q = np.linalg.qr(NORMAL)[0]
    a, b, c = Q[:, 0], Q[:, 1], Q[:, 2]
    return pandas.DataFrame(
        {
            "a": a,
            "b": b,
            "c": c,
            "twin": 2 * b,
            "sum": a + b,
            "less": a - 2 * c + Q[:, 4],
            "nothing": 0 * a,
        }
    )


def test_the_chosen_are_reported_by_name_in_order_of_choice(frame):
    chosen = lm.select(frame, 3, include=["c", "a", "b"]).why().chosen
    assert chosen["name"] == ["c", "a", "b"] and chosen["index"] == [2, 0, 1]
    assert chosen["substitute_1"] == ["less", "sum", "twin"] and chosen["cost_1"][2] == 0


def test_what_a_column_alone_adds_is_what_only_it_can_rebuild(frame):
    whole = (frame**2).sum().sum()
    adds = lm.select(frame, 3, include=["c", "a", "b"]).why().chosen["adds"]
    # c: itself and 2c of less; a: itself, in sum and in less; b: itself, twin and in sum
    np.testing.assert_allclose(adds, np.array([1 + 4, 1 + 1 + 1, 1 + 4 + 1]) / whole)


def test_the_dropped_are_reported_with_what_rebuilds_them_worst_first(frame):
    dropped = lm.select(frame, 3, include=["c", "a", "b"]).why(each=2).dropped
    assert dropped["name"] == ["less", "twin", "sum", "nothing"]
    np.testing.assert_allclose(dropped["r2"], [5 / 6, 1, 1, 1])
    assert dropped["source_1"] == ["c", "b", "a", None] and dropped["source_2"] == [
        "a",
        None,
        "b",
        None,
    ]
    np.testing.assert_allclose(dropped["weight_1"][:3], [-2 / 6**0.5, 1, 0.5**0.5])
    assert dropped["weight_2"][1] is None


def test_weights_do_not_depend_on_the_units_of_columns(frame):
    scaled = frame * [1, 10, 1e-3, 1, 1e4, 7, 1]
    first, second = (
        lm.select(X, 3, include=["c", "a", "b"], scale=False).why().dropped.rows
        for X in (frame, scaled)
    )
    for row in first:
        again = next(other for other in second if other["name"] == row["name"])
        np.testing.assert_allclose(
            [again["r2"], again["weight_1"] or 0], [row["r2"], row["weight_1"] or 0]
        )


def test_the_tables_hold_values_that_json_knows(frame):
    for X in (frame, NORMAL):
        found = lm.select(X, 2, method="greedy").why()
        for table in (found.chosen, found.dropped):
            assert json.loads(json.dumps(table.rows)) == table.rows


def test_a_negative_cost_is_a_swap_that_pays():
    selection = lm.select(np.diag([1.0, 3.0, 2.0]), 1, include=[0])
    assert selection.why(each=1).chosen.rows == [
        {"index": 0, "adds": 1 / 14, "substitute_1": 1, "cost_1": -8 / 14}
    ]


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_at_the_end_of_a_swap_search_no_substitution_pays(criterion):
    X = np.random.default_rng(5).standard_normal((30, 25))
    assert min(lm.select(X, 6, method="swap", criterion=criterion).why().chosen["cost_1"]) >= 0


def test_costs_are_of_the_criterion_that_is_asked_for():
    X = np.random.default_rng(5).standard_normal((30, 8))
    selection = lm.select(X, 2, method="greedy")
    row = selection.why("frobenius").chosen.rows[0]
    other = lm.select(X, 2, include=[row["substitute_1"], selection.indices[1]])
    np.testing.assert_allclose(
        row["cost_1"],
        other.relative_error("frobenius") - selection.relative_error("frobenius"),
        atol=1e-12,
    )


@pytest.mark.parametrize("case", KINDS, ids=repr)
def test_every_operator_can_give_its_reasons(case):
    found = lm.select(case.make(case.values), 1, method="greedy").why()
    assert (
        len(found.chosen) == 1
        and len(found.dropped) == 13
        and all(0 <= r2 <= 1 for r2 in found.dropped["r2"])
    )


def test_excluded_columns_are_dropped_but_never_substitutes(frame):
    found = lm.select(frame, 3, include=["a", "b", "c"], exclude=["twin"]).why(each=7)
    assert "twin" in found.dropped["name"] and "twin" not in {
        v for row in found.chosen.rows for v in row.values()
    }


def test_stability_is_shown_as_a_column(frame):
    selection = lm.select(frame, 3, method="greedy")
    frequencies = selection.stability(5)
    found = selection.why(stability=frequencies)
    assert found.chosen["stability"] == frequencies.frequencies[selection.indices].tolist()
    assert found.dropped["stability"] == frequencies.frequencies[found.dropped["index"]].tolist()


def test_where_all_are_chosen_nothing_is_dropped():
    found = lm.select(NORMAL, 5, method="greedy").why()
    assert len(found.dropped) == 0 and list(found.chosen.columns) == ["index", "adds"]


def test_names_are_escaped_in_notebooks():
    X = pandas.DataFrame(NORMAL, columns=["<script>", "b", "c", "d", "e"])
    assert "<script>" not in lm.select(X, 2, method="greedy").why()._repr_html_()


def test_the_tables_are_data_frames_when_asked(frame):
    found = lm.select(frame, 3, include=["c", "a", "b"]).why()
    assert found.dropped.to_frame().set_index("name").loc["less", "source_1"] == "c"
    assert repr(found).startswith("chosen\nindex  name")


@pytest.mark.parametrize("each", [0, 1.5, True])
def test_the_number_of_substitutes_is_checked(each):
    with pytest.raises(ValueError, match="each must be a whole number of at least 1, got"):
        lm.select(NORMAL, 2, method="greedy").why(each=each)


def test_stability_of_another_kind_or_size_is_refused():
    selection = lm.select(NORMAL, 2, method="greedy")
    with pytest.raises(
        TypeError, match=r"stability must be what Selection.stability returns, got 50"
    ):
        selection.why(stability=50)
    with pytest.raises(ValueError, match="stability is that of 9 candidates, the selection has 5"):
        selection.why(stability=Stability(np.zeros(9), 1))


def test_a_selection_without_its_data_says_how_to_give_them(tmp_path):
    lm.select(NORMAL, 2, method="greedy").save(tmp_path / "run.npz")
    for ask in (lambda s: s.why(), lambda s: s.stability(), lambda s: s.reconstruction()):
        with pytest.raises(ValueError, match="loaded without its data; give them with load"):
            ask(lm.load(tmp_path / "run.npz"))


def test_a_sparse_matrix_gives_the_reasons_of_a_dense_one():
    X = np.where(NORMAL > 0, NORMAL, 0.0)
    sparse, dense = (lm.select(Y, 2, method="greedy").why() for Y in (scipy.sparse.csr_array(X), X))
    assert sparse.chosen["substitute_1"] == dense.chosen["substitute_1"]
    np.testing.assert_allclose(sparse.dropped["r2"], dense.dropped["r2"])
