"""Nuclear scores: exact probes are greedy selection, and few probes come close to it."""

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm
from landmarks.methods.greedy import nuclear

X = np.random.default_rng(0).standard_normal((40, 32))
K = X.T @ X


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(1).standard_normal((300, 3))


def products_only(operator):
    matrix = operator.columns(np.arange(operator.n))
    return lm.function(lambda V: matrix @ V, n=operator.n)


@pytest.mark.parametrize("make", [lm.psd, lambda K: lm.function(lambda V: K @ V, n=len(K))])
def test_as_many_probes_as_candidates_are_greedy_selection(make):
    assert (
        lm.select(make(K), 20, method=lm.NuclearScores(32)).indices.tolist()
        == lm.select(make(K), 20, method=lm.Greedy()).indices.tolist()
    )


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
