"""Nuclear scores: exact probes are greedy selection, and few probes come close to it."""

import numpy as np
import pytest
from errors_of import plain, selection_error
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.linalg.probes import Identity
from landmarks.methods.greedy import nuclear
from landmarks.methods.greedy.greedy import ErrorGains, pursue
from landmarks.methods.greedy.nuclear import (
    ProbedGains,
    ProductGains,
    WithDiagonal,
    estimated_diagonal,
)
from landmarks.residual import residual
from landmarks.residual.implicit_panel import ImplicitPanel
from landmarks.residual.residual import Residual
from tests.hadamard import Hadamard

X = np.random.default_rng(0).standard_normal((40, 32))
K = X.T @ X


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(1).standard_normal((300, 3))


def products_only(operator):
    matrix = operator.columns(np.arange(operator.n))
    return lm.function(lambda V: matrix @ V, n=operator.n)


@pytest.mark.parametrize("probes", [Hadamard(), Identity()], ids=repr)
def test_exact_probes_give_the_picks_of_greedy_selection(probes):
    operator, Z = lm.psd(K), probes.draw(32, np.random.default_rng(0), K)
    residual = Residual(plain(operator), 20)
    choice = pursue(lm.Problem(operator, 20), residual, ProbedGains(residual, Z, K @ Z))
    assert choice.indices.tolist() == lm.select(operator, 20, method=lm.Greedy()).indices.tolist()


@pytest.mark.parametrize("make", [lm.psd, lambda K: lm.function(lambda V: K @ V, n=len(K))])
def test_as_many_probes_as_candidates_are_greedy_selection(make):
    assert (
        lm.select(make(K), 20, method=lm.NuclearScores(32)).indices.tolist()
        == lm.select(make(K), 20, method=lm.Greedy()).indices.tolist()
    )


def test_the_block_stays_that_of_the_residual():
    residual, Z = (
        Residual(plain(lm.psd(K)), 5),
        np.random.default_rng(0).choice([-1.0, 1.0], (32, 6)),
    )
    gains, exact = ProbedGains(residual, Z, K @ Z), ErrorGains(residual)
    for j in (3, 30, 7):
        v = residual.pick(j)
        gains.update(v)
        exact.update(v)
    S = [3, 30, 7]
    C = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])
    assert_allclose(gains.CZ, C @ Z, atol=1e-11)
    assert_allclose(exact.powers.diagonals[1], np.diag(C @ C), atol=1e-9)


def test_one_block_of_products_and_one_column_per_pick_are_used(points):
    """A second one where an estimated diagonal does not say that the column is new."""
    operator = lm.psd(lm.rbf(1.0)(points, points))
    known, unknown = (
        lm.select(A, 15, method=lm.NuclearScores(40)).ledger
        for A in (operator, products_only(operator))
    )
    assert (known.products, known.columns) == (40, 15)
    assert unknown.products == 40 + unknown.columns and 15 <= unknown.columns <= 2 * 15


def test_a_hundred_probes_come_close_to_greedy_selection(points):
    operator = lm.kernel(points, lm.rbf(1.0))
    greedy = lm.select(operator, 30, method=lm.Greedy()).error()
    errors = [
        lm.select(operator, 30, method=lm.NuclearScores(), seed=seed).error() for seed in range(5)
    ]
    assert np.mean(errors) < 1.1 * greedy  # measured: a few per cent


def test_products_alone_are_better_than_a_uniform_draw(points):
    operator = lm.kernel(points, lm.rbf(1.0))
    choices = [
        lm.select(products_only(operator), 30, method=lm.NuclearScores(), seed=seed).indices
        for seed in range(5)
    ]
    uniform = [lm.select(operator, 30, method="uniform", seed=seed).error() for seed in range(5)]
    assert np.mean([selection_error(operator, S, "trace") for S in choices]) < 0.9 * np.mean(
        uniform
    )


def test_the_estimated_diagonal_is_exact_for_a_matrix_of_low_rank():
    low = X[:5].T @ X[:5]
    Z = np.random.default_rng(0).choice([-1.0, 1.0], (32, 12))
    assert_allclose(estimated_diagonal(Z, low @ Z), np.diag(low), rtol=1e-9)


@pytest.mark.parametrize("n_probes", [1, 0, 2.5, True])
def test_too_few_probes_are_refused(n_probes):
    with pytest.raises(ValueError, match="n_probes must be a whole number of at least 2"):
        lm.NuclearScores(n_probes)


def test_an_operator_with_a_diagonal_is_the_operator_otherwise():
    operator = lm.function(lambda V: K @ V, n=32)
    known = WithDiagonal(operator, np.arange(32.0))
    V = np.random.default_rng(2).standard_normal((32, 2))
    assert_allclose(known.matmul(V), K @ V)
    assert_allclose(
        known.matmul(V[:3], rows=[4, 9], cols=[1, 2, 0]), K[np.ix_([4, 9], [1, 2, 0])] @ V[:3]
    )
    assert_allclose(known.columns([3]), K[:, [3]])
    assert_allclose(known.restrict([3, 5]).columns([0]), K[[3, 5]][:, [3]])
    assert known.diagonal().tolist() == list(range(32)) and known.n == 32
    assert known.product_error == operator.product_error and known.digits is operator.digits
    assert (
        known.ledger is operator.ledger
        and known.like is operator.like
        and known.exponent == operator.exponent
    )


