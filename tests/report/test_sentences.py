"""The sentence on how much better another choice could be: true, and in all four places."""

import numpy as np
import pytest

import landmarks as lm
from landmarks import report
from landmarks.report.sentences import better, rounded_up

X = np.random.default_rng(0).standard_normal((60, 20))


@pytest.fixture
def greedy():
    return lm.select(X, 6, method="greedy")


def places(selection):
    """The terminal and `summary()` share their lines."""
    return [
        str(selection.summary()),
        selection._repr_html_(),
        report.page(selection).replace("\u202f", ""),
    ]


def test_it_stands_in_the_summary_the_notebook_and_the_report(greedy):
    sentence = f"No other choice of 6 can be more than {rounded_up(greedy.gap())} better."
    assert all(sentence in place for place in places(greedy))


def test_a_certificate_lowers_the_number(greedy):
    before = greedy.gap()
    greedy.known["certificate:trace"] = greedy._figure("error", None) * (1 - before / 3)
    assert (
        better(greedy) == f"No other choice of 6 can be more than {rounded_up(before / 3)} better."
    )
    assert greedy.certificate(10.0).source == "search"
    assert better(greedy) == "This is the best choice of 6."


def test_a_proved_choice_is_called_the_best():
    best = lm.select(X[:, :9], 3, method="exact")
    assert all("This is the best choice of 3." in place for place in places(best))


def test_constraints_are_mentioned():
    held = lm.select(X, 6, method="greedy", include=[3])
    assert "No other choice of 6 that the constraints allow can" in better(held)
    forced = lm.select(X, 6, exclude=range(6, 20))
    assert better(forced) == "The constraints leave no other choice."


def test_groups_are_compared_with_choices_of_their_size():
    """Three groups may have up to 12 columns, so the bound is that of 12 columns."""
    groups = np.repeat(np.arange(8), [1, 1, 1, 1, 4, 4, 4, 4])
    chosen = lm.select(X, 3, groups=groups, include=[0])
    assert chosen.most_columns == 9 and "that the groups and costs allow" in better(chosen)
    values = np.linalg.svd(X, compute_uv=False) ** 2
    assert chosen.lower_bound() == pytest.approx(np.sum(values[9:]), rel=1e-9)
    assert chosen.certificate(1.0).bound >= np.sum(values[9:]) * (1 - 1e-9)


def test_costs_allow_what_is_affordable():
    costs = np.arange(1, 21)
    chosen = lm.select(X, costs=costs, budget_cost=15)
    assert chosen.most_columns == 5 and len(chosen) <= 5
    assert lm.select(X, 2, costs=costs, budget_cost=15).most_columns == 2
