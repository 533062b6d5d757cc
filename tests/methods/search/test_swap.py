"""Swap: a local optimum of all pairs, never worse than its start, on every operator."""

import time
import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from contracts.operators import OPERATORS
from errors_of import selection_error
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import LIBRARIES, library

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.methods.search import local_search
from landmarks.methods.search.landscape import Landscape
from landmarks.methods.search.local_search import descend
from landmarks.objectives import as_objective
from landmarks.residual import exchange

CRITERIA = ["trace", "frobenius"]
K3 = np.linalg.inv([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])


def data(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


def error(K, S, criterion):
    S = list(S)
    C = K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S]
    return np.trace(C) if criterion == "trace" else np.sum(C * C)


def neighbours(S, n):
    return [(set(S) - {i}) | {j} for i in S for j in range(n) if j not in S]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n, k", [(6, 1), (8, 3), (10, 4), (12, 11)])
def test_no_single_swap_improves_the_result(n, k, criterion):
    K = data(n, n).T @ data(n, n)
    found = lm.select(lm.psd(K), k, method=lm.Swap(start=lm.Uniform()), criterion=criterion)
    reached = error(K, found.indices, criterion)
    assert min(error(K, S, criterion) for S in neighbours(found.indices.tolist(), n)) >= reached * (
        1 - 1e-8
    )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_with_one_landmark_the_result_is_the_best(criterion):
    K = data(9, 9, seed=4).T @ data(9, 9, seed=4)
    found = lm.select(
        lm.psd(K), 1, method=lm.Swap(start=[int(np.argmin(np.diag(K)))]), criterion=criterion
    )
    best = min(combinations(range(9), 1), key=lambda S: error(K, S, criterion))
    assert tuple(found.indices) == best


def test_swaps_on_the_trace_lead_the_way_to_a_lower_frobenius_error():
    """On average over starts; each is a local optimum and no worse than its start."""
    K = np.exp(-np.sum((data(60, 2)[:, None] - data(60, 2)) ** 2, axis=2))
    reached = {None: 0.0, "frobenius": 0.0}
    for seed, criterion in ((seed, criterion) for seed in range(10) for criterion in reached):
        found = lm.select(
            lm.psd(K),
            12,
            method=lm.Swap(start="rpcholesky", criterion=criterion),
            criterion="frobenius",
            seed=seed,
        )
        reached[criterion] += error(K, found.indices, "frobenius")
    assert reached[None] < reached["frobenius"]


def test_a_start_that_swaps_on_the_trace_would_spoil_is_kept():
    """The best pair by the Frobenius error stays, though another has the lower trace."""
    K = next(
        A.T @ A
        for A in (data(4, 6, seed) for seed in range(200))
        if min(combinations(range(6), 2), key=lambda S: error(A.T @ A, S, "trace"))
        != min(combinations(range(6), 2), key=lambda S: error(A.T @ A, S, "frobenius"))
    )
    best = min(combinations(range(6), 2), key=lambda S: error(K, S, "frobenius"))
    assert set(
        lm.select(
            lm.psd(K), 2, method=lm.Swap(start=list(best)), criterion="frobenius"
        ).indices.tolist()
    ) == set(best)


def test_max_swaps_counts_those_on_the_trace_too():
    K = np.exp(-np.sum((data(60, 2)[:, None] - data(60, 2)) ** 2, axis=2))
    problem = lm.Problem(lm.psd(K), 12, "frobenius")
    for most in (0, 1, 3):
        choice = lm.Swap(start=list(range(12)), max_swaps=most).choose(
            problem, np.random.default_rng(0)
        )
        assert (
            choice.details["swaps"] == most
            and len(set(choice.indices.tolist()) - set(range(12))) <= most
        )


@pytest.mark.parametrize("criterion", CRITERIA)
def test_swaps_in_single_precision_come_near_those_in_double(criterion):
    """A smooth kernel in float32: when rounding counted as a gain, no swap was found at all."""
    points = np.random.default_rng(1).standard_normal((2200, 2))
    K = np.exp(
        -((points[:, None, 0] - points[:, 0]) ** 2 + (points[:, None, 1] - points[:, 1]) ** 2)
        / 0.49
    )
    errors = {}
    for dtype in (np.float32, np.float64):
        operator = lm.psd(K.astype(dtype))
        start = lm.select(operator, 60, method="greedy")
        found = lm.select(operator, 60, method=lm.Swap(start=start.indices), criterion=criterion)
        errors[dtype] = [error(K, indices, criterion) for indices in (start.indices, found.indices)]
    (before, single), (_, double) = errors.values()
    assert single < before and (before - single) > 0.8 * (before - double)


