"""What a method is given: its candidates, its defaults, and how a choice is completed."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.problem import INCLUDE_EXCLUDE, brief, complete

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
