"""Certificates with a target or noise: below the best of all choices, and often equal to it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from landmarks.linalg.aim import Aim
from landmarks.methods.aimed import exact
from landmarks.methods.aimed.certified import bounds_of_members
from landmarks.methods.aimed.search import aim_of
from landmarks.residual.aimed.rebuilding import rebuilding

import landmarks as lm

from .plain import best, least_squares, posterior
from .test_enumeration import graded


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("seed", range(30))
def test_the_certificate_is_below_the_best_of_all_choices_for_a_target(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 10, 1 + seed % 5
    A, B = graded(rng, 9 + seed % 5, n, 2.0), graded(rng, 9 + seed % 5, 1 + seed % 4, 2.0)
    least = best(least_squares(A, B), n, k)
    s = lm.select(A, k, target=B, method="greedy", scale=False)
    found = s.certificate(budget=20)
    assert found.bound <= least * (1 + 1e-9)
    assert found.bound == pytest.approx(least, rel=1e-6)  # small cases are searched completely
    assert s.lower_bound() == found.bound
    assert s.gap() == pytest.approx(1 - least / s.error(), abs=1e-6)


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_the_certificate_is_below_the_best_of_all_choices_with_noise(
    seed: int, repeats: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, k = 8, 1 + seed % 4
    X = graded(rng, 6, n, 1.0)
    noise = rng.uniform(0.01, 1.0, n) * 10.0 ** rng.integers(-4, 1)
    least = best(posterior(X.T @ X, noise), n, k, repeats=repeats)
    s = lm.select(X, k, noise=noise, repeats=repeats, method="greedy", scale=False)
    assert s.certificate(budget=20).bound == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_looking_ahead_bounds_every_choice_with_a_member(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 9, 2 + seed % 3
    X, noise = graded(rng, 6, n, 1.0), rng.uniform(0.01, 1.0, n)
    aim, include, exclude = Aim(noise=noise), (4,) * (seed % 2), (1,) * (seed % 3 > 0)
    problem = lm.Problem(lm.data(X), k, include=include, exclude=exclude, aim=aim)
    error = posterior(X.T @ X, noise)
    found = bounds_of_members(rebuilding(problem.operator, aim), problem, lambda: False)
    for j, bound in zip(problem.free, found, strict=True):
        rest = [i for i in problem.free if i != j]
        least = min(error([*include, j, *S]) for S in subsets(rest, k - 1 - len(include)))
        assert 0 < bound <= least * (1 + 1e-9)


def subsets(items: list[int], size: int) -> list[tuple[int, ...]]:
    return list(combinations(items, size))


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_bounds_of_looking_ahead_are_those_of_the_formula(noisy: bool, k: int) -> None:
    """Noise as more rows of A, and the eigenvalues of all that is left of the target."""
    rng = np.random.default_rng(k)
    X, B, noise = rng.standard_normal((20, 9)), rng.standard_normal((20, 4)), np.full(9, 0.7)
    X[:, 8] = X[:, 4]  # adds nothing to what is included, unless each has noise of its own
    aim = Aim(target=B, noise=noise if noisy else None)
    problem = lm.Problem(lm.data(X), k, include=(4,), exclude=(1,), aim=aim)
    base = rebuilding(problem.operator, aim)
    A, wide = base.A, base.B
    if noisy:
        A = np.vstack([base.A, np.diag(base.sigma)])
        wide = np.vstack([base.B, np.zeros((9, base.B.shape[1]))])
    range_of = lambda M: M @ np.linalg.pinv(M)  # noqa: E731
    left = wide - range_of(A[:, [4]]) @ wide
    inside = range_of(A[:, problem.candidates]) @ left
    expected = []
    for j in problem.free:
        rest = inside - range_of(A[:, [4, j]]) @ inside
        values = np.linalg.svd(rest, compute_uv=False) ** 2
        expected.append(np.sum((left - inside) ** 2) + np.sum(values[k - 2 :]))
    found = bounds_of_members(base, problem, lambda: False)
    np.testing.assert_allclose(found, base.outside + np.array(expected), rtol=1e-9)


def test_looking_ahead_ends_when_the_time_is_up() -> None:
    aim = Aim(target=np.ones((6, 1)))
    problem = lm.Problem(lm.data(np.eye(6)), 2, aim=aim)
    assert bounds_of_members(rebuilding(problem.operator, aim), problem, lambda: True) is None


def test_looking_ahead_proves_more_than_eigenvalues() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 60)) * np.geomspace(1, 1e-2, 60)
    s = lm.select(X, 8, target=X @ rng.standard_normal((60, 60)), method="swap", scale=False)
    before = s.gap()
    found = s.certificate(budget=30)
    assert found.source == "lookahead"
    assert found.gap < before


def test_candidates_ruled_out_by_looking_ahead_shorten_the_search() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 66)) * np.where(np.arange(66) < 6, 1.0, 1e-3)
    s = lm.select(X, 5, target=X, method="greedy", noise=0.01, scale=False)
    found = s.certificate(budget=30)  # 66 over 4 are more choices than are searched
    assert found.source == "search"
    assert s.proved


def test_what_is_included_raises_the_certificate() -> None:
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((20, 10)), rng.standard_normal((20, 3))
    error = least_squares(A, B)
    s = lm.select(A, 3, target=B, include=[9], method="greedy", scale=False)
    least = min(error([9, i, j]) for i in range(9) for j in range(i))
    assert s.certificate(budget=20).bound == pytest.approx(least, rel=1e-6)


def test_where_all_are_included_the_error_is_below_no_bound() -> None:
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((20, 10)), rng.standard_normal((20, 3))
    s = lm.select(A, 2, target=B, include=[9, 1], method="greedy", scale=False)
    found = s.certificate(budget=20)
    assert found.source == "tail"
    assert found.bound == pytest.approx(s.best_rank_error(), rel=1e-9)


def test_too_many_choices_are_bounded_by_looking_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((20, 10)), rng.standard_normal((20, 3))
    s = lm.select(A, 3, target=B, method="greedy", scale=False)
    monkeypatch.setattr(exact, "MOST", 9)
    found = s.certificate(budget=20)
    assert found.source == "lookahead" and found.iterations == 10
    assert found.bound < least_squares(A, B)(s.indices)


def test_a_problem_without_an_aim_has_no_search_for_one() -> None:
    with pytest.raises(ValueError, match="has no aim; use the methods for a trace or Frobenius"):
        aim_of(lm.Problem(lm.data(np.eye(3)), 1))


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
def test_dependent_columns_that_must_be_included_leave_nothing_to_prove() -> None:
    rng = np.random.default_rng(6)
    A, B = rng.standard_normal((12, 6)), rng.standard_normal((12, 2))
    A[:, 1] = 2 * A[:, 0]
    s = lm.select(A, 3, target=B, include=[0, 1], method="exact", scale=False)
    assert {0, 1} <= set(s.indices.tolist()) and not s.proved
    error = least_squares(A, B, rounding=1e-12)
    assert s.error() == pytest.approx(min(error([0, j]) for j in range(2, 6)))


def test_an_enumeration_ends_when_the_time_is_up() -> None:
    rng = np.random.default_rng(7)
    A, B = rng.standard_normal((30, 20)), rng.standard_normal((30, 12))
    aim = Aim(target=B)
    late = lm.Problem(lm.data(A), 4, aim=aim, deadline=0.0)
    found = lm.Exact(start="greedy").choose(late, rng)
    assert not found.details["proved"] and found.details["nodes"] == 64
    whole = lm.Exact(start="greedy").choose(lm.Problem(lm.data(A), 4, aim=aim), rng)
    assert whole.details["proved"] and whole.details["nodes"] > 64
