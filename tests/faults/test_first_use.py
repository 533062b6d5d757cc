"""Fault 81: what misleads a new user in the first minutes."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import ScaleWarning, SymmetryWarning

X = np.random.default_rng(0).standard_normal((30, 6))


def test_fault_81_raw_scales_do_not_decide_silently():
    with pytest.warns(ScaleWarning, match="column 2 holds numbers over 100 times larger"):
        lm.select(X * [1, 1, 1e4, 1, 1, 1], 2)


def test_fault_81_a_symmetric_square_array_is_not_taken_as_data_silently():
    with pytest.warns(SymmetryWarning, match=r"lm\.psd"):
        lm.select(X.T @ X, 2)


@pytest.mark.parametrize("labels", [range(3, 9), [(1, j) for j in range(6)], list("abcdef")])
def test_fault_81_labels_come_back_as_they_were(labels):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame(X, columns=pandas.Index(labels))
    s = lm.select(frame, 2)
    assert s.chosen_names == [list(frame.columns)[j] for j in s.indices]
    np.testing.assert_array_equal(frame[s.chosen_names], X[:, s.indices])


def test_fault_81_all_text_columns_are_named_at_once():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame(X).assign(name="x", city="y")
    with pytest.raises(ValueError, match=r"'name' \(text\), 'city' \(text\)"):
        lm.select(frame, 2)
