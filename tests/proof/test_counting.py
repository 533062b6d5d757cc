"""Proofs by counting, and all choices that are nearly as good, against enumeration."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import UnsupportedError
from landmarks.proof import search

pytestmark = pytest.mark.thorough

WORDS = {
    "trace": {},
    "frobenius": {"criterion": "frobenius"},
    "target": {"target": True},
    "noise": {"noise": 0.6},
    "target, noise": {"target": True, "noise": 0.6},
    "frobenius, noise": {"criterion": "frobenius", "noise": 0.6},
    "repeats": {"noise": 0.6, "repeats": True},
    "logdet": {"criterion": "logdet"},
    "logdet, noise": {"criterion": "logdet", "noise": 0.6},
}
LIMITS = {"plain": {}, "include": {"include": [2]}, "exclude": {"exclude": [0, 5]}}


def worth(X: np.ndarray, S: tuple[int, ...], words: dict) -> float:
    """The error of a choice by its formula."""
    K, S = X.T @ X, list(S)
    noise = words.get("noise", 0.0)
    G = K[np.ix_(S, S)] + noise * np.eye(len(S))
    if words.get("criterion") == "logdet":
        scale = len(S) * np.log(noise) if noise else 0.0
        return scale - np.linalg.slogdet(G)[1]
    B = words.get("target", X)
    Z = X.T @ B
    C = B.T @ B - Z[S].T @ np.linalg.solve(G, Z[S])
    return float(np.trace(C) if words.get("criterion") != "frobenius" else np.sum(C * C))


def posed(objective: str, limits: str, seed: int) -> tuple[np.ndarray, dict, dict]:
    """Data, the words for `select`, and the error of every allowed choice of three."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((14, 9)) * rng.uniform(0.5, 2, 9)
    words = WORDS[objective] | LIMITS[limits]
    if words.get("target"):
        words["target"] = rng.standard_normal((14, 3)) + X[:, :3]
    every = combinations_with_replacement if words.get("repeats") else combinations
    allowed = [
        S
        for S in every(range(9), 3)
        if set(words.get("include", ())) <= set(S) and not set(words.get("exclude", ())) & set(S)
    ]
    return X, words, {S: worth(X, S, words) for S in allowed}


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("objective", WORDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_alternatives_are_all_choices_that_are_nearly_as_good(objective, limits, seed):
    X, words, errors = posed(objective, limits, seed)
    s = lm.select(X, 3, scale=False, method="greedy", **words)
    within = 0.5 if "logdet" in objective else 0.1
    best = min(errors.values())
    most = best + within if "logdet" in objective else best * (1 + within)
    found = s.alternatives(within=within)
    listed = [tuple(sorted(row)) for row in found.choices.tolist()]
    assert found.complete and len(set(listed)) == len(listed)
    assert set(listed) == {S for S, error in errors.items() if error <= most}
    assert found.errors == pytest.approx([errors[S] for S in listed])
    assert found.errors.tolist() == sorted(found.errors)
    in_all = set.intersection(*map(set, listed))
    assert set(found.always) == in_all


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("objective", WORDS)
def test_a_proof_on_request_finds_the_best(objective, limits):
    X, words, errors = posed(objective, limits, 5)
    s = lm.select(X, 3, scale=False, method="greedy", **words)
    proved = s.prove()
    assert not s.proved or proved is s
    assert proved.proved and proved.error() == pytest.approx(min(errors.values()))
    assert errors[tuple(sorted(proved.indices.tolist()))] == pytest.approx(min(errors.values()))
    assert proved.lower_bound() <= proved.error()


def test_reading_proved_starts_no_search():
    X = np.random.default_rng(0).standard_normal((40, 60))
    s = lm.select(X, 8)
    assert not s.proved and s.prove(budget=0.05).error() <= s.error()


@pytest.mark.parametrize("seed", range(20))
def test_columns_that_nearly_depend_on_one_another(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1000, 1000, (12, 10)) / 1024  # so that column 8 is an exact sum
    X[:, 4] = X[:, 1] + 10.0 ** -rng.uniform(3, 12) * rng.standard_normal(12)
    X[:, 7] = X[:, 2]
    X[:, 8] = X[:, 0] + X[:, 3]
    s = lm.select(X, 4, method="exact")
    errors = []
    for S in combinations(range(10), 4):
        Q = np.linalg.svd(X[:, S], full_matrices=False)
        basis = Q[0][:, Q[1] > 1e-13 * Q[1][0]]
        errors.append(float(np.sum((X - basis @ (basis.T @ X)) ** 2)))
    assert s.proved and s.error() <= min(errors) * (1 + 1e-6)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    X = np.random.default_rng(1).standard_normal((40, 30))
    monkeypatch.setattr(search, "PART", 1e-4)
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        s = lm.select(X, 6, method="exact")
        found.append((s.indices.tolist(), s.proved, s.error(), s.lower_bound()))
    assert found[0] == found[1] == found[2] and found[0][1]


def test_too_many_are_a_sentence():
    s = lm.select(np.random.default_rng(2).standard_normal((40, 30)), 6)
    with pytest.raises(UnsupportedError, match="could not all be compared"):
        s.alternatives(within=0.5)
    some = s.alternatives(within=0.02, at_most=2)
    assert len(some) <= 2 and str(some)


def test_a_table_a_picture_and_words():
    X = np.random.default_rng(3).standard_normal((30, 12))
    found = lm.select(X, 3).alternatives(within="5%")
    assert found._repr_html_().startswith("<p>") and len(found.table) == len(found)
    assert found.plot().patches
    for within in (-1, "many%", float("nan")):
        with pytest.raises(ValueError, match="within must be a share"):
            lm.select(X, 3).alternatives(within=within)
    for at_most in (0, -1, 1.5):
        with pytest.raises(ValueError, match="at_most"):
            lm.select(X, 3).alternatives(at_most=at_most)


def test_where_no_column_helps_there_are_no_alternatives():
    s = lm.select(np.zeros((5, 3)), costs=[1, 2, 1], budget_cost=3)
    with pytest.raises(UnsupportedError, match="no column lowers the error"):
        s.alternatives()


def test_alternatives_of_a_log_determinant_are_within_nats_and_no_share():
    s = lm.select(np.random.default_rng(3).standard_normal((30, 12)), 3, criterion="logdet")
    assert "within 0.5 nats" in str(s.alternatives(within=0.5))
    with pytest.raises(UnsupportedError, match="a number of nats such as 0.01, got '5%'"):
        s.alternatives(within="5%")
    with pytest.raises(ValueError, match="within must be a number of nats"):
        s.alternatives(within=-1)


PLACES = ("distance", "regions", "both")
LIMITED = {
    "groups": {"groups": [0, 0, 1, 2, 2, 3, 4, 4, 4]},
    "equal groups": {"groups": [0, 0, 0, 1, 1, 1, 2, 2, 2], "k": 2},
    "groups, include": {"groups": [0, 0, 1, 2, 2, 3, 4, 4, 4], "include": [2]},
    "costs": {"costs": [1, 2, 3, 1, 2, 3, 1, 2, 3], "budget_cost": 6},
    "costs, at most": {"costs": [1, 2, 3, 1, 2, 3, 1, 2, 3], "budget_cost": 7, "k": 3},
    "groups, costs": {
        "groups": [0, 0, 1, 2, 2, 3, 4, 4, 4],
        "costs": [1, 2, 3, 1, 2, 3, 1, 2, 3],
        "budget_cost": 9,
    },
    "distance": {"constraints": [lm.MinDistance(np.arange(9.0), 2.0)]},
    "regions": {"constraints": [lm.Regions([*"aaabbbccc"], at_most={"a": 1}, exactly={"c": 1})]},
    "both": {
        "constraints": [
            lm.MinDistance(np.arange(9.0), 2.0),
            lm.Regions([*"aaabbbccc"], at_most={"b": 1}),
        ],
        "exclude": [4],
    },
}
CELLS = [
    (objective, limits)
    for objective in WORDS
    for limits in LIMITED
    if objective != "repeats" and (limits in (*PLACES, "equal groups") or objective != "logdet")
]


def limited(objective: str, limits: str, seed: int, method: str = "") -> tuple[lm.Selection, dict]:
    """The choice of a method, greedy unless named, and the errors of all that is allowed."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((14, 9)) * rng.uniform(0.5, 2, 9)
    words = WORDS[objective] | LIMITED[limits]
    if words.get("target"):
        words["target"] = rng.standard_normal((14, 3)) + X[:, :3]
    words.setdefault("k", None if "budget_cost" in words else 3)
    method = method or ("knapsack" if {"groups", "costs"} & set(words) else "swap")
    s = lm.select(X, scale=False, method=method, **words)
    every = (S for r in range(10) for S in combinations(range(9), r))
    allowed = [S for S in every if S and s.allowed.broken(S) is None]
    return s, {S: worth(X, S, words) for S in allowed}


@pytest.mark.parametrize(("objective", "limits"), CELLS)
def test_groups_costs_and_places_are_proved_and_listed(objective, limits):
    for seed in range(3):
        s, errors = limited(objective, limits, seed)
        best = min(errors.values())
        proved = s.prove()
        assert proved.proved and proved.error() == pytest.approx(best, rel=1e-9)
        within = 0.5 if "logdet" in objective else 0.1
        most = best + within if "logdet" in objective else best * (1 + within)
        found = s.alternatives(within=within)
        listed = [tuple(sorted(row)) for row in np.asarray(found.choices, dtype=object).tolist()]
        assert found.complete
        assert set(listed) == {S for S, error in errors.items() if error <= most}
        assert found.errors == pytest.approx([errors[S] for S in listed])


@pytest.mark.parametrize(("objective", "limits"), CELLS)
def test_the_default_is_proved_where_few_choices_are_allowed(objective, limits):
    s, errors = limited(objective, limits, 3, "auto")
    assert s.proved and s.error() == pytest.approx(min(errors.values()), rel=1e-9)
