"""Promises that were kept in one world and broken in another, each in full through `select`."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from contract.cells import DOORS, Posed, barely_reached, gram, grid, pose
from contract.checks import check_bound, check_error, check_file, check_members, check_proof

import landmarks as lm
from landmarks.errors import RankWarning, ScaleWarning

SEARCHED = ["greedy", "swap", "iterated", "auto"]


def chosen(A: Any, **words: Any) -> lm.Selection:
    """The selection without a word about the size of columns or the rank."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RankWarning)
        warnings.filterwarnings("ignore", category=ScaleWarning)
        return lm.select(A, **words)


def check(A: Any, problem: Posed, tmp_path: Any, method: str) -> lm.Selection:
    """Every promise that is about numbers."""
    s = chosen(A, method=method, **problem.words)
    check_members(s, problem)
    check_error(s, problem)
    check_bound(s, problem)
    check_proof(s, problem)
    check_file(s, tmp_path)
    return s


class TestSmallColumnsCountInEveryDoor:
    """Fault 85: groups of one and unit costs see what k sees."""

    @staticmethod
    def wordings(n: int, k: int) -> dict[str, dict[str, Any]]:
        return {
            "groups": {"groups": list(range(n)), "k": k},
            "costs": {"costs": [1.0] * n, "budget_cost": float(k)},
            "both": {"groups": list(range(n)), "costs": [1.0] * n, "budget_cost": k + 0.5},
        }

    @pytest.mark.parametrize("wording", ["groups", "costs", "both"])
    @pytest.mark.parametrize("criterion", ["trace", "frobenius"])
    @pytest.mark.parametrize("large", [1e6, 1e9])
    def test_one_column_is_far_larger(self, large, criterion, wording):
        X = np.random.default_rng(0).standard_normal((50, 12))
        X[:, 0] *= large
        for method in ("auto", "knapsack"):
            words = self.wordings(12, 5)[wording]
            s = chosen(X, method=method, criterion=criterion, **words)
            plain = chosen(X, k=5, method=method, criterion=criterion)
            assert len(s) == 5 and s.error() <= plain.error() * (1 + 1e-6)

    @pytest.mark.parametrize("wording", ["groups", "costs"])
    @pytest.mark.parametrize("door", ["data", "psd"])
    def test_graded_columns(self, door, wording):
        X = grid(np.random.default_rng(1), 12, 9) * 2.0 ** np.linspace(-20, 20, 9).round()
        A = X if door == "data" else lm.psd(X.T @ X)
        plain = chosen(A, k=4)
        s = chosen(A, **self.wordings(9, 4)[wording])
        assert len(s) == 4 and s.error() <= plain.error() * (1 + 1e-6)

    def test_groups_of_two(self):
        """The best pair of groups is found although a third holds nearly all of the variance."""
        X = grid(np.random.default_rng(2), 20, 8)
        X[:, :2] *= 2.0**20
        problem = pose({"k": 2, "groups": [j // 2 for j in range(8)]}, X)
        s = chosen(X, **problem.words)
        assert float(problem.reference.error(s.indices)) <= float(problem.best) * (1 + 1e-6)

    def test_costs_that_differ(self):
        X = grid(np.random.default_rng(3), 20, 8)
        X[:, 0] *= 2.0**20
        problem = pose({"costs": [2.0, 1, 2, 1, 2, 1, 2, 1], "budget_cost": 5.0}, X)
        s = chosen(X, **problem.words)
        assert float(problem.reference.error(s.indices)) <= float(problem.best) * (1 + 1e-6)

    @pytest.mark.parametrize("criterion", ["trace", "frobenius"])
    @pytest.mark.parametrize("exclude", [[], [2]])  # without column 2 the costs are equal
    @pytest.mark.parametrize("method", ["auto", "exact"])
    def test_what_rounding_hides_from_a_search_is_not_left_out(self, method, exclude, criterion):
        """The difference of columns 0 and 1, a billionth of their length, rebuilds a part of B."""
        rng = np.random.default_rng(4)
        X = grid(rng, 9, 4)
        X[:, 1] = X[:, 0] + 2.0**-30 * grid(rng, 9, 1)[:, 0]
        B = np.hstack([grid(rng, 9, 1), 8 * (X[:, 1:2] - X[:, :1]) * 2.0**30])
        words = {"target": B, "costs": [2.0, 2, 3, 2], "budget_cost": 6.0, "criterion": criterion}
        problem = pose(words | {"exclude": exclude}, X)
        s = chosen(X, method=method, **problem.words)
        assert {0, 1} <= set(s.indices.tolist())
        check_members(s, problem)
        check_proof(s, problem)


#: words for `select` on 20 rows of 90 columns
ON_NINETY: dict[str, dict[str, Any]] = {
    "trace": {},
    "frobenius": {"criterion": "frobenius"},
    "noise": {"noise": 5.0},
    "matrix": {"target": np.random.default_rng(99).standard_normal((20, 4))},
    "include": {"include": [7, 3], "exclude": [0, 50]},
    "groups": {"groups": [j // 3 for j in range(90)]},
    "distance": {"constraints": [lm.MinDistance(np.arange(90) + 0.0, 3.0)]},
}


class TestTheLayoutDoesNotDecide:
    """Fault 86: the same numbers give the same bits, however they lie in memory."""

    LAYOUTS = ["Fortran order", "strides", "pandas", "torch"]
    LATER = [pytest.param(door, marks=pytest.mark.thorough) for door in ("polars", "memory map")]

    def same(self, n: int, seed: int, layout: str, tmp_path: Any, **words: Any) -> bool:
        X = np.random.default_rng(seed).standard_normal((20, n))
        one = lm.select(X, 7, **words)
        other = lm.select(DOORS[layout](X, tmp_path), 7, **words)
        return one.indices.tolist() == other.indices.tolist() and one.error() == other.error()

    @pytest.mark.parametrize("layout", [*LAYOUTS, *LATER])
    @pytest.mark.parametrize(
        ("method", "objective"),
        [
            (method, objective)
            for method, objective in itertools.product(SEARCHED, ON_NINETY)
            if objective != "groups" or method == "auto"
        ],
    )
    def test_one_choice(self, method, objective, layout, tmp_path):
        words = {"method": method, **ON_NINETY[objective]}
        assert self.same(90, 1, layout, tmp_path, **words)

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize(
        "words",
        [
            {},
            {"criterion": "frobenius"},
            {"criterion": "logdet"},
            {"criterion": "logdet", "noise": 2.0},
            {"noise": 0.5},
            {"noise": 5.0, "repeats": True},
        ],
    )
    def test_the_bounds_are_the_same_bits(self, words, layout, tmp_path):
        X = np.random.default_rng(0).standard_normal((132, 106))
        one, other = (lm.select(A, 5, **words) for A in (X, DOORS[layout](X, tmp_path)))
        assert one.lower_bound() == other.lower_bound()

    @pytest.mark.parametrize("criterion", ["trace", "frobenius"])
    def test_frames_choose_what_their_arrays_choose(self, criterion, tmp_path):
        seeds = range(6)
        same = [self.same(300, j, "pandas", tmp_path, criterion=criterion) for j in seeds]
        assert all(same)

    @pytest.mark.thorough
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("seed", range(40))
    def test_forty_problems(self, seed, layout, tmp_path):
        assert self.same(300, seed, layout, tmp_path)

    @pytest.mark.parametrize("method", SEARCHED)
    def test_a_stored_matrix(self, method):
        X = np.random.default_rng(5).standard_normal((20, 120))
        K = X.T @ X
        large = np.zeros((240, 240))
        large[::2, ::2] = K
        found = [
            lm.select(lm.psd(A), 6, method=method)
            for A in (K, np.asfortranarray(K), large[::2, ::2])
        ]
        assert len({tuple(s.indices.tolist()) for s in found}) == 1
        assert len({s.error() for s in found}) == 1

    @pytest.mark.parametrize("method", SEARCHED)
    def test_a_target(self, method):
        rng = np.random.default_rng(6)
        X, B = rng.standard_normal((30, 60)), rng.standard_normal((30, 8))
        found = [lm.select(X, 5, method=method, target=T) for T in (B, np.asfortranarray(B))]
        assert found[0].indices.tolist() == found[1].indices.tolist()
        assert found[0].error() == found[1].error()


ASKED = [
    "trace",
    "frobenius",
    "matrix",
    "one column",
    "barely reached",
    "noise",
    "noise each",
    "matrix, noise",
]


def words_of(asked: str, rng: np.random.Generator, X: np.ndarray) -> dict[str, Any]:
    """What `select` is given for one of these objectives."""
    m, n = X.shape
    return {
        "trace": {},
        "frobenius": {"criterion": "frobenius"},
        "matrix": {"target": rng.standard_normal((m, 2))},
        "one column": {"target": rng.standard_normal((m, 1))},
        "barely reached": {"target": barely_reached(X)},
        "noise": {"noise": 0.5},
        "noise each": {"noise": 10.0 ** rng.uniform(-3, 1, n)},
        "matrix, noise": {"target": rng.standard_normal((m, 2)), "noise": 0.25},
    }[asked]


class TestNearlyDependentColumns:
    """Fault 87: bounds and proofs hold when candidates are nearly dependent."""

    @pytest.mark.parametrize("method", [*SEARCHED, "exact", "annealed"])
    @pytest.mark.parametrize("t", [1e-14, 3e-14, 1e-13, 1e-10, 1e-7])
    def test_two_columns_that_rebuild_the_target(self, t, method, tmp_path):
        X = np.array([[1.0, 1, 0, 0], [0, t, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
        problem = pose({"k": 2, "target": np.array([[0.0], [1], [0], [0]])}, X)
        assert problem.best == 0
        s = check(X, problem, tmp_path, method)
        assert s.lower_bound() <= 1e-20

    @pytest.mark.parametrize("asked", ASKED)
    @pytest.mark.parametrize("method", ["auto", "exact", "swap"])
    def test_random_columns(self, method, asked, tmp_path):
        wrong = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((9, 5))
            X[:, 1] = X[:, 0] + 10.0 ** -rng.uniform(4, 12) * rng.standard_normal(9)
            problem = pose({"k": 2 + seed % 3, **words_of(asked, rng, X)}, X)
            try:
                check(X, problem, tmp_path, method)
            except AssertionError as error:
                wrong.append(f"seed {seed}: {str(error).splitlines()[0]}")
        assert wrong == []

    @pytest.mark.parametrize("asked", ASKED)
    def test_float32(self, asked, tmp_path):
        wrong = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((9, 5)).astype(np.float32)
            X[:, 1] = X[:, 0] + np.float32(3e-7) * rng.standard_normal(9).astype(np.float32)
            problem = pose({"k": 2, **words_of(asked, rng, X)}, X)
            try:
                check(X, problem, tmp_path, "auto")
            except AssertionError as error:
                wrong.append(f"seed {seed}: {str(error).splitlines()[0]}")
        assert wrong == []

    @pytest.mark.parametrize("method", [*SEARCHED, "exact", "annealed"])
    @pytest.mark.parametrize("asked", ASKED)
    def test_equal_columns_that_must_be_chosen(self, asked, method, tmp_path):
        """A place that is lost to a copy does not spoil what the others can do."""
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = grid(rng, 6, 10)
            X[:, 1] = X[:, 0]
            words = {"k": 3, "include": [0, 1], **words_of(asked, rng, X)}
            problem = pose(words, X)
            s = check(X, problem, tmp_path, method)
            if method != "greedy":  # one place is free, so a search sees every choice
                reached = float(problem.reference.error(s.indices))
                assert reached <= float(problem.best) * (1 + 1e-6)


class TestTargetsDoNotSeeScales:
    """Fault 88: for a target it does not matter how long the candidates are."""

    POWERS = np.array([-500, 300, 0, -300, 450, -400, 350, 500, -350])

    @pytest.mark.parametrize("method", [*SEARCHED, "exact", "annealed"])
    @pytest.mark.parametrize("reach", [0.1, 0.6, 1.0])
    def test_columns_of_any_size(self, reach, method, tmp_path):
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X, B = grid(rng, 12, 9), grid(rng, 12, 3)
            scaled = np.ldexp(X, np.roll((reach * self.POWERS).astype(int), seed))
            plain = chosen(X, k=3, method=method, target=B)
            s = chosen(scaled, k=3, method=method, target=B)
            assert sorted(s.indices.tolist()) == sorted(plain.indices.tolist())
            assert s.error() == pytest.approx(plain.error(), rel=1e-9)
            assert s.lower_bound() <= plain.error() * (1 + 1e-9)

    @pytest.mark.parametrize("method", SEARCHED)
    def test_with_noise_of_the_same_size(self, method):
        """Columns and their noise scaled together carry the same information."""
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X, B, noise = grid(rng, 12, 9), grid(rng, 12, 3), 2.0 ** rng.integers(-3, 2, 9)
            powers = np.roll(self.POWERS // 5, seed)
            plain = chosen(X, k=3, method=method, target=B, noise=noise)
            scaled = chosen(
                np.ldexp(X, powers),
                k=3,
                method=method,
                target=B,
                noise=np.ldexp(noise, 2 * powers),
            )
            assert sorted(scaled.indices.tolist()) == sorted(plain.indices.tolist())
            assert scaled.error() == pytest.approx(plain.error(), rel=1e-9)

    @pytest.mark.parametrize("method", SEARCHED)
    def test_a_target_of_any_size(self, method):
        rng = np.random.default_rng(0)
        X, B = grid(rng, 12, 9), grid(rng, 12, 3)
        plain = chosen(X, k=3, method=method, target=B)
        for power in (-480, -300, 300, 480):
            s = chosen(X, k=3, method=method, target=np.ldexp(B, power))
            assert sorted(s.indices.tolist()) == sorted(plain.indices.tolist())
            assert s.error() == pytest.approx(np.ldexp(plain.error(), 2 * power), rel=1e-9)

    @pytest.mark.parametrize("door", ["psd", "kernel", "dask"])
    def test_the_error_of_a_small_column(self, door, tmp_path):
        """However small a chosen column is, what it rebuilds is rebuilt."""
        X = grid(np.random.default_rng(0), 12, 9) * 2.0 ** np.linspace(-20, 20, 9).round()
        A = DOORS[door](X, tmp_path)
        problem = pose({"k": 3, "include": [0]}, X, gram(X))
        check(A, problem, tmp_path, "greedy")


class TestTinyNoise:
    """Fault 90: however small the noise, every question has an answer, and a right one."""

    @pytest.mark.parametrize("method", [*SEARCHED, "exact", "annealed"])
    @pytest.mark.parametrize(
        ("door", "asked"),
        [
            *itertools.product(["data", "psd"], ["noise", "each", "repeats"]),
            ("data", "matrix"),
            ("psd", "vectors"),
        ],
    )
    def test_equal_columns(self, door, asked, method, tmp_path):
        wrong = []
        for power in range(-24, 3, 4):
            rng = np.random.default_rng(power + 24)
            X = grid(rng, 8, 6)
            X[:, 1], X[:, 3] = X[:, 0], -X[:, 2]
            words: dict[str, Any] = {"k": 3, "noise": 10.0**power}
            if asked == "each":
                words["noise"] = 10.0 ** (power + rng.uniform(-2, 2, 6))
            if asked == "matrix":
                words["target"] = grid(rng, 8, 2)
            if asked == "vectors":
                words["target"] = grid(rng, 6, 2)
            if asked == "repeats":
                words["repeats"] = True
            K = gram(X)
            problem = pose(words, X, None if door == "data" else K)
            try:
                check(X if door == "data" else lm.psd(K), problem, tmp_path, method)
            except (AssertionError, ValueError, ArithmeticError) as error:
                wrong.append(f"1e{power}: {type(error).__name__} {str(error).splitlines()[0]}")
        assert wrong == []


class TestEqualGains:
    """Fault 93: of columns that gain the same, one that is hardly there is not chosen."""

    @staticmethod
    def rows(tiny: float) -> np.ndarray:
        Q = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 10)))[0].T
        Q[:, [0, 5]] *= tiny
        return Q

    @pytest.mark.parametrize("tiny", [1e-17, 1e-15, 1e-12, 1e-30])
    @pytest.mark.parametrize("method", [*SEARCHED, "pivoted_qr", "annealed"])
    def test_orthonormal_rows(self, method, tiny):
        s = chosen(self.rows(tiny), k=10, method=method)
        assert s.relative_error() < 1e-20
        if method in SEARCHED:
            assert not {0, 5} & set(s.indices.tolist())

    @pytest.mark.parametrize("words", [{"criterion": "frobenius"}, {"groups": list(range(64))}])
    def test_other_words(self, words):
        s = chosen(self.rows(1e-17), k=10, **words)
        assert not {0, 5} & set(s.indices.tolist())
        assert s.relative_error() < 1e-20

    @pytest.mark.parametrize("method", SEARCHED)
    def test_a_target(self, method):
        Q = self.rows(1e-17)
        s = chosen(Q, k=10, method=method, target=Q @ np.ones((64, 1)))
        assert s.relative_error() < 1e-20

    @pytest.mark.parametrize("method", SEARCHED)
    def test_a_stored_matrix(self, method):
        Q = self.rows(1e-9)
        s = chosen(lm.psd(Q.T @ Q), k=10, method=method)
        assert not {0, 5} & set(s.indices.tolist())
        assert s.relative_error() < 1e-13


class TestNoiseOfEachCandidateDecidesALogDeterminant:
    """Precise measurements are worth more, in every search and in every form of K."""

    @pytest.mark.parametrize("method", [*SEARCHED, "exact"])
    @pytest.mark.parametrize("door", ["C order", "sparse", "psd", "kernel", "dask"])
    def test_the_best_choice_is_found(self, door, method, tmp_path):
        rng = np.random.default_rng(3)
        X = grid(rng, 12, 9)
        noise = 2.0 ** rng.integers(-8, 4, 9)
        words = {"criterion": "logdet", "noise": noise, "k": 3}
        K = None if door in ("C order", "sparse") else gram(X)
        A = lm.kernel(X.T.copy(), lm.linear()) if door == "kernel" else DOORS[door](X, tmp_path)
        problem = pose(words, X, K)
        s = check(A, problem, tmp_path, method)
        assert s.error() <= float(problem.best) + 1e-6
        assert s.proved == (method in ("auto", "exact"))


@pytest.mark.parametrize("method", ["continuous", "annealed", "greedy", "swap", "auto", "exact"])
def test_repeats_of_fewer_candidates_than_k_are_repeats_of_these(method):
    X = np.random.default_rng(0).standard_normal((3, 8))
    excluded = [5, 6, 3, 7, 4, 0]
    s = chosen(X, k=5, method=method, noise=1e-8, repeats=True, exclude=excluded)
    assert len(s) == 5 and set(s.indices.tolist()) == {1, 2}


class TestLogDeterminantsOfNearlyDependentColumns:
    """A determinant is as small as its smallest pivot, so no pivot may be rounding."""

    @pytest.mark.parametrize("method", ["swap", "iterated", "auto"])
    @pytest.mark.parametrize("seed", [14, 28, 56, 58])
    def test_a_search_of_smooth_columns_is_never_worse_than_greedy(self, seed, method):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(20, 80)), int(rng.integers(20, 60))
        k, x = int(rng.integers(5, 14)), np.linspace(0, 1, m)[:, None]
        X = np.exp(-(((x - rng.uniform(0, 1, n)) / 10 ** rng.uniform(-1, 0)) ** 2))
        words = {"k": k, "criterion": "logdet"}
        start, s = (chosen(X, method=name, **words) for name in ("greedy", method))
        error = pose(words, X[:, :k]).reference  # of k columns: no other choice is enumerated
        error = [type(error)(X=X[:, one.indices], criterion="logdet") for one in (start, s)]
        before, after = (float(one.error(range(k))) for one in error)
        assert after <= before + 1e-6 * abs(before)

    @pytest.mark.parametrize("method", ["auto", "exact"])
    def test_what_is_proved_of_columns_that_hardly_differ(self, method, tmp_path):
        for seed in range(20):
            rng = np.random.default_rng(seed)
            X = np.outer(rng.integers(1, 4, 5), rng.integers(1, 4, 5)).astype(float)
            X += 10.0 ** -rng.uniform(6, 12) * rng.standard_normal((5, 5))
            check(X, pose({"k": 2 + seed % 3, "criterion": "logdet"}, X), tmp_path, method)

    @pytest.mark.parametrize("method", [*SEARCHED, "exact"])
    def test_columns_of_any_size(self, method):
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X = grid(rng, 7, 6) * 2.0 ** rng.choice([-250, 0, 240], 6)
            problem = pose({"k": 3, "criterion": "logdet"}, X)
            s = chosen(X, method=method, **problem.words)
            exact = float(problem.reference.error(s.indices))
            assert s.error() == pytest.approx(exact, rel=1e-12)
            assert exact <= float(problem.best) + 1

    def test_the_determinant_of_columns_of_any_size(self):
        X = grid(np.random.default_rng(0), 7, 4) * 2.0 ** np.array([-498, 0, 400, 450])
        s = chosen(X, k=3, criterion="logdet", method="greedy", include=[0, 1, 2])
        exact = float(pose({"k": 3, "criterion": "logdet"}, X).reference.error([0, 1, 2]))
        assert s.error() == pytest.approx(exact, rel=1e-12)
