"""What version 0.1 had in `methods` and `problem` still works, and says where it is now."""

import pytest

import landmarks as lm


def test_methods_are_still_found_in_their_old_place():
    with pytest.warns(DeprecationWarning, match=r"landmarks\.methods\.Greedy is now landmarks\.Gr"):
        from landmarks.methods import Greedy
    assert Greedy is lm.Greedy
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        lm.methods.Nonsense


def test_the_constraints_are_found_by_their_old_name():
    with pytest.warns(DeprecationWarning, match=r"landmarks\.problem\.INCLUDE_EXCLUDE"):
        from landmarks.problem import CONSTRAINTS
    assert {"include", "exclude"} == CONSTRAINTS
