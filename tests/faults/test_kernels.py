"""Faults 25 to 34: kernels and operators."""

import warnings

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem as TheirNystroem

import landmarks as lm
from landmarks.errors import ConvergenceWarning, NotPSDError

RNG = np.random.default_rng(0)
F = RNG.standard_normal((12, 12))
K = F @ F.T
POINTS = RNG.standard_normal((40, 3))


def test_fault_26_an_indefinite_product_is_found_during_the_run():
    Q = np.linalg.qr(F)[0]
    indefinite = Q @ np.diag([*np.linspace(1, 2, 11), -1.0]) @ Q.T
    with pytest.raises(NotPSDError, match="has the eigenvalue -"):
        lm.select(lm.function(lambda V: indefinite @ V, n=12), 3, method=lm.Continuous())


def test_fault_26_negatives_from_rounding_are_clipped():
    low = F[:, :3] @ F[:, :3].T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = lm.select(lm.psd(low - 1e-14 * np.eye(12) * np.trace(low)), 3)
    assert s.error() >= 0


def test_fault_30_a_product_that_is_not_deterministic_is_reported():
    noise = np.random.default_rng(1)

    def restless(V):
        E = noise.standard_normal(K.shape)
        return (K + 0.05 * (E + E.T)) @ V

    with pytest.warns(
        UserWarning,
        match="the product is not deterministic: two products with one vector differ by",
    ):
        s = lm.select(lm.function(restless, n=12), 3, method="nuclear")
    assert len(set(s.indices.tolist())) == 3


@pytest.mark.thorough
def test_fault_31_a_diagonal_other_than_one_is_read_as_it_is():
    dot = lm.kernel(POINTS, lambda x, y: x @ y.T)
    np.testing.assert_allclose(dot.diagonal(), np.sum(POINTS**2, axis=1), rtol=1e-14)
    np.testing.assert_array_equal(
        lm.select(dot, 2).indices, lm.select(lm.data(POINTS.T), 2).indices
    )


@pytest.mark.thorough
def test_fault_31_points_of_zero_diagonal_are_never_landmarks():
    points = POINTS.copy()
    points[[0, 7]] = 0.0
    assert not {0, 7} & set(lm.select(lm.kernel(points, lm.linear()), 3).indices.tolist())


def test_fault_32_a_solver_at_its_limit_warns_once_and_counts():
    from landmarks.linalg.solvers import BlockCG

    method = lm.Continuous(solver=BlockCG(max_steps=1, tolerance=1e-12), strategy="path")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        s = lm.select(lm.kernel(POINTS, lm.rbf(sigma=1.0)), 4, method=method)
    messages = [str(w.message) for w in caught if w.category is ConvergenceWarning]
    assert len(messages) == 1
    assert "gradients; raise its max_steps" in messages[0]
    assert max(s.path.steps) == 1


def test_fault_33_parameters_and_data_are_unchanged_after_fit():
    X, params = POINTS.copy(), {"gamma": 0.3}
    features = lm.Nystroem(
        kernel="rbf", gamma=0.3, kernel_params=None, n_components=5, random_state=0
    )
    before = features.get_params()
    features.fit(X)
    assert features.get_params() == before
    lm.Nystroem(
        kernel=lambda x, y, gamma: float(np.exp(-gamma * np.sum((x - y) ** 2))),
        kernel_params=params,
        n_components=5,
    ).fit(X)
    assert params == {"gamma": 0.3}
    np.testing.assert_array_equal(X, POINTS)


def test_fault_33_gamma_with_a_callable_is_refused_as_in_scikit_learn():
    def kernel(x, y):
        return float(x @ y)

    with pytest.raises(ValueError) as theirs:
        TheirNystroem(kernel=kernel, gamma=0.1, n_components=5).fit(POINTS)
    with pytest.raises(ValueError) as ours:
        lm.Nystroem(kernel=kernel, gamma=0.1, n_components=5).fit(POINTS)
    assert str(ours.value) == str(theirs.value)