def test_swap_repairs_the_matrix_on_which_greedy_fails():
    found = lm.select(lm.psd(K3), 2, method=lm.Swap())
    assert sorted(found.indices.tolist()) == [0, 1]
    assert found.error() == pytest.approx(1 / 5)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 10),
    st.integers(1, 10),
    st.integers(0, 3),
    st.floats(-100, 100),
    st.sampled_from(CRITERIA),
    st.integers(0, 5),
)
def test_swap_never_increases_the_error(rank, k, copies, power, criterion, seed):
    X = data(rank, 10, seed)
    X = np.concatenate([X, X[:, :copies], np.zeros((rank, 1))], axis=1) * 10.0**power
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        A = lm.data(X, scale=False)
        start = lm.select(A, k, method=lm.Uniform(), criterion=criterion, seed=seed)
        found = lm.select(A, k, method=lm.Swap(start=start.indices), criterion=criterion, seed=seed)
    # beyond the numerical rank both errors are rounding: the rank's tolerance is 1e-10 of the total
    assert found.error() <= start.error() * (1 + 1e-9) + 1e-9 * start.total()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "K",
    [np.ones((7, 7)), np.eye(7), np.kron(np.eye(3), np.ones((3, 3)))],
    ids=["equal", "identity", "triplets"],
)
def test_swap_ends_on_ties(K, criterion):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        found = lm.select(lm.psd(K), 3, method=lm.Swap(), criterion=criterion)
    assert found.error() == pytest.approx(error(K, [0, 3, 6], criterion), abs=1e-12)


def test_redundant_members_of_the_start_are_replaced():
    X = data(20, 8)
    X = np.concatenate([X, X], axis=1)
    found = lm.select(X, 4, method=lm.Swap(start=[0, 8, 1, 9]))
    assert len({j % 8 for j in found.indices.tolist()}) == 4


@pytest.mark.parametrize("criterion", CRITERIA)
def test_include_stays_and_exclude_stays_out(criterion):
    X = data(30, 12) @ data(12, 12, seed=3)
    found = lm.select(
        X, 5, method=lm.Swap(), criterion=criterion, include=[2, 7], exclude=[0, 1, 11]
    )
    assert {2, 7} <= set(found.indices.tolist()) and not {0, 1, 11} & set(found.indices.tolist())
    free = [j for j in range(12) if j not in (0, 1, 2, 7, 11)]
    best = min(error(X.T @ X, (2, 7, *S), criterion) for S in combinations(free, 3))
    assert best * (1 - 1e-9) <= found.error() <= 1.1 * best


def test_a_repeated_column_that_must_be_included_keeps_its_place():
    X = data(20, 6)
    X = np.concatenate([X, X[:, :1]], axis=1)
    found = lm.select(X, 4, method=lm.Swap(), include=[0, 6])
    assert {0, 6} <= set(found.indices.tolist()) and len(found) == 4


@pytest.mark.parametrize("case", OPERATORS, ids=repr)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_operator_and_library_gives_the_same_choice(case, criterion):
    k, K = 3, case.dense(case.values)
    chosen = set()
    for name in [name for name in LIBRARIES if name in case.libraries]:
        operator = case.make(library(name).asarray(case.values))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            chosen.add(
                tuple(
                    lm.Swap(start=[0, 1, 2])
                    .choose(lm.Problem(operator, k, criterion), np.random.default_rng(0))
                    .indices.tolist()
                )
            )
    assert len(chosen) == 1
    assert error(K, chosen.pop(), criterion) <= error(K, [0, 1, 2], criterion) * (
        1 + 1e-9
    ) + 1e-9 * np.sum(K * K)


def test_single_precision_reaches_the_same_error():
    X = data(60, 30) @ data(30, 30, seed=1)
    double = lm.select(X, 8, method=lm.Swap()).indices
    single = lm.select(lm.kernel(X.T.astype(np.float32), lm.linear()), 8, method=lm.Swap()).indices
    K = X.T @ X
    assert error(K, single, "trace") == pytest.approx(
        error(K, double, "trace"), rel=0.02
    )  # another local optimum at most


@pytest.mark.parametrize("criterion, powers", [("trace", 1), ("frobenius", 2)])
def test_a_start_costs_k_products_and_a_swap_one_more(criterion, powers):
    n, k = 60, 6  # so large that K² does not pay for so few swaps
    operator = lm.psd(lm.rbf(sigma=1.0)(data(n, 3), data(n, 3)))
    choice = lm.Swap(start=list(range(k)), criterion=criterion).choose(
        lm.Problem(operator, k, criterion), np.random.default_rng(0)
    )
    swaps, once = choice.details["swaps"], n * (powers - 1)  # diag K³ once
    assert swaps > 0
    assert operator.ledger.products == powers * k + swaps + once  # for diag K³ there is K²
    # the column that confirms a swap serves the swap too
    assert operator.ledger.columns == n + k + swaps


