"""What every method promises: k distinct candidates, one answer per seed, sound at any rank."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from contracts.methods import CONTRACT, Entry
from contracts.operators import CASES, Case, normal
from libraries import library

import landmarks as lm
from landmarks.errors import RankWarning, UnsupportedError

SERVED = (
    "psd",
    "data tall",
    "data wide",
    "csc",
    "rbf",
    "function",
    "function, diagonal known",
    "toeplitz",
    "hadamard of two",
)
PLACES = {case.name: case for case in CASES if case.name in SERVED}
N, K = 14, 4


def can_serve(entry: Entry, case: Case) -> bool:
    return entry.serves is None or case.name in entry.serves


QUICK = ("data tall", "rbf", "function")  # entries, columns on demand, products alone


def tier(case: Case, *others: bool) -> Any:
    """The mark of a pair that `make test` leaves to `make thorough`."""
    return () if case.name in QUICK and all(others) else pytest.mark.thorough


PAIRS = [
    pytest.param(entry, case, id=f"{entry}-{case}", marks=tier(case))
    for entry in CONTRACT
    for case in PLACES.values()
    if can_serve(entry, case)
]
REFUSED = [
    pytest.param(entry, case, id=f"{entry}-{case}")
    for entry in CONTRACT
    for case in PLACES.values()
    if not can_serve(entry, case)
]
# In the first tier each method meets torch on a kernel and the strict library on data.
LIBRARIES = [
    pytest.param(
        entry,
        case,
        name,
        id=f"{entry}-{case}-{name}",
        marks=tier(case, (case.name, name) in {("rbf", "torch"), ("data tall", "strict")}),
    )
    for entry in CONTRACT
    for case in PLACES.values()
    if can_serve(entry, case)
    for name in case.libraries
    if name != "numpy"
]

every_pair = pytest.mark.parametrize(("entry", "case"), PAIRS)
every_method = pytest.mark.parametrize("entry", CONTRACT, ids=repr)


def chosen(entry: Entry, A: Any, k: int = K, **options: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        return lm.select(A, k, method=entry.method, **options).indices


@cache
def answer(entry: Entry, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The choice of a method on an operator, made once, and the values after it."""
    values = case.values.copy()
    return chosen(entry, case.make(values)), values


def home(entry: Entry) -> Case:
    """An operator of full rank that the method can serve."""
    return next(case for case in (PLACES["data tall"], PLACES["rbf"]) if can_serve(entry, case))


def with_duplicates(entry: Entry) -> tuple[Any, np.ndarray]:
    """An operator with zero and repeated candidates (points only repeat), and its columns."""
    if can_serve(entry, PLACES["psd"]):
        X = normal(9, N)
        X[:, [0, 5]], X[:, 3], X[:, 4] = 0.0, X[:, 1], -2 * X[:, 2]
        return lm.psd(X.T @ X), X
    points, X = normal(N, 3), np.eye(N)
    points[3], X[:, 3] = points[1], X[:, 1]
    return lm.kernel(points, lm.rbf(sigma=2.0)), X


@every_pair
def test_a_method_chooses_k_distinct_candidates(entry, case):
    indices, _ = answer(entry, case)
    assert len(np.unique(indices)) == len(indices) == K
    assert indices.min() >= 0 and indices.max() < N


@every_method
@pytest.mark.parametrize("k", [1, N])
def test_fault_10_a_method_chooses_one_or_all(entry, k):
    case = home(entry)
    indices = chosen(entry, case.make(case.values), k)
    assert len(np.unique(indices)) == len(indices) == k
    assert indices.min() >= 0 and indices.max() < N


@every_pair
def test_one_seed_gives_one_answer(entry, case):
    assert chosen(entry, case.make(case.values)).tolist() == answer(entry, case)[0].tolist()


@pytest.mark.parametrize(("entry", "case", "name"), LIBRARIES)
def test_every_array_library_gives_the_same_answer(entry, case, name):
    values = library(name).asarray(case.values.copy())
    assert chosen(entry, case.make(values)).tolist() == answer(entry, case)[0].tolist()


@every_pair
def test_single_precision_works(entry, case):
    indices = chosen(entry, case.make(case.values.astype(np.float32)))
    assert len(np.unique(indices)) == K


@every_pair
def test_the_input_is_not_changed(entry, case):
    assert np.array_equal(answer(entry, case)[1], case.values)


@pytest.mark.parametrize(("entry", "case"), REFUSED)
def test_an_unsupported_operator_is_refused(entry, case):
    with pytest.raises(UnsupportedError, match="use "):
        lm.select(case.make(case.values), K, method=entry.method)


MAY_COPY = "a method that may choose copies needs avoids_copies=False in contracts/methods.py"


