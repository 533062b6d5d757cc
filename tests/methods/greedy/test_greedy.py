"""Greedy selection against the best single step by brute force."""

import numpy as np
import pytest
from errors_of import selection_error
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import RankWarning, UnsupportedError

X = np.random.default_rng(0).standard_normal((12, 15)) @ np.diag(np.linspace(0.5, 3, 15))
K = X.T @ X
GAINS = ("trace", "frobenius")


def error(S, gain):
    C = K - K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)]) @ K[S]
    return np.trace(C) if gain == "trace" else np.sum(C**2)


def brute_force(k, gain):
    S = []
    for _ in range(k):
        S.append(min((j for j in range(15) if j not in S), key=lambda j: error([*S, j], gain)))
    return S


@pytest.mark.parametrize("gain", GAINS)
def test_every_pick_is_the_best_single_step(gain):
    assert lm.select(lm.psd(K), 9, method=lm.Greedy(gain=gain)).indices.tolist() == brute_force(
        9, gain
    )


def test_the_criterion_does_not_change_the_gain():
    A = lm.psd(K)
    assert (
        lm.select(A, 6, method=lm.Greedy(), criterion="frobenius").indices.tolist()
        == lm.select(A, 6, method=lm.Greedy()).indices.tolist()
    )


@pytest.mark.parametrize(("gain", "products"), [("trace", 6), ("frobenius", 15 + 12)])
def test_the_cost_is_one_column_and_one_or_two_products_per_pick(gain, products):
    ledger = lm.select(lm.psd(K), 6, method=lm.Greedy(gain=gain)).ledger
    assert (ledger.products, ledger.columns) == (products, 15 + 6)


def test_the_known_example_is_solved_as_greedy_does():
    M = np.array([[4.0, 1, -2], [1, 4, -2], [-2, -2, 5]])
    selection = lm.select(lm.psd(np.linalg.inv(M)), 2, method=lm.Greedy())
    assert_allclose(selection.error(), 1 / 4)


@pytest.mark.parametrize("gain", GAINS)
def test_the_rank_is_reached_before_anything_is_filled_up(gain):
    with pytest.warns(RankWarning, match="numerical rank 12 < k = 15"):
        indices = lm.select(X, 15, method=lm.Greedy(gain=gain)).indices
    assert np.linalg.matrix_rank(X[:, indices[:12]]) == 12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("sigma", "k"), [(2.0, 30), (2.0, 50), (3.0, 30)])
def test_rounding_is_not_taken_for_a_gain(dtype, sigma, k):
    """A smooth kernel, where most columns are soon nearly represented, against pivoted QR."""
    points = np.random.default_rng(1).standard_normal((400, 2))
    exact = lm.kernel(points, lm.rbf(sigma=sigma))
    chosen = {
        m: lm.select(lm.kernel(points.astype(dtype), lm.rbf(sigma=sigma)), k, method=m).indices
        for m in ("greedy", "pivoted_qr")
    }
    greedy, largest = (selection_error(exact, indices, "trace") for indices in chosen.values())
    assert greedy < 2 * largest  # rounding chose columns that left 4 to 150 times as much


@pytest.mark.parametrize("method", [lm.Greedy(gain="trace"), lm.Swap(criterion="trace")])
def test_a_search_for_a_criterion_with_other_noise_is_refused(method):
    with pytest.raises(UnsupportedError, match="='trace' weighs columns or noise in another way"):
        lm.select(lm.psd(K), 3, criterion="logdet", noise=2.0, method=method)


def test_the_gain_of_a_log_determinant_is_its_own_unless_another_is_named():
    named = lm.select(lm.psd(K), 5, criterion="logdet", method=lm.Greedy(gain="trace"))
    assert named.indices.tolist() == brute_force(5, "trace")
    own = lm.select(lm.psd(K), 5, criterion="logdet", method="greedy")
    longest = lm.select(lm.psd(K), 5, method="pivoted_qr")
    assert own.indices.tolist() == longest.indices.tolist() != named.indices.tolist()