def test_criteria_can_be_chained():
    operator = lm.kernel(data(40, 3), lm.rbf(sigma=1.0))
    chained = lm.select(
        operator,
        6,
        method=lm.Swap(start=lm.Swap(start=lm.Greedy(), criterion="trace")),
        criterion="frobenius",
    )
    trace = lm.select(operator, 6, method=lm.Swap(criterion="trace"), criterion="frobenius")
    assert chained.error("frobenius") <= trace.error("frobenius")


def test_a_deadline_in_the_past_returns_the_start():
    operator = lm.psd(data(20, 20).T @ data(20, 20))
    choice = lm.Swap(start=[0, 1, 2]).choose(
        lm.Problem(operator, 3, deadline=time.monotonic() - 1), np.random.default_rng(0)
    )
    assert choice.indices.tolist() == [0, 1, 2] and choice.details["swaps"] == 0


def test_the_number_of_swaps_can_be_limited():
    operator = lm.psd(data(20, 20).T @ data(20, 20))
    one, two = (
        lm.Swap(start=[0, 1, 2], max_swaps=m).choose(
            lm.Problem(operator, 3), np.random.default_rng(0)
        )
        for m in (1, 2)
    )
    assert (one.details["swaps"], two.details["swaps"]) == (1, 2)
    assert selection_error(operator, two.indices, "trace") < selection_error(
        operator, one.indices, "trace"
    )


def test_the_input_is_not_changed():
    K = data(10, 10).T @ data(10, 10)
    kept = K.copy()
    lm.select(lm.psd(K), 3, method=lm.Swap())
    assert np.array_equal(K, kept)


def test_wrong_settings_are_reported():
    with pytest.raises(ValueError, match="criterion must be"):
        lm.Swap(criterion="spectral")
    with pytest.raises(ValueError, match="max_swaps must be at least 0"):
        lm.Swap(max_swaps=-1)
    with pytest.raises(ValueError, match="start must list k = 3 indices, got 2"):
        lm.select(np.eye(5), 3, method=lm.Swap(start=[0, 1]))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_descent_that_is_loaded_afresh_at_every_swap_ends_where_it_would_end(
    criterion, monkeypatch
):
    problem = lm.Problem(lm.data(data(20, 15)), 5, criterion)
    landscape = Landscape.of(problem, as_objective(criterion))
    kept, afresh = landscape.state(np.arange(5)), landscape.state(np.arange(5))
    swaps = descend(landscape, kept)
    monkeypatch.setattr(exchange, "LIFETIME", 0)
    assert descend(replace(landscape, drift=-1.0), afresh) == swaps > 0
    assert sorted(afresh.chosen) == sorted(kept.chosen) and afresh.drift == 0
    assert afresh.error == pytest.approx(kept.error, rel=1e-9)


def test_a_descent_that_makes_no_progress_gives_up_and_returns_to_the_lowest(monkeypatch):
    problem = lm.Problem(lm.data(data(20, 15)), 5)
    landscape = Landscape.of(problem, as_objective("trace"))
    state = landscape.state(np.arange(5))
    descend(landscape, state)
    best = sorted(state.chosen)
    others = iter([j for j in range(15) if j not in best])

    def aimless(landscape, state, done):
        state.drop(0)
        state.add(next(others), 0)
        return True

    monkeypatch.setattr(exchange, "LIFETIME", 0)
    monkeypatch.setattr(local_search, "swap_best", aimless)
    monkeypatch.setattr(local_search, "compiled_swaps", lambda *_: 0)
    assert descend(replace(landscape, drift=-1.0), state) == local_search.DOUBTS
    assert sorted(state.chosen) == best


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_stored_powers_of_K_make_the_same_swaps_without_products(criterion):
    n, k = 60, 6
    K = lm.rbf(sigma=1.0)(data(n, 3), data(n, 3))
    found = {}
    for moves in (0, 10 * n):
        operator = lm.psd(K)
        landscape = Landscape.of(lm.Problem(operator, k, criterion), as_objective(criterion), moves)
        state = landscape.state(np.arange(k))
        before = operator.ledger.products
        swaps = descend(landscape, state)
        found[moves] = (state.chosen.tolist(), swaps)
        used = operator.ledger.products - before
        assert used == (0 if moves else swaps)  # K² is there in any case where K³ is needed
    assert found[0] == found[10 * n] and found[0][1] > 0


@pytest.mark.parametrize(("max_swaps", "expected"), [(0, 0), (1, 1), (2, 2)])
def test_swaps_end_at_their_limit(max_swaps, expected):
    problem = lm.Problem(lm.data(data(20, 15) * np.linspace(1, 3, 15)), 5)
    choice = lm.Swap(start=range(5), max_swaps=max_swaps).choose(problem, np.random.default_rng(0))
    assert choice.details == {"swaps": expected}


def test_a_start_must_have_k_indices():
    with pytest.raises(ValueError, match="start must list k = 3 indices, got 2"):
        lm.select(data(9, 6), 3, method=lm.Swap(start=[0, 1]))
