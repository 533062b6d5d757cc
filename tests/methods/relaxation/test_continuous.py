"""The continuous method with k given: three strategies give exactly k, on every library."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.methods.relaxation.algorithm_1 import Stop

STRATEGIES = ["bisection", "path"]


@pytest.fixture
def X():
    rng = np.random.default_rng(1)
    return rng.standard_normal((25, 6)) @ rng.standard_normal((6, 18)) + 0.3 * rng.standard_normal(
        (25, 18)
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_beats_random_choices(X, strategy):
    found = lm.select(X, 6, method=lm.Continuous(strategy=strategy))
    random = np.mean([lm.select(X, 6, method="uniform", seed=seed).error() for seed in range(20)])
    assert found.error() < 0.8 * random


@pytest.mark.thorough
def test_exact_and_stochastic_gradients_end_near_each_other(X):
    exact = lm.select(X, 6, method=lm.Continuous(n_probes=None, strategy="path"))
    errors = [
        lm.select(X, 6, method=lm.Continuous(strategy="path"), seed=seed).error()
        for seed in range(20)
    ]
    assert 0.8 < np.median(errors) / exact.error() < 1.2


def test_the_warm_path_serves_many_sizes_in_one_sweep(X):
    sizes = [2, 5, 9]
    found = lm.Continuous().sweep(lm.data(X), sizes, seed=0)
    assert {k: len(indices) for k, indices in found.items()} == {2: 2, 5: 5, 9: 9}


@pytest.mark.parametrize("strategy", [None, *STRATEGIES])
def test_strategies_are_known_by_name(X, strategy):
    assert len(lm.select(X, 5, method=lm.Continuous(strategy=strategy))) == 5


def test_a_polished_choice_is_swapped_down(X):
    plain = lm.select(X, 5, method=lm.Continuous(strategy=STRATEGIES[0]))
    polished = lm.select(X, 5, method=lm.Continuous(strategy=STRATEGIES[0], polish=True))
    swapped = lm.select(X, 5, method=lm.Swap(start=plain.indices))
    assert polished.error() == pytest.approx(swapped.error(), rel=1e-9)
    assert polished.error() <= plain.error()


@pytest.mark.parametrize(("criterion", "powers"), [("trace", 2), ("frobenius", 4)])
def test_absolute_units_are_those_of_the_data_whatever_their_scale(X, criterion, powers):
    found = [
        lm.select(
            np.ldexp(X, power),
            method=lm.Continuous(
                penalty=2.0 ** (1 + powers * power), delta=2.0 ** (2 * power), units="absolute"
            ),
            criterion=criterion,
        )
        for power in (0, 110)
    ]
    assert found[0].exponent == 0 < found[1].exponent
    assert 1 < found[0].k < 18 and found[0].indices.tolist() == found[1].indices.tolist()


def test_what_is_above_the_threshold_is_kept_after_what_must_be_included(X):
    low, high = (
        lm.select(X, method=lm.Continuous(penalty=1.0, threshold=threshold), include=[3])
        for threshold in (0.3, 0.9)
    )
    assert low.k == 16 and low.indices[0] == 3 and high.indices.tolist() == [3]


def test_a_penalty_that_leaves_nothing_raises(X):
    with pytest.raises(
        ValueError,
        match=r"penalty = 1000\.0 leaves no column above threshold = 0\.5 after 1 steps",
    ):
        lm.select(X, method=lm.Continuous(penalty=1000.0, threshold=0.5, stop=Stop(max_steps=1)))


def test_a_penalty_with_k_keeps_the_k_largest_weights(X):
    found = lm.select(
        lm.function(lambda V: X.T @ (X @ V), n=18),
        4,
        method=lm.Continuous(penalty=0.1),
        include=[3],
    )
    weights = found.path.t[-1].copy()
    weights[3] = 2.0
    assert set(found.indices) == set(np.argsort(-weights, kind="stable")[:4])


@pytest.mark.parametrize(("units", "delta"), [("relative", 0.002), ("absolute", 1.0)])
def test_delta_is_in_its_units(X, units, delta):
    problem, mean = lm.Problem(lm.data(np.ldexp(X, 110)), 4), float(np.mean(np.sum(X**2, axis=0)))
    scale = (
        mean * 2.0 ** (220 - problem.operator.exponent)
        if units == "relative"
        else 2.0**-problem.operator.exponent
    )
    for given, expected in ((None, delta), (0.3, 0.3)):
        method = lm.Continuous(units=units, delta=given)
        objective = method._objective(problem, np.random.default_rng(0))
        assert objective.delta == pytest.approx(expected * scale)
        assert method._descent(objective).epsilon == pytest.approx(
            min(0.05, 0.1 * (objective.delta / objective.mean_diagonal) ** 0.5)
        )
    assert lm.Continuous(epsilon=0.01)._descent(objective).epsilon == 0.01


@pytest.mark.parametrize("noise", [None, 0.3])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_finds_independent_columns(X, strategy, noise):
    asked = {"criterion": "logdet", "noise": noise, "scale": False}
    found = lm.select(X, 6, method=lm.Continuous(strategy=strategy), **asked)
    random = [lm.select(X, 6, method="uniform", criterion="logdet", seed=i) for i in range(20)]
    drawn = [s.indices for s in random]
    error = found.objective.error
    assert len(found) == 6
    assert found.error() < np.mean([error(lm.data(X), indices) for indices in drawn]) - 1


def test_the_price_of_a_column_in_nats_sets_k(X):
    """At the corners a column is worth its price where it gains more than λ + log δ nats."""
    asked = {"criterion": "logdet", "noise": 1.0, "scale": False}
    sizes = [
        lm.select(X, method=lm.Continuous(penalty=p, delta=1.0, units="absolute"), **asked).k
        for p in (0.5, 1.5, 3.0)
    ]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]


@pytest.mark.filterwarnings("ignore:.*candidates, fewer than k")
@pytest.mark.parametrize("criterion", ["trace", "logdet"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_there_may_be_more_measurements_than_candidates(X, strategy, criterion):
    """Of a matrix that is known by its products, too."""
    K = X[:, :5].T @ X[:, :5]
    asked = {"criterion": criterion, "noise": 1.0, "repeats": True, "exclude": [4]}
    for given in (lm.psd(K), lm.function(lambda block: K @ block, 5)):
        s = lm.select(given, 7, method=lm.Continuous(strategy=strategy), **asked)
        assert len(s) == 7 and 4 not in s.indices
