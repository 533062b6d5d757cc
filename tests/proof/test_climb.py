"""The dual bound raised until the deadline: where it begins, where it ends, and in which units."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest

import landmarks as lm
from landmarks.proof.conditioned import conditioned
from landmarks.proof.dual import climb
from landmarks.proof.dual.bound import Dual
from landmarks.proof.dual.branching import Case
from landmarks.proof.dual.centre import starting_point
from landmarks.proof.dual.safe import safe_value
from landmarks.runs.runner import watching

pytestmark = pytest.mark.thorough

X = np.random.default_rng(6).standard_normal((12, 8))
FREE = np.array([0, 2, 3, 4, 5, 6, 7])


def problem(A: np.ndarray = X, k: int = 3, seconds: float = 0.3) -> lm.Problem:
    return lm.Problem(lm.data(A, scale=False), k, deadline=time.monotonic() + seconds)


def error(S: tuple[int, ...]) -> float:
    K = X.T @ X
    return float(np.trace(K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[list(S)])))


BEST = min(error(S) for S in combinations(FREE.tolist(), 3))


@pytest.mark.parametrize("power", [0, 30, -30])
def test_the_bound_holds_in_any_units(power):
    asked = problem(np.ldexp(X, power))
    state = conditioned(asked)
    unit = 2.0 ** (asked.operator.exponent - 2 * power)
    (found,) = climb.ascended(asked, state, FREE, 3, BEST / unit, None)
    # half of it is there after the first steps, however slow the machine is
    assert 0.5 * BEST < found.value * unit <= BEST
    assert found.point.shape == (3 * 7 + 2 * 7 * 8,)


def test_the_bound_rises_from_its_start():
    K, asked = X.T @ X, problem(seconds=1.0)
    dual, doubt = Dual(K, 3, 8), 1e-14 * np.abs(K)
    start = starting_point(dual)
    found = climb.climb(asked, dual, start.flat(), doubt, BEST)
    best = min(error(S) for S in combinations(range(8), 3))
    assert found.steps > 0 and safe_value(dual, start, doubt) < found.value <= best


def test_an_ascent_reports_its_steps_and_can_be_stopped():
    heard = []
    asked = problem(seconds=60.0)
    state = conditioned(asked)
    with watching(lambda progress: heard.append(progress) or True):
        (found,) = climb.ascended(asked, state, FREE, 3, BEST, None)
    assert {progress.phase for progress in heard} == {"certificate"}
    assert heard[0].done == found.steps > 0 and asked.time_left > 30


def test_an_ascent_goes_on_from_a_point_of_the_right_size():
    asked = problem()
    state = conditioned(asked)
    (first,) = climb.ascended(asked, state, FREE, 3, BEST, None)
    (again,) = climb.ascended(problem(seconds=0.05), state, FREE, 3, BEST, first.point)
    # the smoothing begins again and lowers it a little
    assert again.value > 0.9 * first.value
    assert list(climb.ascended(problem(), state, FREE, 3, BEST, first.point[1:])) == []


def test_an_error_that_is_almost_nothing_is_not_bounded():
    asked = problem()
    state = conditioned(asked)
    trace = float(np.sum(state.diagonal))
    assert trace > 50
    for share, count in ((0.9 * climb.TINY, 0), (1.1 * climb.TINY, 1)):
        assert len(list(climb.ascended(asked, state, FREE, 3, share * trace, None))) == count


def test_without_a_deadline_an_ascent_takes_a_minute_at_most():
    assert climb.time_of(lm.Problem(lm.data(X), 3)) == 60
    assert 90 < climb.time_of(problem(seconds=100.0)) <= 100
    assert 4 < climb.time_of(problem(seconds=5.0)) <= 5


def test_blocks_are_a_twentieth_of_the_steps_within_their_limits():
    assert [climb.block(steps) for steps in (0, 99, 100, 240, 500, 1e9)] == [5, 5, 5, 12, 25, 25]


def test_the_bound_of_several_cases_is_the_least():
    K = X.T @ X
    dual, doubt = Dual(K, 3, 8), 1e-14 * np.abs(K)
    start = starting_point(dual)
    worse = start._replace(theta=start.theta + 5.0)
    values = [safe_value(dual, point, doubt) for point in (start, worse)]
    cases = [Case(0.0, i, point.flat(), dual) for i, point in enumerate((start, worse))]
    assert values[0] != values[1] and climb.least(cases, doubt) == min(values)


def test_the_columns_of_a_matrix_are_its_own_data():
    root = conditioned(lm.Problem(lm.psd(X.T @ X), 3))
    found = climb.squared(root)
    K = root.matrix
    np.testing.assert_allclose(found.matrix, K @ K, rtol=1e-13)
    np.testing.assert_allclose(found.spread, np.linalg.norm(K, axis=0), rtol=1e-13)
    assert found.picks == () and found.omega > root.omega
    np.testing.assert_array_equal(found.columns, K)


@pytest.mark.parametrize(
    ("many", "error", "branched"),
    [(0.0, BEST, True), (np.inf, BEST, False), (0.0, 1e-3 * BEST, False)],
)
def test_cases_are_divided_where_steps_are_quick_and_the_bound_is_below(
    many, error, branched, monkeypatch
):
    K, asked = X.T @ X, []

    def branch(dual, x, error, seconds, ended):
        asked.append((error, seconds))
        return [Case(0.0, 0, x, dual)]

    monkeypatch.setattr(climb, "MANY", many)
    monkeypatch.setattr(climb, "branch", branch)
    dual = Dual(K, 3, 8)
    found = climb.climb(
        problem(seconds=0.05), dual, starting_point(dual).flat(), 1e-14 * np.abs(K), error
    )
    assert found.steps > 0 and len(asked) == branched
    # a third of the time was for the ascent
    assert all(given == error and seconds < 0.05 for given, seconds in asked)
