"""The paper's data, if LANDMARKS_DATA names their folder: known optima, factors and orders."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning
from paper.data import available, standardised

pytestmark = pytest.mark.thorough

needs = {
    name: pytest.mark.skipif(
        not available(name), reason=f"LANDMARKS_DATA names no folder with {name}.npz"
    )
    for name in ("residential", "arrhythmia", "mnist1k")
}


def points(name, sigma):
    return lm.kernel(standardised(name), lm.rbf(sigma=sigma))


@needs["residential"]
@pytest.mark.parametrize(("k", "factor"), [(3, 1.07139), (4, 1.10231)])
def test_the_optimum_of_residential_is_proved(k, factor):
    best = lm.select(standardised("residential"), k, method="exact")
    assert best.proved and best.factor() == pytest.approx(factor, abs=5e-6)


@needs["residential"]
@pytest.mark.parametrize(("k", "factor"), [(20, 1.623), (40, 2.197), (60, 3.02)])
def test_greedy_reaches_its_known_factor(k, factor):
    assert lm.select(standardised("residential"), k, method="greedy").factor() == pytest.approx(
        factor, abs=5e-3
    )


@needs["residential"]
@pytest.mark.parametrize("k", [5, 20, 40, 60])
def test_auto_is_never_worse_than_greedy_on_columns(k):
    X = standardised("residential")
    assert lm.select(X, k).error() <= lm.select(X, k, method="greedy").error() * (1 + 1e-9)


@needs["residential"]
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_auto_is_never_worse_than_greedy_on_kernels(criterion):
    K = points("residential", 5.0)
    assert lm.select(K, 40, criterion=criterion).error() <= lm.select(
        K, 40, criterion=criterion, method="greedy"
    ).error() * (1 + 1e-9)


@needs["residential"]
def test_the_continuous_method_beats_greedy_and_every_sampling_method_at_half_of_the_columns():
    X = standardised("residential")
    found = lm.select(X, 60, method="continuous")
    assert found.factor() <= 2.65
    for rival in ("greedy", "uniform", "leverage", "kdpp", "rpcholesky"):
        assert found.error() < lm.select(X, 60, method=rival).error()


@needs["residential"]
def test_annealing_beats_greedy_without_a_swap():
    X = standardised("residential")
    for k, factor in ((40, 1.98), (60, 2.32)):
        found = lm.select(X, k, method="annealed")
        assert found.factor() <= factor and found.error() < lm.select(X, k, method="greedy").error()


@needs["arrhythmia"]
def test_a_rank_deficient_matrix_is_filled_up_with_a_warning():
    X = standardised("arrhythmia")
    with pytest.warns(RankWarning, match="numerical rank 258 < k = 260"):
        found = lm.select(X, 260, method="greedy")
    assert found.relative_error() < 1e-12


@needs["mnist1k"]
@pytest.mark.slow
def test_the_continuous_method_on_mnist():
    found = lm.select(standardised("mnist1k"), 300, method="continuous")
    assert found.factor() <= 2.26


@needs["residential"]
@pytest.mark.slow
def test_the_continuous_method_on_the_frobenius_criterion():
    found = lm.select(points("residential", 5.0), 80, method="continuous", criterion="frobenius")
    assert found.factor() <= 1.77 and np.all(np.diff(found.path.active) <= 0)


@needs["arrhythmia"]
@pytest.mark.slow
def test_the_continuous_method_on_arrhythmia():
    assert lm.select(standardised("arrhythmia"), 150, method="continuous").factor() <= 2.36
