"""Certificates of selections: below the optimum, never below the tail, known afterwards."""

import warnings

import numpy as np
import pytest
from proof import brute

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.proof import certificate

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore::landmarks.errors.ScaleWarning"),
]


def data(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_bound_lies_between_the_tail_and_the_error(criterion, monkeypatch):
    monkeypatch.setattr(certificate, "SEARCHED", 0)
    s = lm.select(data(30, 20), 6, method="greedy", criterion=criterion)
    tail = s.lower_bound()
    found = s.certificate(budget=1.0)
    assert tail < found.bound < s.error() and found.source in ("dual", "lookahead")
    assert s.lower_bound() == found.bound and s.gap() == found.gap == 1 - found.bound / s.error()


def test_a_small_problem_is_proved():
    s = lm.select(data(30, 10), 4, method="greedy")
    found = s.certificate(budget=10.0)
    assert found.source == "search" and found.seconds < 5
    assert s.proved == (found.gap < 1e-8) and s.lower_bound() <= s.error()


@pytest.mark.parametrize("constraint", [{"include": [3]}, {"exclude": [0, 1, 2]}])
def test_constraints_tighten_it(constraint, monkeypatch):
    monkeypatch.setattr(certificate, "SEARCHED", 0)
    X = data(40, 16)
    plain = lm.select(X, 5, method="greedy").certificate(1.0).bound
    # more time for it than for the other: on a busy machine a second may not be enough
    assert lm.select(X, 5, method="greedy", **constraint).certificate(5.0).bound > plain


def test_dependent_columns_get_more_than_the_tail(monkeypatch):
    monkeypatch.setattr(certificate, "SEARCHED", 0)
    X = data(30, 70)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        s = lm.select(X, 5, method="greedy")
        tail = s.lower_bound()
        found = s.certificate(5.0)
    assert found.source in ("lookahead", "dual")
    assert tail < found.bound < s.error()


def test_a_budget_is_a_positive_number():
    s = lm.select(data(9, 5), 2)
    with pytest.raises(ValueError, match="budget must be a positive number of seconds, got 0"):
        s.certificate(0)


def test_it_reads_as_a_sentence():
    found = certificate.Certificate(1.0, 0.003, "dual", 1.0, 10)
    assert str(found) == "no other choice can have an error more than 0.30% lower (dual)"


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("block", range(4))
def test_the_dual_bound_is_never_above_the_best(block):
    for number in range(25 * block, 25 * block + 25):
        case = brute.draw(np.random.default_rng([22, number]))
        assert brute.dual_bound(case, 0.05) <= min(brute.errors(case).values()), (number, case)


def test_a_matrix_too_large_to_store_gets_the_tail(monkeypatch):
    s = lm.select(data(30, 12), 4, method="greedy")
    monkeypatch.setattr(certificate, "STORED", 11)
    found = s.certificate(1.0)
    values = np.linalg.svd(data(30, 12), compute_uv=False) ** 2
    assert found.source == "tail" and found.iterations == 0
    assert found.bound == pytest.approx(np.sum(values[4:]), rel=1e-9)
    monkeypatch.setattr(certificate, "STORED", 12)
    assert s.certificate(1.0).bound > found.bound * 1.001


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize(
    "limits", [{"include": [1, 5, 2]}, {"exclude": list(range(7)), "include": [9]}], ids=str
)
def test_where_there_is_no_choice_the_error_is_proved(criterion, limits):
    s = lm.select(data(30, 10), 3, method="greedy", criterion=criterion, **limits)
    found = s.certificate(1.0)
    if len(limits["include"]) == 3:
        assert found.source == "tail" and found.bound == pytest.approx(s.error(), rel=1e-9)
    assert found.bound <= s.error() * (1 + 1e-12)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_tail_is_of_what_the_included_leave(criterion, monkeypatch):
    monkeypatch.setattr(certificate, "LOOKED_AHEAD", 0)
    X = data(30, 10)
    s = lm.select(X, 4, method="greedy", criterion=criterion, include=[3], exclude=range(4, 10))
    left = X - np.outer(X[:, 3], X[:, 3] @ X) / (X[:, 3] @ X[:, 3])  # three are free, all chosen
    values = np.linalg.svd(left, compute_uv=False) ** (2 if criterion == "trace" else 4)
    assert s.certificate(1.0).bound == pytest.approx(np.sum(values[3:]), rel=1e-9)
