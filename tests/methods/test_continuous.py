"""The continuous method with k given: three strategies, exactly k, on every operator and library."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import ConvergenceWarning
from landmarks.methods.bisection import Bisection
from landmarks.methods.frank_wolfe import FrankWolfe
from landmarks.methods.warm_path import WarmPath
from landmarks.solvers import BlockCG

STRATEGIES = [Bisection(n_steps=40, bracket_steps=20, bisections=3), WarmPath(growth=1.05), FrankWolfe(n_steps=20)]


@pytest.fixture
def X():
    rng = np.random.default_rng(1)
    return rng.standard_normal((25, 6)) @ rng.standard_normal((6, 18)) + 0.3 * rng.standard_normal((25, 18))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("k", [1, 5, 17, 18])
def test_every_strategy_returns_exactly_k(X, strategy, criterion, k):
    found = lm.select(X, k, method=lm.Continuous(strategy=strategy), criterion=criterion)
    assert len(found) == k and found.path is not None


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_every_strategy_beats_random_choices(X, strategy):
    found = lm.select(X, 6, method=lm.Continuous(strategy=strategy))
    random = np.mean([lm.select(X, 6, method="uniform", seed=seed).error() for seed in range(20)])
    assert found.error() < 0.8 * random


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_one_seed_gives_one_selection_on_every_library(X, strategy, xp):
    here = lm.select(X, 6, method=lm.Continuous(strategy=strategy), seed=3)
    there = lm.select(xp.asarray(X), 6, method=lm.Continuous(strategy=strategy), seed=3)
    assert np.array_equal(here.indices, there.indices)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_include_and_exclude_are_honoured(X, strategy):
    found = lm.select(X, 6, method=lm.Continuous(strategy=strategy), include=[2, 9], exclude=[0, 1, 3])
    assert {2, 9} <= set(found.indices) and not {0, 1, 3} & set(found.indices)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_duplicates_and_zero_columns_do_no_harm(X, strategy):
    X = np.hstack([X, X[:, :4], np.zeros((25, 2))])
    found = lm.select(X, 6, method=lm.Continuous(strategy=strategy))
    assert len(found) == 6 and np.isfinite(found.error())


def test_products_alone_suffice(X):
    K = X.T @ X
    found = lm.select(lm.function(lambda V: K @ V, n=18), 6, method=lm.Continuous(strategy="frank_wolfe", solver=BlockCG()))
    assert found.ledger.columns == 0 and len(found) == 6


def test_exact_and_stochastic_gradients_end_near_each_other(X):
    exact = lm.select(X, 6, method=lm.Continuous(n_probes=None, strategy="path"))
    errors = [lm.select(X, 6, method=lm.Continuous(strategy="path"), seed=seed).error() for seed in range(20)]
    assert 0.8 < np.median(errors) / exact.error() < 1.2


def test_the_warm_path_serves_many_sizes_in_one_sweep(X):
    sizes = [2, 5, 9]
    found = lm.Continuous().sweep(lm.data(X), sizes, seed=0)
    assert {k: len(indices) for k, indices in found.items()} == {2: 2, 5: 5, 9: 9}


def test_a_solver_that_stops_early_warns_once(X):
    method = lm.Continuous(strategy="frank_wolfe", solver=BlockCG(tolerance=1e-12, max_steps=1))
    with pytest.warns(ConvergenceWarning, match="stopped at its limit in") as caught:
        lm.select(X, 6, method=method)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": -1.0}, "penalty must be positive"),
        ({"delta": 0.0}, "delta must be positive"),
        ({"n_probes": 0}, "n_probes must be a positive integer"),
        ({"threshold": 1.5}, "threshold must be from 0 up to 1"),
        ({"strategy": "magic"}, "strategy must be one of"),
        ({"units": "metric"}, "units must be one of"),
    ],
)
def test_wrong_settings_are_told(settings, message):
    with pytest.raises(ValueError, match=message):
        lm.Continuous(**settings)


@pytest.mark.parametrize("strategy", [None, "bisection", "path", "frank_wolfe"])
def test_strategies_are_known_by_name(X, strategy):
    assert len(lm.select(X, 5, method=lm.Continuous(strategy=strategy))) == 5


def test_strategies_take_settings_as_objects(X):
    for strategy in (Bisection(bisections=2), WarmPath(growth=1.1), FrankWolfe(n_steps=10)):
        assert len(lm.select(X, 5, method=lm.Continuous(strategy=strategy))) == 5


def test_weights_that_begin_below_the_smallest_one_do_no_harm(X):
    assert len(lm.select(X, 5, method=lm.Continuous(strategy=FrankWolfe(smallest=0.5)))) == 5


def test_the_gradients_are_counted(X):
    choice = lm.Continuous(strategy=FrankWolfe(n_steps=20)).choose(lm.Problem(lm.data(X), 6), np.random.default_rng(0))
    assert choice.details["gradients"] >= 20