@pytest.mark.parametrize("entry", [entry for entry in CONTRACT if entry.avoids_copies], ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_faults_5_7_zero_and_duplicate_columns_are_never_chosen_while_others_remain(entry, seed):
    A, X = with_duplicates(entry)
    k = np.linalg.matrix_rank(X)
    assert np.linalg.matrix_rank(X[:, chosen(entry, A, int(k), seed=seed)]) == k, MAY_COPY


@pytest.mark.parametrize("entry", [entry for entry in CONTRACT if entry.avoids_copies], ids=repr)
def test_fault_9_beyond_the_rank_a_method_warns_and_fills_up(entry):
    A, _ = with_duplicates(entry)
    with pytest.warns(RankWarning, match=f"numerical rank .* < k = {N}"):
        assert sorted(lm.select(A, N, method=entry.method).indices) == list(range(N))


@pytest.mark.parametrize("entry", [entry for entry in CONTRACT if entry.deterministic], ids=repr)
def test_fault_39_a_permutation_of_the_columns_permutes_the_answer(entry):
    X, order = normal(30, N), np.random.default_rng(1).permutation(N)
    assert order[chosen(entry, X[:, order])].tolist() == chosen(entry, X).tolist()


@pytest.mark.parametrize("entry", [entry for entry in CONTRACT if entry.deterministic], ids=repr)
def test_the_seed_changes_nothing_where_nothing_is_random(entry):
    case = home(entry)
    assert (
        chosen(entry, case.make(case.values), seed=1).tolist()
        == chosen(entry, case.make(case.values), seed=2).tolist()
    )


@pytest.mark.parametrize("power", [-600, -60, 60, 400])
@pytest.mark.parametrize(
    "entry", [entry for entry in CONTRACT if can_serve(entry, PLACES["data tall"])], ids=repr
)
def test_fault_11_the_units_of_the_data_do_not_matter(entry, power):
    X = normal(30, N)
    assert chosen(entry, np.ldexp(X, power)).tolist() == chosen(entry, X).tolist()


@every_pair
@pytest.mark.parametrize("constraint", ["include", "exclude"])
def test_a_constraint_is_respected_or_refused(entry, case, constraint):
    options = {constraint: [2, 9, 11]}
    if constraint not in entry.method.honours:
        with pytest.raises(UnsupportedError, match=f"does not support {constraint}"):
            lm.select(case.make(case.values), K, method=entry.method, **options)
        return
    found = set(chosen(entry, case.make(case.values), **options)) & {2, 9, 11}
    assert len(found) == (3 if constraint == "include" else 0)


@every_method
def test_everything_included_or_the_rest_excluded_leaves_no_choice(entry):
    case, wanted = home(entry), [3, 12, 0, 7]
    if "include" in entry.method.honours:
        assert sorted(chosen(entry, case.make(case.values), include=wanted)) == sorted(wanted)
    if "exclude" in entry.method.honours:
        assert sorted(
            chosen(entry, case.make(case.values), exclude=np.setdiff1d(np.arange(N), wanted))
        ) == sorted(wanted)


@every_method
def test_duplicates_among_the_included_do_no_harm(entry):
    if "include" not in entry.method.honours:
        pytest.skip("the method takes no candidates that must be chosen")
    A, _ = with_duplicates(entry)
    assert set(chosen(entry, A, include=[1, 3])) >= {1, 3}


def uneven(entry: Entry) -> Any:
    """Candidates in groups of very different size, so that a uniform draw misses most groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(8), [20, 6, 2, 2, 2, 2, 2, 2])
    points = 6.0 * rng.standard_normal((8, 3))[groups] + 0.3 * rng.standard_normal((len(groups), 3))
    return (
        lm.psd(np.exp(-((points[:, None] - points) ** 2).sum(-1) / 4))
        if can_serve(entry, PLACES["psd"])
        else lm.kernel(points, lm.rbf(2.0))
    )


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(
            entry,
            marks=pytest.mark.thorough if isinstance(entry.method, lm.Auto | lm.Continuous) else (),
        )
        for entry in CONTRACT
        if entry.avoids_copies
    ],
    ids=repr,
)
def test_fault_42_a_method_is_no_worse_than_uniform_on_average(entry):
    A, seeds = uneven(entry), range(1 if entry.deterministic else 20)
    budget = (
        5.0 if entry.deterministic else None
    )  # a proof may take long; what is found by then counts
    uniform = np.mean([lm.select(A, 8, method="uniform", seed=seed).error() for seed in range(20)])
    assert np.mean(
        [lm.select(A, 8, method=entry.method, seed=seed, budget=budget).error() for seed in seeds]
    ) <= uniform * (1 + 1e-12), MAY_COPY


@every_method
def test_a_method_is_frozen_and_its_repr_names_its_settings(entry):
    assert dataclasses.is_dataclass(entry.method) and entry.method.__dataclass_params__.frozen
    assert repr(entry.method).startswith(type(entry.method).__name__ + "(")
