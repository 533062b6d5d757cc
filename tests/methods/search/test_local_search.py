"""What stays the same during a search by swaps: who may move, in which order, and what counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import landmarks as lm
from landmarks.methods.search import local_search
from landmarks.methods.search.landscape import Landscape
from landmarks.methods.search.local_search import descend
from landmarks.objectives import as_objective
from landmarks.operators import forms
from landmarks.runs.runner import watching

X = np.random.default_rng(3).standard_normal((14, 10)) * np.linspace(1, 3, 10)
K = X.T @ X


def error(S: list[int], criterion: str) -> float:
    C = K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)]) @ K[S] if S else K
    return float(np.trace(C) if criterion == "trace" else np.sum(C * C))


def landscape(criterion: str = "trace", k: int = 5, **constraints: tuple[int, ...]) -> Landscape:
    return Landscape.of(lm.Problem(lm.psd(K), k, criterion, **constraints), as_objective(criterion))


def test_the_state_has_the_included_first_and_then_who_may_be_chosen():
    of = landscape(include=(4, 0), exclude=(2,))
    state = of.state(np.array([2, 9, 4, 1, 8, 7]))
    assert state.chosen.tolist() == [4, 0, 9, 1, 8]
    assert of.unlocked(state).tolist() == [2, 3, 4]
    open_to = np.flatnonzero(of.open_to(state)).tolist()
    assert open_to == [3, 5, 6, 7] and of.pairs_open_to(state) is None
    assert of.indices(state.chosen, np.array([6])).tolist() == [4, 0, 9, 1, 8]
    fewer = of.state(np.array([9]))
    assert of.indices(fewer.chosen, np.array([2, 6, 9, 3])).tolist() == [4, 0, 9, 6, 3]


@pytest.mark.parametrize("lowered", ["trace", "frobenius"])
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_the_error_is_a_share_of_the_total_by_the_criterion_of_the_problem(criterion, lowered):
    of = Landscape.of(lm.Problem(lm.psd(K), 5, criterion), as_objective(lowered))
    state = of.state(np.arange(5))
    share = error(list(range(5)), criterion) / error([], criterion)
    assert of.relative(of.judged(state)) == pytest.approx(share, rel=1e-9)
    assert of.direct == (criterion == lowered)
    nothing = Landscape.of(
        lm.Problem(lm.psd(np.zeros((3, 3))), 1, criterion), as_objective(lowered)
    )
    assert nothing.relative(0.0) is None


def test_a_swap_must_gain_a_part_of_the_error_and_more_than_rounding():
    of = landscape()
    state = of.state(np.arange(5))
    assert of.tolerance == 1e-9 and of.least_gain(state.error) < 1e-6 * state.error
    assert of.least_gain(state.error) > 0.9e-9 * state.error
    assert of.least_gain(state.error, 1e3 * state.error) > 2 * of.least_gain(state.error)
    single = Landscape.of(lm.Problem(lm.psd(K.astype("float32")), 5), as_objective("trace"))
    assert single.least_gain(state.error) >= of.least_gain(state.error)


def test_a_descent_ends_where_no_swap_pays():
    of = landscape(include=(0,), exclude=(9,))
    state = of.state(np.array([0, 1, 2, 3, 4]))
    before = state.error
    swaps = descend(of, state, 100)
    chosen = state.chosen.tolist()
    assert swaps > 0 and state.error < before and 0 in chosen and 9 not in chosen
    assert state.error == pytest.approx(error(chosen, "trace"), rel=1e-9)
    for place, member in enumerate(chosen):
        for j in set(range(9)) - set(chosen):
            if member != 0:
                other = [*chosen[:place], j, *chosen[place + 1 :]]
                assert error(other, "trace") >= state.error * (1 - 1e-9)


@pytest.mark.parametrize(("alike", "swaps"), [(2, 2), (3, 3), (8, local_search.DOUBTS)])
def test_swaps_that_do_not_pay_end_even_if_they_seem_to(alike, swaps, monkeypatch):
    """Equal columns: rounding may tell one from the other, and back."""
    Y = X.copy()
    Y[:, 10 - alike :] = Y[:, 9:]
    of = Landscape.of(lm.Problem(lm.psd(Y.T @ Y), 3), as_objective("trace"))
    state = of.state(np.array([0, 1, 9]))
    asked = []

    def to_the_next(landscape, state, done):
        place = int(np.flatnonzero(state.members > 1)[0])
        other = 10 - alike + (int(state.members[place]) + 1 - 10 + alike) % alike
        state.drop(place)
        state.add(other, place)
        state.drift = 1.0
        asked.append(other)
        return True

    monkeypatch.setattr(local_search, "swap_best", to_the_next)
    monkeypatch.setattr(local_search, "compiled_swaps", lambda *_: 0)
    before = state.error
    descend(of, state)
    assert len(asked) == swaps
    assert state.error <= before * (1 + 1e-12)


def test_a_quick_load_is_the_same_to_fewer_digits():
    points = np.random.default_rng(4).standard_normal((80, 3))
    operator = lm.psd(lm.rbf(sigma=1.0)(points, points))
    for criterion in ("trace", "frobenius"):
        of = Landscape.of(lm.Problem(operator, 9, criterion), as_objective(criterion), moves=1000)
        state, quick = of.state(np.arange(9)), of.state(np.arange(9))
        before = operator.ledger.products
        quick.load(np.arange(9), quick=True)
        assert operator.ledger.products - before == (9 if criterion == "frobenius" else 0)
        for ours, plain in zip(quick.rows, state.rows, strict=True):
            np.testing.assert_allclose(ours, plain, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(quick.diagonals, state.diagonals, rtol=1e-7, atol=1e-12)


def test_products_in_single_precision_must_gain_more_and_find_the_same(monkeypatch):
    monkeypatch.setattr(forms, "DENSE_MEMORY", 8)  # as if K were too large for float64
    single = K.astype(np.float32)
    products = lm.function(lambda block: single @ block, 10, dtype=np.float32)
    of = Landscape.of(lm.Problem(products, 5, exclude=(8,)), as_objective("trace"))
    assert (of.tolerance, of.drift, of.compiled) == (1e-6, 1e-3, None)
    double = landscape(exclude=(8,))
    state, exact = (each.state(np.arange(5)) for each in (of, double))
    descend(of, state)
    descend(double, exact)
    assert sorted(state.chosen) == sorted(exact.chosen) and 8 not in state.chosen
    assert of.relative(state.error) == pytest.approx(double.relative(exact.error), rel=1e-4)


def test_every_swap_near_a_disturbance_lowers_the_error():
    points = np.random.default_rng(4).standard_normal((80, 3))
    problem = lm.Problem(lm.psd(lm.rbf(sigma=1.0)(points, points)), 12)
    of = replace(Landscape.of(problem, as_objective("trace")), compiled=None)
    state = of.state(np.arange(12))
    errors = [of.relative(state.error)]
    with watching(lambda progress: errors.append(progress.error) and None):
        swaps = descend(of, state, near=np.arange(4))
    assert swaps >= 5 and np.all(np.diff(errors) < 0) and len(errors) > 5
    again = of.state(state.chosen)
    assert descend(of, again) == 0 and set(again.chosen) == set(state.chosen)
