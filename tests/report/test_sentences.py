"""The sentence on how much better another choice could be: true, and in all four places."""

import re

import numpy as np
import pytest

import landmarks as lm
from landmarks.report.html_page import page
from landmarks.report.overview import lines, summarise, words_of
from landmarks.report.sentences import better
from landmarks.report.terminal import Terminal

pytestmark = pytest.mark.thorough

X = np.random.default_rng(0).standard_normal((60, 20))


@pytest.fixture
def greedy():
    return lm.select(X, 6, method="greedy")


def places(selection):
    """The terminal and `summary()` share their lines."""
    return [
        str(selection.summary()),
        selection._repr_html_(),
        page(selection).replace("\u202f", ""),
    ]


def said(selection):
    """The two shares of the sentence, in per cent."""
    now, least = re.findall(r"([\d.e-]+)%", better(selection))
    return float(now), float(least)


def test_it_stands_in_the_summary_the_notebook_and_the_report(greedy):
    sentence = better(greedy)
    assert re.fullmatch(
        r"This choice loses [\d.]+%; no other choice of 6 can lose less than [\d.]+%\.", sentence
    )
    assert all(sentence in place for place in places(greedy))


def test_a_certificate_raises_the_number(greedy):
    before = greedy.gap()
    greedy.known["certificate:trace"] = greedy._figure("error", None) * (1 - before / 3)
    lost = 100 * greedy.relative_error()
    assert said(greedy) == pytest.approx((lost, lost * (1 - before / 3)), rel=5e-3)
    assert greedy.certificate(10.0).source == "search"
    assert better(greedy) == "This is the best choice of 6."


def test_a_proved_choice_is_called_the_best():
    best = lm.select(X[:, :9], 3, method="exact")
    assert all("This is the best choice of 3." in place for place in places(best))


def test_constraints_are_mentioned():
    held = lm.select(X, 6, method="greedy", include=[3])
    assert "no other choice of 6 that the constraints allow can" in better(held)
    forced = lm.select(X, 6, exclude=range(6, 20))
    assert better(forced) == "The constraints leave no other choice."


@pytest.mark.parametrize("gap", [0.5, 0.1062, 0.0029, 0.0005, 1e-7])
@pytest.mark.parametrize("scale", [1.0, 1e-4])
def test_the_shares_differ_and_none_can_lose_less_than_is_said(gap, scale):
    X = np.random.default_rng(0).standard_normal((60, 20)) * np.repeat([1.0, scale], [6, 14])
    s = lm.select(X, 6, method="greedy", scale=False)
    s.known["certificate:trace"] = s._figure("error", None) * (1 - gap)
    now, least = said(s)
    assert least < now and least <= 100 * s.relative_error() * (1 - s.gap()) * (1 + 1e-12)


def test_groups_are_compared_with_choices_of_their_size():
    """Three groups may have up to 12 columns, so the bound is that of 12 columns."""
    groups = np.repeat(np.arange(8), [1, 1, 1, 1, 4, 4, 4, 4])
    chosen = lm.select(X, 3, groups=groups, include=[0], method="knapsack")
    assert chosen.most_columns == 9 and "that the groups and costs allow" in better(chosen)
    values = np.linalg.svd(X, compute_uv=False) ** 2
    assert chosen.lower_bound() == pytest.approx(np.sum(values[9:]), rel=1e-9)
    assert chosen.certificate(1.0).bound >= np.sum(values[9:]) * (1 - 1e-9)


def test_costs_allow_what_is_affordable():
    costs = np.arange(1, 21)
    chosen = lm.select(X, costs=costs, budget_cost=15)
    assert chosen.most_columns == 5 and len(chosen) <= 5
    assert lm.select(X, 2, costs=costs, budget_cost=15).most_columns == 2


@pytest.mark.parametrize("columns", [60, 72, 80, 200])
def test_no_line_is_wider_than_the_terminal(columns):
    names = [f"a long name of a column, number {j}, to be cut" for j in range(20)]
    A = lm.data(X)
    A.names = tuple(names)
    s = lm.select(A, 6, method="greedy")
    words, summary = words_of(s), summarise(s)
    shown = lines(s, summary, words, Terminal(columns=columns), most=10)
    tables = [line for line in shown if "·" in line]
    assert len(tables) == 9 and max(map(len, tables)) <= columns


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_errors_beyond_the_largest_number_have_a_summary(criterion):
    X = np.random.default_rng(0).standard_normal((5, 7))
    huge = lm.select(np.ldexp(X, 480), 2, criterion=criterion)
    plain = lm.select(X, 2, criterion=criterion)
    assert shares(str(huge.summary())) == shares(str(plain.summary()))


def shares(text: str) -> list[str]:
    return re.findall(r"[0-9.]+%", text)
