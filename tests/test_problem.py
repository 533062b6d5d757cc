"""What a method is given: its candidates, its defaults, and how a choice is completed."""

import time

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.problem import INCLUDE_EXCLUDE, Trial, brief, complete

OPERATOR = lm.psd(np.eye(6))


def test_nothing_but_the_matrix_and_k_must_be_said():
    problem = lm.Problem(OPERATOR, 2)
    assert (problem.objective.criterion, problem.include, problem.exclude, problem.warned) == (
        "trace",
        (),
        (),
        set(),
    )
    assert (problem.groups, problem.costs, problem.budget_cost, problem.deadline) == (
        None,
        None,
        None,
        None,
    )
    assert (
        problem.time_left == np.inf
        and problem.free.tolist() == problem.candidates.tolist() == list(range(6))
    )


def test_what_is_included_is_a_candidate_and_not_free():
    problem = lm.Problem(OPERATOR, 3, include=(4, 1), exclude=(0, 5))
    assert problem.candidates.tolist() == [1, 2, 3, 4] and problem.free.tolist() == [2, 3]


def test_groups_are_counted_once():
    groups = np.array([0, 0, 1, 1, 2, 2])
    assert (
        lm.Problem(OPERATOR, 2).count([0, 1, 2]) == 3
        and lm.Problem(OPERATOR, 2, groups=groups).count([0, 1, 2]) == 2
    )
    assert lm.Problem(OPERATOR, 2, groups=groups).count([]) == 0


def test_problems_are_compared_without_their_arrays_and_shown_without_their_warnings():
    one, other = (
        lm.Problem(OPERATOR, 2, groups=np.arange(6), costs=np.ones(6), warned={name})
        for name in ("a", "b")
    )
    assert one == other != lm.Problem(OPERATOR, 3) and one.free.tolist() == other.free.tolist()
    assert "warned" not in repr(one) and "Trace" in repr(one)


def test_the_deadline_is_given_in_seconds_from_now():
    assert 9.0 < lm.Problem(OPERATOR, 2, deadline=time.monotonic() + 10.0).time_left <= 10.0
    assert lm.Problem(OPERATOR, 2, deadline=time.monotonic() - 10.0).time_left < -9.0


def test_a_choice_is_its_indices_alone_unless_more_is_said():
    choice = lm.Choice(np.arange(2))
    assert (choice.path, choice.trials, choice.bound, choice.details) == (None, (), None, {})
    assert Trial("a", 1.0, 2.0, 3) == Trial(label="a", error=1.0, seconds=2.0, products=3)


def test_a_choice_is_filled_up_with_the_lowest_candidates_and_one_warning():
    problem = lm.Problem(OPERATOR, 4, exclude=(0,))
    with pytest.warns(RankWarning, match="numerical rank 2 < k = 4; further columns add nothing"):
        assert complete(problem, [5, 1]).tolist() == [5, 1, 2, 3]
    assert complete(problem, [4]).tolist() == [4, 1, 2, 3]  # warned already
    full = complete(lm.Problem(OPERATOR, 2), np.array([3, 2]))
    assert full.tolist() == [3, 2] and full.dtype == np.int64


def test_a_method_is_shown_with_the_settings_that_were_changed():
    assert (
        brief(lm.Swap()) == "Swap()"
        and brief(lm.Swap(start="uniform", max_swaps=3)) == "Swap(start='uniform', max_swaps=3)"
    )
    assert brief(lm.Continuous(stop=lm.Continuous().stop)) == "Continuous()"
    assert set(INCLUDE_EXCLUDE) == {"include", "exclude"}
