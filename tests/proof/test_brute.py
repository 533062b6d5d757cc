"""What is called proved, and every lower bound, against every choice in whole numbers."""

import warnings
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from proof import brute

import landmarks as lm
from landmarks.errors import RankWarning

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore::landmarks.errors.ScaleWarning"),
]

BLOCK = 50


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("block", range(6))
def test_nothing_is_proved_wrongly_and_no_bound_is_above_the_best(block):
    for number in range(block * BLOCK, (block + 1) * BLOCK):
        case = brute.draw(np.random.default_rng([19, number]))
        known = brute.errors(case)
        assert brute.faults(case, case.select("exact"), known) == [], (number, case)


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("number", range(40))
def test_auto_says_proved_only_where_it_is(number):
    case = brute.draw(np.random.default_rng([20, number]))
    assert brute.faults(case, case.select("auto"), brute.errors(case)) == []


def test_well_separated_problems_are_proved():
    """Problems that rounding does not blur are all proved."""
    clear = {"normal", "graded", "sums", "whole numbers", "single", "psd"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        cases = [brute.draw(np.random.default_rng([21, number])) for number in range(60)]
        proved = [case.select("exact").proved for case in cases if case.kind in clear]
    assert len(proved) > 15 and all(proved)


def test_the_enumeration_knows_the_certified_matrix():
    K = np.linalg.inv([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    K = np.tril(K) + np.tril(K, -1).T
    case = brute.Case("psd", K, True, 2, "trace", (), ())
    known = brute.errors(case)
    assert float(known[frozenset({0, 1})]) == pytest.approx(1 / 5)
    assert min(known.values()) == known[frozenset({0, 1})]
    assert brute.faults(case, lm.select(lm.psd(K), 2, method="exact"), known) == []


def test_a_wrong_claim_is_found():
    """The judge itself: a bound above the best and a proof of the second best are faults."""
    X = np.diag([3.0, 2.0, 1.0])
    case = brute.Case("normal", X, False, 1, "trace", (), ())
    known = brute.errors(case)
    assert known[frozenset({0})] == Fraction(5)
    wrong = lm.select(X, 1, method="exact", include=[1])
    assert len(brute.faults(case, wrong, known)) == 2


def test_an_error_below_the_last_digit_is_not_called_zero():
    """A residual of 1e-33 of K is lost in 106 bits; only exact dependence makes it nothing."""
    case = brute.draw(np.random.default_rng([2026, 2004]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        assert brute.faults(case, case.select("exact"), brute.errors(case)) == []


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_of_groups_is_below_the_best_choice_of_groups(seed):
    """Groups of different sizes: the bound must hold for the largest of them."""
    rng = np.random.default_rng(seed)
    X, groups = rng.standard_normal((14, 10)), np.repeat(np.arange(5), [1, 1, 2, 3, 3])
    X[:, groups == 4] *= 3 if seed % 2 else 0.1
    held = [4] if seed % 3 == 0 else []
    s = lm.select(X, 2, groups=groups, include=held)
    errors = []
    for pair in combinations(range(5), 2):
        S = np.isin(groups, pair)
        if all(S[held]):
            errors.append(np.sum((X - X[:, S] @ np.linalg.lstsq(X[:, S], X)[0]) ** 2))
    assert s.lower_bound() <= min(errors) * (1 + 1e-12)
    assert s.certificate(0.3).bound <= min(errors) * (1 + 1e-12)
