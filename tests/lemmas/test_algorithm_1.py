"""Algorithm 1 against the paper's own lines, and on a matrix whose best subset is enumerated."""

from itertools import combinations

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm
from landmarks.linalg.probes import Rademacher
from landmarks.linalg.solvers import Cholesky
from landmarks.methods.relaxation.algorithm_1 import (
    CLIP,
    Steps,
    Stop,
    algorithm_1,
)
from landmarks.methods.trajectory import Recorder

from . import oracle


@pytest.fixture
def X():
    """Three strong columns, at 1, 3 and 6, and six weak mixtures of them with noise."""
    rng = np.random.default_rng(5)
    strong = 3 * rng.standard_normal((30, 3))
    mixtures = strong @ rng.uniform(-0.6, 0.6, (3, 6)) + 0.3 * rng.standard_normal((30, 6))
    return np.hstack([strong, mixtures])[:, [3, 0, 4, 1, 5, 6, 2, 7, 8]]


def best(operator, k, criterion):
    return min(
        combinations(range(operator.n), k), key=lambda S: selection_error(operator, S, criterion)
    )


class Watched:
    """An objective that notes every t it is asked for, in float64 and with its zeros."""

    def __init__(self, objective):
        self.objective, self.problem, self.seen = objective, objective.problem, []

    def __call__(self, columns, t):
        self.seen.append(np.zeros(self.problem.operator.n))
        self.seen[-1][columns] = t
        return self.objective(columns, t)


@pytest.mark.parametrize(("criterion", "penalty"), [("trace", 40.0), ("frobenius", 2000.0)])
def test_algorithm_1_agrees_with_the_paper_iterate_for_iterate(X, criterion, penalty):
    """Against dense NumPy with the literal lemmas: same probes, same step, same t in each step.

    Each step rounds at about 1e-16, and systems of condition below 1e3 make that 1e-13, so 200
    steps stay below 1e-9. No step here is long enough to be clipped, which the paper does not do.
    """
    delta, M, steps, rate, tau, epsilon = 10.0, 5, 200, 0.02, 0.5, 0.01
    rng, K = np.random.default_rng(4), X.T @ X
    probes = [Rademacher(M).draw(9, rng, K) for _ in range(steps)]
    iterates, largest, s = oracle.algorithm_1(
        K, criterion, delta, penalty, probes, rate, tau, epsilon
    )
    method = lm.Continuous(
        penalty=penalty,
        delta=delta,
        units="absolute",
        n_probes=M,
        threshold=tau,
        epsilon=epsilon,
        rate=rate,
        stop=Steps(steps),
        solver=Cholesky(),
    )
    problem = lm.Problem(lm.psd(K), 0, criterion)
    objective = Watched(method._objective(problem, np.random.default_rng(4)))
    found = algorithm_1(objective, penalty, method._descent(objective.objective), tau, Recorder(9))
    assert largest < CLIP
    assert np.array_equal(iterates == 0, np.array(objective.seen) == 0)
    np.testing.assert_allclose(objective.seen, iterates, rtol=1e-9)
    assert np.sum(iterates[-1] == 0) == 6  # so freezing is compared as well
    assert sorted(found) == s.tolist() == [1, 3, 6]
    selection = lm.select(lm.psd(K), method=method, criterion=criterion, seed=4)
    assert selection.indices.tolist() == found.tolist()
    np.testing.assert_allclose(selection.path.t, iterates, rtol=1e-6)  # kept in float32


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("n_probes", [None, 10], ids=["exact gradients", "ten probes"])
def test_algorithm_1_finds_the_best_subset(X, criterion, n_probes):
    method = lm.Continuous(penalty=3.0, delta=0.1, n_probes=n_probes, stop=Stop(max_steps=400))
    found = lm.select(X, method=method, criterion=criterion)
    assert sorted(found.indices) == list(best(lm.data(X), len(found), criterion)) == [1, 3, 6]


def test_algorithm_1_finds_the_pair_that_greedy_misses():
    K = np.linalg.inv(np.array([[4.0, 1, -2], [1, 4, -2], [-2, -2, 5]]))
    found = lm.select(lm.psd(K), method=lm.Continuous(penalty=2.0, delta=0.1, n_probes=None))
    assert sorted(found.indices) == [0, 1] and found.error() == pytest.approx(1 / 5)
    assert lm.select(lm.psd(K), 2, method="greedy").error() == pytest.approx(1 / 4)


def test_algorithm_1_starts_at_one_half_and_moves_to_a_corner(X):
    path = lm.select(X, method=lm.Continuous(penalty=3.0, delta=0.1, n_probes=None)).path
    assert np.all(path.t[0] == np.float32(0.5))
    assert np.all((path.t[-1] < 0.1) | (path.t[-1] > 0.5))


def test_section_3_4_zeros_stay_zero(X):
    path = lm.select(X, method=lm.Continuous(penalty=3.0, delta=0.1)).path
    frozen = path.t == 0
    assert np.all(frozen[1:] | ~frozen[:-1])
    assert np.all(np.diff(path.active) <= 0)


def test_algorithm_1_the_threshold_decides(X):
    loose = lm.select(X, method=lm.Continuous(penalty=1.0, delta=0.1, threshold=0.05))
    strict = lm.select(X, method=lm.Continuous(penalty=1.0, delta=0.1, threshold=0.8))
    assert set(strict.indices) <= set(loose.indices)
    assert np.all(loose.path.t[-1][strict.indices] > 0.7)


def test_section_3_6_a_larger_penalty_keeps_fewer_columns(X):
    sizes = [
        len(lm.select(X, method=lm.Continuous(penalty=penalty, n_probes=None)))
        for penalty in (0.5, 20.0, 200.0)
    ]
    assert sizes[0] > sizes[1] >= sizes[2]


def test_section_3_6_absolute_and_relative_units_agree(X):
    unit = np.mean(np.sum(X**2, axis=0))
    relative = lm.select(X, method=lm.Continuous(penalty=3.0, delta=0.1, n_probes=None))
    scaled = lm.select(10 * X, method=lm.Continuous(penalty=3.0, delta=0.1, n_probes=None))
    absolute = lm.select(
        X, method=lm.Continuous(penalty=3.0, delta=0.1 * unit, n_probes=None, units="absolute")
    )
    assert np.array_equal(relative.indices, scaled.indices)
    np.testing.assert_allclose(scaled.path.t, relative.path.t, rtol=1e-5)
    assert absolute.path.t.shape[1] == 9 and absolute.path.value[0] == pytest.approx(
        relative.path.value[0], rel=1e-9
    )
