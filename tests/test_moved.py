"""What version 0.1 had elsewhere still works, and says where it is now; typing mistakes are met."""

import pytest

import landmarks as lm


def test_methods_are_still_found_in_their_old_place():
    with pytest.warns(DeprecationWarning, match=r"landmarks\.methods\.Greedy is now landmarks\.Gr"):
        from landmarks.methods import Greedy
    assert Greedy is lm.Greedy


def test_estimators_are_still_found_in_their_old_place():
    with pytest.warns(DeprecationWarning, match=r"is now landmarks\.ColumnSelector"):
        from landmarks.estimators import ColumnSelector
    assert ColumnSelector is lm.ColumnSelector


def test_names_that_are_public_no_more_are_found_too():
    with pytest.warns(DeprecationWarning, match=r"is now landmarks\.explain\.table\.Table"):
        from landmarks.methods import Table
    assert Table.__name__ == "Table"


def test_names_that_changed_are_found_by_their_old_name():
    with pytest.warns(DeprecationWarning, match=r"landmarks\.Target is now landmarks\.MaxError"):
        assert lm.Target is lm.MaxError
    with pytest.warns(DeprecationWarning, match=r"landmarks\.readers\.FileTable"):
        from landmarks.readers import Table
    assert Table.__name__ == "FileTable"
    with pytest.warns(DeprecationWarning, match=r"landmarks\.problem\.INCLUDE_EXCLUDE"):
        from landmarks.problem import CONSTRAINTS
    assert {"include", "exclude"} == CONSTRAINTS


@pytest.mark.parametrize("module", ["methods", "estimators"])
def test_what_never_was_there_is_not(module):
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        getattr(lm, module).Nonsense


def test_dir_lists_public_names_only():
    assert set(dir(lm)) == {*lm.__all__, "__version__"}


def test_a_typing_mistake_is_answered_with_what_was_meant():
    with pytest.raises(AttributeError, match="did you mean 'select'"):
        lm.selct
    with pytest.raises(AttributeError, match=r"dir\(landmarks\) lists"):
        lm.qqqq


def test_the_package_says_that_it_is_typed():
    from importlib.resources import files

    assert files("landmarks").joinpath("py.typed").is_file()
