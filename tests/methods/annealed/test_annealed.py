"""Leverage mean-field annealing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm
from landmarks.errors import RankWarning

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 6)) @ RNG.standard_normal((6, 24)) + 0.3 * RNG.standard_normal(
    (30, 24)
)
POINTS = RNG.standard_normal((60, 2))
SHORT = lm.Annealed(n_steps=20, damping=0.4)


def problem(A=X, k=5, **settings):
    return lm.Problem(lm.data(A) if isinstance(A, np.ndarray) else A, k, **settings)


def test_small_problems_are_solved_as_enumeration_solves_them():
    operator = lm.data(X[:, :9])
    best = min(selection_error(operator, S, "trace") for S in itertools.combinations(range(9), 3))
    found = lm.select(operator, 3, method=lm.Annealed()).indices
    assert selection_error(operator, found, "trace") == pytest.approx(best, rel=1e-9)


def test_it_finds_the_pair_that_greedy_misses():
    M = np.array([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    s = lm.select(lm.psd(np.linalg.inv(M)), 2, method=lm.Annealed())
    assert sorted(s.indices.tolist()) == [0, 1]
    assert s.error() == pytest.approx(0.2)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_it_is_no_worse_than_greedy_on_correlated_columns(criterion):
    annealed = lm.select(X, 8, method=lm.Annealed(), criterion=criterion)
    greedy = lm.select(X, 8, method="greedy", criterion=criterion)
    assert annealed.error() <= greedy.error() * (1 + 1e-9)


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_every_library_gives_the_same_choice(xp, criterion):
    expected = lm.select(X, 5, method=SHORT, criterion=criterion).indices
    found = lm.select(lm.data(xp.asarray(X)), 5, method=SHORT, criterion=criterion).indices
    assert found.tolist() == expected.tolist()


def test_every_library_gives_the_same_choice_of_candidates(xp):
    method = lm.Annealed(n_steps=20, n_candidates=25, n_rounds=2)
    expected = lm.select(lm.kernel(POINTS, lm.rbf(1.0)), 5, method=method).indices
    found = lm.select(lm.kernel(xp.asarray(POINTS), lm.rbf(1.0)), 5, method=method).indices
    assert found.tolist() == expected.tolist()


def test_one_seed_gives_one_choice():
    runs = [lm.select(X, 5, method=SHORT, seed=3).indices.tolist() for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("k", [1, 2, 7, 23, 24])
@pytest.mark.parametrize("method", [SHORT, lm.Annealed(n_steps=8, n_candidates=10, n_rounds=2)])
def test_there_are_always_exactly_k(k, method):
    assert len(set(lm.select(X, k, method=method).indices.tolist())) == k


@pytest.mark.parametrize("method", [SHORT, lm.Annealed(n_steps=8, n_candidates=10, n_rounds=3)])
def test_included_columns_come_first_and_excluded_ones_never(method):
    s = lm.select(X, 6, method=method, include=[7, 2], exclude=[0, 1, 5])
    assert s.indices[:2].tolist() == [7, 2]
    assert not set(s.indices.tolist()) & {0, 1, 5}


def test_all_places_may_be_taken_by_included_columns():
    assert lm.select(X, 2, method=SHORT, include=[4, 1]).indices.tolist() == [4, 1]


def test_excluded_columns_still_count_in_the_error():
    Y = np.zeros((4, 4))
    Y[0, 0], Y[0, 1:3], Y[1, 3] = (
        1.0,
        5.0,
        2.0,
    )  # column 0 stands for the excluded 1 and 2, which outweigh column 3
    assert lm.select(Y, 1, method=lm.Annealed(), exclude=[1, 2]).indices.tolist() == [0]


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zero_and_duplicate_columns_are_left_while_others_remain(criterion, dtype):
    Y = np.hstack([np.zeros((30, 3)), X[:, :4], X[:, :4], X[:, :4]]).astype(dtype)
    s = lm.select(Y, 4, method=SHORT, criterion=criterion)
    assert sorted((s.indices - 3) % 4) == [0, 1, 2, 3]
    assert min(s.indices) >= 3


def test_beyond_the_rank_it_fills_up_with_a_warning():
    Y = np.hstack([X[:, :3], X[:, :3]])
    with pytest.warns(RankWarning, match="numerical rank 3"):
        assert len(lm.select(Y, 5, method=SHORT)) == 5


def test_a_zero_matrix_does_no_harm():
    with pytest.warns(RankWarning):
        assert len(lm.select(lm.psd(np.zeros((4, 4))), 2, method=SHORT)) == 2


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_the_scale_of_the_data_does_not_matter(scale):
    assert (
        lm.select(scale * X, 5, method=SHORT).indices.tolist()
        == lm.select(X, 5, method=SHORT).indices.tolist()
    )


@pytest.mark.parametrize("n_candidates", [None, 20])
def test_every_operator_works(n_candidates):
    import scipy.sparse

    method = lm.Annealed(n_steps=10, n_candidates=n_candidates, n_rounds=2)
    K = X.T @ X
    operators = [
        lm.psd(K),
        lm.data(X),
        lm.data(scipy.sparse.csr_array(X)),
        lm.kernel(POINTS, lm.rbf(1.0)),
        lm.function(lambda block: K @ block, n=24),
        lm.toeplitz(0.8 ** np.arange(24)),
    ]
    for operator in operators:
        assert len(lm.select(operator, 4, method=method)) == 4


def test_a_wide_matrix_and_its_gram_matrix_give_the_same_choice():
    wide = np.random.default_rng(5).standard_normal((8, 40))
    by_factor = lm.select(wide, 4, method=SHORT).indices
    assert by_factor.tolist() == lm.select(lm.psd(wide.T @ wide), 4, method=SHORT).indices.tolist()


def test_renewed_candidates_improve_on_the_first_draw():
    operator = lm.kernel(POINTS, lm.rbf(0.7))
    errors = [
        lm.select(operator, 6, method=lm.Annealed(n_candidates=12, n_rounds=rounds)).error()
        for rounds in (1, 4)
    ]
    assert errors[1] < errors[0]


def test_time_that_is_up_still_gives_k_columns():
    choice = lm.Annealed().choose(problem(deadline=0.0), np.random.default_rng(0))
    assert len(choice.indices) == 5
    assert choice.path is None  # no step was made


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_steps": 0}, "n_steps and n_rounds must be at least 1"),
        ({"damping": 1.5}, "damping must be above 0 and at most 1"),
        ({"phi1": 0.0}, "phi1 <= phi0"),
        ({"gamma": -1.0}, "gamma must be positive or None"),
    ],
)
def test_impossible_settings_are_reported(settings, message):
    with pytest.raises(ValueError, match=message):
        lm.Annealed(**settings)


def test_on_products_alone_it_takes_four_k_columns_and_the_probes():
    points = np.random.default_rng(0).standard_normal((300, 3))
    K = lm.rbf(sigma=1.0)(points, points)
    operator = lm.function(lambda V: K @ V, n=300, diagonal=np.ones(300))
    found = lm.select(operator, 10, method=lm.Annealed(n_candidates=40))
    assert (
        found.ledger.products <= 100 + 20 + 40 + 10
    )  # probes, columns of the scores, candidates, the final check
    nuclear = lm.select(operator, 10, method="nuclear")
    assert found.error() <= nuclear.error() * 1.02


def test_nothing_left_to_choose_and_nothing_to_represent_do_no_harm():
    assert lm.select(X[:, :3], 3, method=SHORT, include=[0, 1, 2]).k == 3
    with pytest.warns(RankWarning):
        assert lm.select(np.zeros((1, 1)), 1, method=SHORT).error() == 0
    with pytest.warns(RankWarning):
        assert (
            lm.select(
                lm.data(np.float32([[2.0, 1.0], [2.0, 1.0]]), scale=False),
                2,
                method=SHORT,
                criterion="frobenius",
            ).k
            == 2
        )


@pytest.mark.parametrize(("criterion", "gamma"), [("trace", 1.0), ("frobenius", 1.5)])
def test_gamma_is_one_and_half_as_much_again_for_the_frobenius_criterion(criterion, gamma):
    X = np.random.default_rng(0).standard_normal((30, 20))
    found = [
        lm.Annealed(gamma=value)
        .choose(lm.Problem(lm.data(X), 5, criterion), np.random.default_rng(0))
        .path
        for value in (None, gamma, 2.0)
    ]
    np.testing.assert_array_equal(found[0].value, found[1].value)
    assert not np.array_equal(found[0].value, found[2].value)


def test_near_duplicates_are_not_fixed_together():
    """Ten tight clusters of twenty columns, k = 10: one of each, not several of one."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(rng.standard_normal((120, 10)), 20, axis=1)
    noisy = clusters + 0.1 * rng.standard_normal((120, 200))
    chosen = lm.select(noisy, 10, method=lm.Annealed(sweeps=0)).indices
    assert sorted(chosen // 20) == list(range(10))


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_it_is_never_above_greedy_on_smooth_problems(criterion):
    grid = lm.kernel(np.linspace(0, 1, 200)[:, None], lm.matern(nu=1.5, sigma=0.3))
    for k in (5, 20):
        annealed, greedy = (
            lm.select(grid, k, method=method, criterion=criterion).error()
            for method in (lm.Annealed(), "greedy")
        )
        assert annealed <= greedy


@pytest.mark.parametrize("A", [X[:8], X], ids=["by its factor", "stored"])
@pytest.mark.parametrize("n_candidates", [None, 12])
def test_an_included_column_that_another_represents_does_no_harm(A, n_candidates):
    twins = np.column_stack([A, A[:, 3]])
    method = lm.Annealed(n_steps=8, n_candidates=n_candidates, sweeps=0)
    s = lm.select(twins, 5, method=method, include=[3, 24])
    assert {3, 24} <= set(s.indices.tolist()) and len(set(s.indices.tolist())) == 5


@pytest.mark.parametrize(("n", "k", "steps"), [(300, 100, 102), (4000, 20, 104)])
def test_the_steps_are_as_many_as_docs_methods_says(n, k, steps):
    points = np.random.default_rng(0).standard_normal((n, 5))
    kernel = lm.kernel(points, lm.rbf(sigma=1.0))
    assert len(lm.select(kernel, k, method=lm.Annealed(sweeps=0)).path) == steps
