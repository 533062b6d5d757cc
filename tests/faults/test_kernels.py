"""Faults 25 to 34: kernels and operators."""

import warnings

import numpy as np
import pytest
import scipy.sparse.linalg
from sklearn.kernel_approximation import Nystroem as TheirNystroem

import landmarks as lm
from landmarks.errors import ConvergenceWarning, NotPSDError

RNG = np.random.default_rng(0)
F = RNG.standard_normal((12, 12))
K = F @ F.T
POINTS = RNG.standard_normal((40, 3))


def test_fault_25_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(
        ValueError, match=r"K must be square, got shape \(3, 4\); for the columns of X use data"
    ):
        lm.psd(np.ones((3, 4)))


def test_fault_25_asymmetry_is_measured_and_named():
    skew = K.copy()
    skew[0, 1] += 0.01 * np.abs(K).max()
    with pytest.raises(
        ValueError, match=r"K must be symmetric, but max\|K − Kᵀ\| is 0.01 of max\|K\|"
    ):
        lm.psd(skew)
    with pytest.warns(UserWarning, match="symmetric"):
        lm.psd(skew, check_symmetric="warn")
    lm.psd(skew, check_symmetric=False)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fault_25_products_are_probed_for_symmetry(dtype):
    skew = (K + 0.01 * np.abs(K) * np.triu(np.ones_like(K))).astype(dtype)
    with pytest.raises(ValueError, match="symmetric"):
        lm.select(lm.function(lambda V: skew @ V, n=12, dtype=dtype), 3, method="nuclear")
    lm.select(lm.function(lambda V: K.astype(dtype) @ V, n=12, dtype=dtype), 3, method="nuclear")


def test_fault_26_an_indefinite_matrix_is_refused_with_its_eigenvalue():
    indefinite = np.diag([1.0, 1.0, 1.0, 0.5])
    indefinite[:3, :3] = [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]
    with pytest.raises(NotPSDError, match="it has the eigenvalue -0.8"):
        lm.psd(indefinite)


def test_fault_26_an_indefinite_product_is_found_during_the_run():
    Q = np.linalg.qr(F)[0]
    indefinite = Q @ np.diag([*np.linspace(1, 2, 11), -1.0]) @ Q.T
    with pytest.raises(NotPSDError, match="has the eigenvalue -"):
        lm.select(lm.function(lambda V: indefinite @ V, n=12), 3, method=lm.Continuous())


def test_fault_26_conjugate_gradients_name_the_curvature_they_met():
    from landmarks.linalg.solvers import BlockCG

    indefinite = np.diag([*np.linspace(1, 2, 11), -1.0])
    with pytest.raises(NotPSDError, match="met a direction of curvature -"):
        lm.select(
            lm.function(lambda V: indefinite @ V, n=12, check_symmetric=False),
            3,
            method=lm.Continuous(solver=BlockCG()),
        )


def test_fault_26_negatives_from_rounding_are_clipped():
    low = F[:, :3] @ F[:, :3].T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = lm.select(lm.psd(low - 1e-14 * np.eye(12) * np.trace(low)), 3)
    assert s.error() >= 0


@pytest.mark.parametrize(
    ("mvm", "error", "message"),
    [
        (lambda V: (K @ V)[:-1], ValueError, "must map a block of shape"),
        (
            lambda V: (K @ V).astype(np.float32),
            TypeError,
            "must keep the dtype float64, got float32",
        ),
        (lambda V: None, TypeError, "got NoneType"),
        (lambda V: V, ValueError, "must return a new array"),
        (lambda V: V[::1], ValueError, "must return a new array"),
    ],
)
def test_fault_27_wrong_products_are_named(mvm, error, message):
    mvm.__name__ = "my_product"
    with pytest.raises(error, match=f"my_product.*{message}"):
        lm.select(lm.function(mvm, n=12), 3)


def test_fault_28_nan_in_a_later_product_is_reported_with_its_place():
    calls = []

    def failing(V):
        calls.append(V.shape[1])
        return K @ V if len(calls) < 6 else np.full_like(V, np.nan)

    with pytest.raises(ValueError, match=r"returned NaN or infinity after \d+ good products"):
        lm.select(lm.function(failing, n=12), 3, method=lm.Continuous(strategy="frank_wolfe"))


def test_fault_29_what_the_product_raises_comes_through():
    class Mine(RuntimeError):
        pass

    def failing(V):
        raise Mine("lost the disk")

    with pytest.raises(Mine, match="lost the disk"):
        lm.select(lm.function(failing, n=12), 3)


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
def test_fault_31_a_kernel_for_single_points_is_refused_with_what_to_do():
    with pytest.raises(ValueError, match="got a scalar; write it for blocks"):
        lm.kernel(POINTS, lambda x, y: float(np.sum(x) * np.sum(y)))


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

    method = lm.Continuous(solver=BlockCG(max_steps=1, tolerance=1e-12), strategy="frank_wolfe")
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


@pytest.mark.parametrize("selection", ["uniform", "auto"])
def test_fault_34_duplicate_points_leave_the_normalisation_finite(selection):
    twice = np.concatenate([POINTS[:4]] * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        features = lm.Nystroem(
            kernel="rbf", n_components=12, selection=selection, random_state=0
        ).fit(twice)
    assert np.isfinite(features.normalization_).all()
    Z = features.transform(twice)
    np.testing.assert_allclose(
        np.diag(Z @ Z.T), 1.0, atol=1e-6
    )  # four distinct points, all of them represented


def test_fault_34_the_cut_off_is_relative():
    features = lm.Nystroem(kernel="linear", n_components=3, random_state=0).fit(POINTS * 1e-8)
    Z = features.transform(POINTS * 1e-8)
    np.testing.assert_allclose(Z @ Z.T, 1e-16 * POINTS @ POINTS.T, atol=1e-16 * 1e-10)


def test_scipy_reports_success_on_an_indefinite_matrix_and_we_do_not():
    indefinite = np.diag([1.0, -1.0])
    assert scipy.sparse.linalg.cg(indefinite, np.array([1.0, 0.5]))[1] == 0
    with pytest.raises(NotPSDError):
        lm.psd(indefinite)
