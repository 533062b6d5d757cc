"""Bounds and proofs of the log determinant, compared with all choices."""

import itertools
import os
import re
from pathlib import Path

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning, UnsupportedError
from landmarks.proof import entropy

pytestmark = pytest.mark.thorough

PUBLISHED = Path(os.environ.get("LANDMARKS_DATA") or ".") / "entropy63.npz"
KINDS = ("plain", "graded", "near", "smooth")
WORDS = {
    "plain": {},
    "include": {"include": [2]},
    "include, exclude": {"include": [1, 4], "exclude": [0]},
    "noise": {"noise": 0.5},
    "noises": {"noise": [0.1, 2.0, 0.5, 1.0, 0.2, 3.0, 0.7, 0.4], "exclude": [3]},
    "repeats": {"noise": 0.5, "repeats": True},
}


def columns(kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((11, 8))
    if kind == "graded":
        X = X * 2.0 ** np.linspace(-12, 12, 8).round()
    if kind == "near":
        X[:, 1] = X[:, 0] + 1e-5 * X[:, 1]
    if kind == "smooth":
        X = np.exp(-((np.linspace(0, 1, 11)[:, None] - rng.uniform(0, 1, 8)) ** 2) / 0.05)
    return X


def lowest_error(X: np.ndarray, k: int, words: dict) -> float:
    """The lowest error of all choices, from QR decompositions."""
    noise = np.broadcast_to(words.get("noise", 0.0), (X.shape[1],))
    draw = itertools.combinations_with_replacement if "repeats" in words else itertools.combinations
    errors = []
    for S in map(list, draw(range(X.shape[1]), k)):
        if not set(words.get("include", ())) <= set(S) or set(words.get("exclude", ())) & set(S):
            continue
        A = np.vstack([X[:, S] / np.sqrt(noise[S]), np.eye(k)]) if np.any(noise) else X[:, S]
        errors.append(-2 * np.sum(np.log(np.abs(np.diagonal(np.linalg.qr(A, mode="r"))))))
    return min(errors)


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_choice_is_below_the_bounds_and_what_is_proved_is_the_best(kind, words):
    for seed, k in ((0, 3), (1, 4), (2, 7), (3, 8)):
        X = columns(kind, seed)
        if k > 8 - len(words.get("exclude", ())):
            continue
        least = lowest_error(X, k, words)
        s = lm.select(X, k, criterion="logdet", method="greedy", scale=False, **words)
        assert s.lower_bound() <= least + 1e-9
        assert s.gap() >= s.error() - least - 1e-9
        certificate = s.certificate(budget=5.0)
        assert certificate.bound <= least + 1e-9
        assert least - certificate.bound < 1e-6
        best = s.prove(budget=5.0)
        assert best.error() == pytest.approx(least, abs=1e-8)
        assert best.proved


@pytest.mark.parametrize("rank", [2, 4])
@pytest.mark.parametrize("noise", [0.5, np.array([0.5, 1e-3, 0.1, 2.0])], ids=["one", "each"])
@pytest.mark.parametrize("k", [5, 7])
def test_more_measurements_than_candidates_have_bounds(k, noise, rank):
    rng = np.random.default_rng(k)
    X = rng.standard_normal((6, rank)) @ rng.standard_normal((rank, 4))
    words = {"noise": noise, "repeats": True}
    least = lowest_error(X, k, words)
    s = lm.select(X, k, criterion="logdet", method="greedy", scale=False, **words)
    assert least - 3 < s.lower_bound() <= least + 1e-9
    best = s.prove(budget=5.0)
    assert best.proved and best.error() == pytest.approx(least, abs=1e-8)


@pytest.mark.parametrize("include", [[], [0]])
def test_choices_of_fewer_are_no_alternatives(include):
    """Two of three columns are parallel: no choice of three has a determinant above 0."""
    X = np.random.default_rng(0).standard_normal((10, 3)) @ np.array(
        [[1.0, 2, 0], [0] * 3, [0, 0, 1]]
    )
    with pytest.warns(RankWarning):
        s = lm.select(X, 3, criterion="logdet", include=include)
    with pytest.raises(UnsupportedError, match="every choice has the determinant 0"):
        s.alternatives()


@pytest.mark.parametrize("words", [{}, {"include": [1, 4], "exclude": [0]}, {"noise": 0.5}])
@pytest.mark.parametrize("kind", ["plain", "graded", "near", "low rank"])
def test_the_search_proves_the_best_by_bounds_alone(kind, words, monkeypatch):
    """Small problems are counted, from a good start; here neither, so that nodes decide."""
    bounded, ascended = [], entropy.ascended
    monkeypatch.setattr(entropy, "AT_ONCE", -1.0)
    monkeypatch.setattr(entropy, "COUNTED", 0)
    monkeypatch.setattr(entropy, "ROUNDS", 0)
    monkeypatch.setattr(entropy, "ascended", lambda *a, **w: bounded.append(1) or ascended(*a, **w))
    for seed, k in itertools.product(range(4), (3, 5)):
        X = np.random.default_rng(seed).standard_normal((6 if kind == "low rank" else 20, 11))
        if kind == "graded":
            X = X * 2.0 ** np.linspace(-0.5, 0.5, 11)
        if kind == "near":
            X[:, 1:3] = X[:, 3:5] + 1e-3 * X[:, 1:3]
        start = lm.Exact(start=[1, 4, 2, 3, 5][:k])
        best = lm.select(X, k, criterion="logdet", method=start, scale=False, **words)
        assert best.proved
        assert best.error() == pytest.approx(lowest_error(X, k, words), abs=1e-8)
    assert len(bounded) > 20


def test_designs_on_a_grid_of_levels_of_which_many_are_singular_are_all_compared():
    t, p = (factor.ravel() for factor in np.meshgrid([-1.0, 0.0, 0.5, 1.0], [-1.0, 0.0, 1.0]))
    X = np.array([np.ones(12), t, p, t * p])
    choices = list(itertools.combinations(range(12), 4))
    volumes = np.abs([np.linalg.det(X[:, list(S)]) for S in choices])
    best = lm.select(X, 4, criterion="logdet", scale=False, method="exact")
    assert best.proved
    assert best.error() == pytest.approx(-2 * np.log(volumes.max()))
    listed = best.alternatives(within=1.0)
    near = volumes >= volumes.max() * np.exp(-0.5) * (1 - 1e-9)
    assert {tuple(sorted(S)) for S in listed.choices.tolist()} == {
        S for S, close in zip(choices, near, strict=True) if close
    }


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("include", [[], [2], [0, 1, 2]])
def test_above_the_rank_no_choice_of_fewer_is_an_alternative(include):
    X = np.random.default_rng(0).integers(-9, 10, (6, 4))[:, [0, 1, 2, 3, 2, 2]] + 0.0
    s = lm.select(X, 5, criterion="logdet", include=include, scale=False)
    assert s.error() == np.inf
    with pytest.raises(UnsupportedError, match="every choice has the determinant 0"):
        s.alternatives(within=0.2)


def test_a_certificate_ends_with_the_best_choice_where_there_is_time():
    X = np.random.default_rng(5).standard_normal((40, 24)) @ np.diag(np.linspace(1, 3, 24))
    counted = lm.select(X, 9, criterion="logdet", method="exact")
    assert counted.proved
    s = lm.select(X, 9, criterion="logdet", method="greedy")
    certificate = s.certificate(budget=60.0)
    assert certificate.source == "search"
    assert certificate.bound == pytest.approx(counted.error(), abs=1e-6)
    assert "nats better (search)" in str(certificate)


def test_without_time_a_certificate_is_the_quick_bound_and_proves_nothing():
    X = np.random.default_rng(5).standard_normal((60, 40))
    s = lm.select(X, 15, criterion="logdet", method="greedy")
    assert s.certificate(budget=1e-6).bound == pytest.approx(s.lower_bound())
    assert not s.proved
    assert s.gap() > 0


@pytest.mark.skipif(not PUBLISHED.exists(), reason="LANDMARKS_DATA names no folder with the file")
@pytest.mark.parametrize("k", [10, 15, 30])
def test_published_designs_are_proved(k):
    given = np.load(PUBLISHED)
    best = lm.select(lm.psd(given["K"]), k, criterion="logdet", method="exact", budget=120.0)
    assert best.proved
    assert -best.error() >= given["value"][list(given["s"]).index(k)] - 1e-6


@pytest.mark.filterwarnings("ignore:.*candidates, fewer than k")
@pytest.mark.parametrize("noise", [2.0**-100, 2.0**-60, 2.0**-30])
@pytest.mark.parametrize(
    "given", [lambda X: lm.data(X, scale=False), lambda X: lm.psd(X.T @ X)], ids=["data", "K"]
)
def test_noise_far_below_the_rounding_of_k_keeps_its_digits(given, noise):
    """det(νI + K) of K = XᵀX with two rows is ν^(k−2) (ν² + ν tr K + the sum of its minors)."""
    X = np.random.default_rng(3).integers(-9, 10, (2, 7)).astype(float)
    s = lm.select(given(X), 4, criterion="logdet", noise=noise)
    picked = X[:, s.indices]
    gram = picked @ picked.T
    det = (noise**2 + noise * np.trace(gram) + np.linalg.det(gram)) / noise**2
    assert s.error() == pytest.approx(-np.log(det), rel=1e-12)
    assert s.lower_bound() <= s.error()


@pytest.mark.parametrize(
    "asked",
    [
        {"costs": [1, 2, 1, 2, 1, 2, 1, 2], "budget_cost": 4},
        {"groups": [0, 0, 0, 1, 1, 2, 2, 2], "k": 2},
        {"k": lm.Knee()},
    ],
    ids=["costs", "groups", "rule"],
)
def test_choices_of_different_sizes_need_noise(asked):
    X = columns("plain", 0)
    with pytest.raises(UnsupportedError, match="compares choices of one size only"):
        lm.select(X, criterion="logdet", **asked)
    noisy = lm.select(X, criterion="logdet", noise=0.5, scale=False, **asked)
    scaled = lm.select(10 * X, criterion="logdet", noise=50.0, scale=False, **asked)
    assert sorted(noisy.indices) == sorted(scaled.indices)
    assert noisy.error() == pytest.approx(scaled.error())


@pytest.mark.parametrize("noise", [None, 0.5])
def test_methods_that_a_refusal_names_choose(noise):
    words = {"k": 3, "criterion": "logdet", "noise": noise, "scale": False}
    for method in ("annealed", "nuclear", "pivoted_qr", "kdpp", "uniform"):
        try:
            lm.select(columns("plain", 0), method=method, **words)
        except UnsupportedError as error:
            for name in re.findall(r"\w+", str(error).partition("use ")[2]):
                if name not in ("or", "draws"):
                    assert lm.select(columns("plain", 0), method=name, **words).k == 3


def test_a_rule_that_looks_for_a_share_is_refused():
    with pytest.raises(UnsupportedError, match="lm.Knee"):
        lm.select(columns("plain", 0), lm.MaxError(0.1), criterion="logdet", noise=0.5)


def test_the_knee_is_where_further_measurements_tell_little():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4)) @ rng.standard_normal((4, 30))
    X += 0.01 * rng.standard_normal((50, 30))
    assert lm.select(X, "auto", criterion="logdet", noise=0.5, scale=False).k == 4
