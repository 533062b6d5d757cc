"""The residual in 106 bits and the bound on its rounding, against exact fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import NotPSDError
from landmarks.proof.conditioned import conditioned, indefiniteness

pytestmark = pytest.mark.thorough

RNG = np.random.default_rng(5)
X = np.round(RNG.standard_normal((9, 6)) * 2**10)
K = X.T @ X  # whole numbers, without rounding


def fractions(A: np.ndarray) -> np.ndarray:
    return np.vectorize(Fraction, otypes=[object])(A)


def exact_residual(A: np.ndarray, *picks: int) -> np.ndarray:
    """K − K̂ without any rounding."""
    C = fractions(A)
    for j in picks:
        C = C - np.outer(C[:, j], C[j]) / C[j, j]
    return C


def coefficients(*picks: int) -> np.ndarray:
    S = list(picks)
    return np.linalg.solve(K[np.ix_(S, S)], K[S])


@pytest.mark.parametrize("operator", [lm.data(X, scale=False), lm.psd(K)], ids=["data", "matrix"])
@pytest.mark.parametrize("picks", [(), (2,), (2, 5), (4, 0, 1)])
def test_the_residual_has_a_hundred_bits(operator, picks):
    state, unknown = conditioned(lm.Problem(operator, 3)).pick_all(picks)
    unit = Fraction(2) ** operator.exponent
    C = exact_residual(K, *picks)
    found = (fractions(state.C.high) + fractions(state.C.low)) * unit
    assert unknown == 0 and state.picks == picks
    scale = float(np.max(np.diag(K)))
    assert max(abs(float(x)) for x in (found - C).ravel()) <= 2.0**-95 * scale
    assert state.error(1) * float(unit) == pytest.approx(float(np.trace(C)), rel=1e-14)
    squares = float(np.sum(C * C))
    assert state.error(2) * float(unit) ** 2 == pytest.approx(squares, rel=1e-14)


def test_the_entries_of_a_matrix_are_known_to_their_rounding_and_data_as_they_are():
    stored, exact = (
        conditioned(lm.Problem(lm.psd(K), 3)),
        conditioned(lm.Problem(lm.data(X, scale=False), 3)),
    )
    assert 2.0**-52 <= stored.omega < 2.0**-50
    assert exact.omega < 2.0**-95
    slightly = K.copy()
    slightly[:, 5] = slightly[5] = K[4]
    slightly[4, 5] = slightly[5, 4] = slightly[5, 5] = K[4, 4]
    slightly[5, 5] *= 1 - 1e-10  # a copy that is shorter than itself: an eigenvalue below zero
    doubtful = conditioned(lm.Problem(lm.psd(slightly), 3))
    assert 1e-11 < doubtful.omega < 1e-9


def test_the_spread_is_what_an_error_in_the_entries_grows_to():
    root, d = conditioned(lm.Problem(lm.psd(K), 3)), np.sqrt(np.diag(K))
    np.testing.assert_allclose(root.spread, d * (root.spread[0] / d[0]), rtol=1e-14)
    one = root.pick(2)
    expected = root.spread + root.spread[2] * np.abs(coefficients(2)[0])
    expected[2] = 0.0
    np.testing.assert_allclose(one.spread, expected, rtol=1e-12)
    two = one.pick(4)
    least = root.spread + root.spread[[2, 4]] @ np.abs(coefficients(2, 4))
    others = [0, 1, 3, 5]
    assert np.all(two.spread[others] >= least[others] * (1 - 1e-12))
    assert two.spread[4] == two.spread[2] == 0


@pytest.mark.parametrize("depth", [1, 2])
def test_a_changed_matrix_changes_the_error_by_less_than_the_uncertainty(depth):
    omega, d = 2.0**-30, np.sqrt(np.diag(K))
    state, _ = conditioned(lm.Problem(lm.psd(K), 3)).pick_all((2, 4))
    scale = float(np.trace(K)) / float(np.trace(conditioned(lm.Problem(lm.psd(K), 3)).matrix))
    doubtful = replace(state, omega=omega)
    signs = np.triu(RNG.choice([-1.0, 1.0], K.shape))
    other = K + omega * np.outer(d, d) * (signs + np.triu(signs, 1).T)
    before, after = (exact_residual(A, 2, 4) for A in (K, other))
    moved = np.vectorize(float)(after - before) / scale
    limit = omega * np.outer(state.spread, state.spread)
    # terms of the order ω² come on top
    assert np.all(np.abs(moved) <= limit * (1 + 1e-6) + 1e-300)
    change = float(np.sum(after * after) - np.sum(before * before)) / scale**2
    if depth == 1:
        change = float(np.trace(after) - np.trace(before)) / scale
    assert 0 < abs(change) <= doubtful.uncertainty(depth)


def test_a_copy_of_a_pick_is_in_doubt_and_known_to_be_represented():
    Y = X.copy()
    Y[:, 3] = 2 * Y[:, 1]
    root = conditioned(lm.Problem(lm.data(Y), 3))
    assert not root.doubtful.any()
    state = root.pick(1)
    assert state.doubtful.tolist() == [j == 3 for j in range(6)]
    assert state.represented(3) and not state.represented(0) and not state.exhausted()
    same, unknown = state.pick_all((3, 1, 4))
    assert same.picks == (1, 4) and unknown == 0


def test_a_near_copy_of_a_pick_is_unknown():
    Y = X.copy()
    Y[:, 3] = Y[:, 1]
    G = Y.T @ Y
    G[0, 3] = G[3, 0] = np.nextafter(G[0, 3], np.inf)
    state, unknown = conditioned(lm.Problem(lm.psd(G), 3)).pick_all((1, 3, 4))
    assert state.picks == (1, 4) and unknown == 1


def test_a_basis_of_the_columns_exhausts_them():
    Y = np.round(X[:2] / 64)
    root = conditioned(lm.Problem(lm.data(Y), 2))
    assert not root.pick(0).exhausted()
    assert root.pick(0).pick(1).exhausted()


def test_eigenvalues_fall_and_are_not_negative():
    state = conditioned(lm.Problem(lm.data(X, scale=False), 3)).pick(0)
    values = state.eigenvalues
    assert np.all(np.diff(values) <= 0) and values[-1] >= 0
    np.testing.assert_allclose(np.sum(values), state.trace, rtol=1e-12)


def test_an_indefinite_matrix_is_measured_or_refused():
    unit = np.eye(4) + 1e-3 * np.diag(np.ones(3), 1) + 1e-3 * np.diag(np.ones(3), -1)
    assert indefiniteness(unit, lm.psd(unit)) == 0
    slightly = np.ones((4, 4)) - 1e-9 * (np.ones((4, 4)) - np.eye(4)) * [1, -1, 1, -1]
    slightly = (slightly + slightly.T) / 2
    least = float(np.linalg.eigvalsh(slightly)[0])
    scales = np.array([1.0, 1e3, 1e-3, 7.0])
    found = indefiniteness(slightly * np.outer(scales, scales), lm.psd(unit))
    assert found == pytest.approx(max(0.0, -least), abs=1e-14)
    wrong = np.eye(4)
    wrong[0, 1] = wrong[1, 0] = 1.001
    with pytest.raises(NotPSDError, match="scaled to a unit diagonal, K has the eigenvalue -0.001"):
        indefiniteness(wrong * np.outer(scales, scales), lm.psd(unit))
    single = lm.psd(unit.astype("float32"))
    wrong[0, 1] = wrong[1, 0] = 1.00015  # what float32 may hide
    assert indefiniteness(wrong, single) == pytest.approx(1.5e-4, rel=1e-6)
    with pytest.raises(NotPSDError):
        indefiniteness(wrong, lm.psd(unit))
