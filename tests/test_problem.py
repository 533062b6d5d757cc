"""How a choice is completed, and how a method is named."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning


def test_a_choice_is_filled_up_with_the_lowest_candidates_and_one_warning():
    X = np.zeros((3, 6))
    X[0, 5], X[1, 1] = 2.0, 1.0
    sentence = "numerical rank 2 < k = 4; further columns add nothing"
    with pytest.warns(RankWarning, match=sentence) as caught:
        s = lm.select(X, 4, exclude=[0])
    assert s.indices.tolist() == [5, 1, 2, 3] and len(caught) == 1


def test_a_method_is_shown_with_the_settings_that_were_changed():
    methods = [lm.Swap(), lm.Swap(start="uniform", max_swaps=3)]
    methods.append(lm.Continuous(stop=lm.Continuous().stop))
    X = np.random.default_rng(0).standard_normal((9, 6))
    rows = lm.compare(X, 2, methods=methods).rows
    names = ["Swap()", "Swap(start='uniform', max_swaps=3)", "Continuous()"]
    assert [row.method for row in rows] == names
