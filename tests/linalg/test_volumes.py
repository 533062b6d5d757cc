"""Upper bounds of log determinants: each plane is above every choice, wherever it is taken."""

from itertools import combinations

import numpy as np
import pytest

from landmarks.linalg.volumes import Complemented, Factorised, Linx, lowest

N, K_CHOSEN = 7, 3
RELAXATIONS = {
    "factorised": lambda K, lengths: Factorised(K, K_CHOSEN, lengths),
    "complemented": lambda K, lengths: Complemented(K, K_CHOSEN, lengths),
    "linx": lambda K, lengths: Linx(K, K_CHOSEN, float(np.sum(lengths)) / N),
}


def matrix(kind: str, rng: np.random.Generator) -> np.ndarray:
    X = rng.standard_normal((9, N))
    if kind == "graded":
        X = X * 2.0 ** np.arange(-3, 4)
    if kind == "near":
        X[:, 1] = X[:, 0] + 1e-2 * X[:, 1]
    return X.T @ X


@pytest.mark.parametrize("kind", ["plain", "graded", "near"])
@pytest.mark.parametrize("relaxation", RELAXATIONS)
def test_no_choice_is_above_a_plane_and_its_own_corner_touches_it(relaxation, kind):
    rng = np.random.default_rng(0)
    for _ in range(20):
        K = matrix(kind, rng)
        lengths = rng.standard_normal(N) - np.log(np.diagonal(K)) / 2
        x = rng.dirichlet(np.ones(N)) * K_CHOSEN
        plane = RELAXATIONS[relaxation](K, lengths).plane(np.minimum(x, 1.0))
        for S in map(list, combinations(range(N), K_CHOSEN)):
            volume = np.linalg.slogdet(K[np.ix_(S, S)])[1]
            corner = np.isin(np.arange(N), S) + 0.0
            touching = RELAXATIONS[relaxation](K, lengths).plane(corner)
            assert plane.at(corner) >= volume - 1e-8
            assert touching.at(corner) == pytest.approx(volume, abs=1e-4)


@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_the_lowest_bound_of_matrices_with_eigenvalues_much_alike(spread):
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    K = (Q * np.exp(spread * rng.standard_normal(12))) @ Q.T
    best = max(np.linalg.slogdet(K[np.ix_(S, S)])[1] for S in combinations(range(12), 6))
    assert best - 1e-9 <= lowest(K, 6, rounds=10).bound <= best + 2 * spread + 1e-9


def test_the_quick_bound_is_exact_where_all_but_one_are_chosen():
    rng = np.random.default_rng(2)
    for n in (2, 5, 20):
        X = rng.standard_normal((n + 3, n)) * np.exp(rng.standard_normal(n))
        K = X.T @ X
        rests = [np.delete(np.arange(n), j) for j in range(n)]
        best = max(np.linalg.slogdet(K[np.ix_(S, S)])[1] for S in rests)
        assert best - 1e-9 <= lowest(K, n - 1).bound <= best + 1e-6