def test_scores_are_the_estimated_gains():
    residual, Z = (
        Residual(plain(lm.psd(K)), 5),
        np.random.default_rng(0).choice([-1.0, 1.0], (32, 6)),
    )
    squares = np.mean((K @ Z) ** 2, axis=1)
    probed = ProbedGains(residual, Z, K @ Z)
    assert_allclose(probed.squares(), squares)
    assert_allclose(probed.scores(), np.maximum(squares, np.diag(K) ** 2) / np.diag(K))
    products = ProductGains(residual, Z, K @ Z)
    c = np.minimum(np.maximum(np.diag(K), 0.01 * np.mean(np.diag(K))), np.sqrt(squares))
    assert_allclose(products.scores(), squares / c)
    products.update(residual.pick(7))
    assert products.scores()[7] == 0 and not np.any(products.probed.CZ[7])


def test_the_estimated_diagonal_adds_the_mean_of_what_the_second_half_sees():
    Z = np.random.default_rng(0).choice([-1.0, 1.0], (32, 12))
    Y, W = Z[:, :6], Z[:, 6:]
    nystrom = K @ Y @ np.linalg.pinv(Y.T @ K @ Y) @ (K @ Y).T
    left = np.mean(W * ((K - nystrom) @ W))
    assert left > 0
    assert_allclose(estimated_diagonal(Z, K @ Z), np.diag(nystrom) + left, rtol=1e-8)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 3.0])
def test_blocks_that_follow_every_column_make_the_picks_of_one_by_one(points, monkeypatch, sigma):
    operator = lm.kernel(points, lm.rbf(sigma))
    one_by_one = lm.select(operator, 40, method=lm.NuclearScores(20)).indices
    monkeypatch.setattr(nuclear, "LARGE", 0)
    in_blocks = lm.select(operator, 40, method=lm.NuclearScores(20)).indices
    assert in_blocks.tolist() == one_by_one.tolist()


def test_blocks_that_follow_few_columns_choose_as_well(points, monkeypatch):
    def mean_error():
        runs = (lm.select(operator, 40, method=lm.NuclearScores(), seed=seed) for seed in range(5))
        return np.mean([run.error() for run in runs])

    operator = lm.kernel(points, lm.rbf(1.0))
    one_by_one = mean_error()
    monkeypatch.setattr(nuclear, "LARGE", 0)
    monkeypatch.setattr(nuclear, "FOLLOWED", 30)
    # the errors of two seeds differ by 2 % here
    assert mean_error() < 1.01 * one_by_one


def test_a_block_honours_what_is_included_and_excluded(points, monkeypatch):
    monkeypatch.setattr(nuclear, "LARGE", 0)
    K = lm.kernel(points, lm.rbf(1.0))
    first = lm.select(K, 5, method=lm.NuclearScores(20)).indices[:2].tolist()
    s = lm.select(K, 20, method=lm.NuclearScores(20), include=[9, 4], exclude=first)
    assert s.indices[:2].tolist() == [9, 4]
    assert not set(first) & set(s.indices.tolist())


def test_a_factor_that_is_not_kept_is_read_once_for_a_block(points, monkeypatch):
    widths, times = [], ImplicitPanel.times
    monkeypatch.setattr(nuclear, "LARGE", 0)
    monkeypatch.setattr(residual, "free_memory", lambda like, otherwise: 0)
    monkeypatch.setattr(
        ImplicitPanel,
        "times",
        lambda self, block: widths.append(block.shape[1]) or times(self, block),
    )
    K = lm.kernel(points, lm.rbf(0.2))
    in_blocks = lm.select(K, 200, method=lm.NuclearScores(20)).error()
    assert widths == [200 - nuclear.WIDTH]
    monkeypatch.setattr(nuclear, "LARGE", 10**9)
    one_by_one = lm.select(K, 200, method=lm.NuclearScores(20)).error()
    assert in_blocks == pytest.approx(one_by_one, rel=1e-3)  # isolated points are tied


def test_blocks_end_at_the_numerical_rank(monkeypatch):
    monkeypatch.setattr(nuclear, "LARGE", 0)
    K = lm.psd(X[:6].T @ X[:6])
    with pytest.warns(RankWarning, match="numerical rank 6"):
        assert len(set(lm.select(K, 10, method=lm.NuclearScores(12)).indices.tolist())) == 10


@pytest.mark.parametrize(("large", "steps"), [(32, 1), (33, 10)])
def test_picks_are_made_in_blocks_from_a_number_of_columns_on(large, steps, monkeypatch):
    monkeypatch.setattr(nuclear, "LARGE", large)
    reports = []
    method = lm.NuclearScores(12)
    lm.select(lm.psd(np.diag(np.arange(1.0, 33.0))), 10, method=method, callback=reports.append)
    assert len(reports) == steps and reports[-1].done == 10
