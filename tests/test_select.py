"""What `select` refuses, and what it says."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import UnsupportedError


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((20, 8))


@pytest.mark.parametrize("k", [0, -1, 9, 10**9])
def test_fault_10_k_out_of_range_is_refused(X, k):
    with pytest.raises(ValueError, match=f"k must be between 1 and n = 8, got {k}"):
        lm.select(X, k)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"include": 2}, r"include must be a list of indices or names, got 2; write include=\[2\]"),
        ({"exclude": np.int64(3)}, "exclude must be a list of indices or names"),
        ({"constraints": 2.0}, r"constraints must be a list of lm.MinDistance.*, got 2.0"),
        ({"criterion": np.zeros(2)}, "criterion must be one of 'trace'"),
        ({"missing": np.zeros((2, 2))}, "missing must be one of 'error'"),
        ({"budget": np.ones((9, 9))}, "budget must be a positive number of seconds or None, got"),
    ],
)
def test_arguments_of_another_kind_are_refused_in_a_short_sentence(X, arguments, message):
    with pytest.raises((TypeError, ValueError), match=message) as refused:
        lm.select(X, 3, **arguments)
    assert len(str(refused.value)) < 250 and "\n" not in str(refused.value)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="its rows must be equally long"):
        lm.select([[1.0, 2.0], [3.0]], 1)


@pytest.mark.parametrize("k", [2.5, True, "5", None, np.nan, [3]])
def test_k_of_another_type_is_refused(X, k):
    with pytest.raises(TypeError, match="k must be an integer between 1 and n = 8"):
        lm.select(X, k)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "best"}, "method must be one of"),
        ({"criterion": "max"}, "criterion must be one of"),
        ({"budget": 0}, "budget must be a positive number"),
        ({"include": [1], "exclude": [1]}, "both included and excluded"),
        ({"include": [1, 2, 3, 4]}, "include lists 4 candidates, more than k = 3"),
        ({"include": [8]}, "include: indices must be from 0 to 7"),
        ({"exclude": [0, 1, 2, 3, 4, 5]}, "more than the 2 candidates that exclude leaves"),
        ({"include": ["a"]}, "the data have none"),
    ],
)
def test_wrong_arguments_are_distinguished(X, arguments, message):
    with pytest.raises(ValueError, match=message):
        lm.select(X, 3, **arguments)


def test_a_method_that_cannot_honour_a_constraint_says_so(X):
    class First:
        honours = frozenset()

        def choose(self, problem, rng):
            return lm.Choice(np.arange(problem.k))

    with pytest.raises(UnsupportedError, match="First does not support exclude"):
        lm.select(X, 3, method=First(), exclude=[1])
    assert lm.select(X, 3, method=First()).indices.tolist() == [0, 1, 2]


def test_a_method_class_instead_of_an_object_is_refused(X):
    with pytest.raises(TypeError, match="method must be a name or a method object"):
        lm.select(X, 3, method=lm.Greedy)


@pytest.mark.parametrize("seed", [-1, "x", 1.5, True])
def test_a_seed_of_another_kind_is_refused(X, seed):
    with pytest.raises(ValueError, match="seed must be a whole number of at least 0"):
        lm.select(X, 3, seed=seed)


def test_a_name_must_be_that_of_one_column(X):
    pandas = pytest.importorskip("pandas", reason="data frames need pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefga"))
    with pytest.raises(ValueError, match="exclude: the data have no column named 'z'"):
        lm.select(frame, 3, exclude=["z"])
    with pytest.raises(
        ValueError, match="include: the data have 2 columns named 'a'; give the index of one"
    ):
        lm.select(frame, 3, include=["a"])
