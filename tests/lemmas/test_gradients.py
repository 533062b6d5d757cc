"""Lemmas 2.4 and 2.8 against finite differences and autograd; Lemmas 3.1 and 3.2 exactly.

The log determinant, which the paper does not have, likewise.
"""

from itertools import product

import numpy as np
import pytest
from errors_of import plain
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.linalg.probes import Identity, Rademacher
from landmarks.linalg.solvers import Cholesky
from landmarks.methods.relaxation.relaxed import (
    Active,
    frobenius_gradient,
    logdet_gradient,
    trace_gradient,
)
from landmarks.operators.pair import Pair
from tests.hadamard import Hadamard

from . import oracle

DELTA = 1.3
EXACT = [Identity(), Hadamard()]


def evaluate(objective, K, t, probes):
    return objective(Active(plain(lm.psd(K))), t, DELTA, probes, Cholesky())


def exact(objective, K, t, probes, rng):
    return evaluate(objective, K, t, probes.draw(len(t), rng, t))


def central_differences(function, t, h=1e-5):
    steps = h * np.eye(len(t))
    return np.array([(function(t + e) - function(t - e)) / (2 * h) for e in steps])


@pytest.mark.parametrize("probes", EXACT, ids=repr)
def test_lemma_2_4_gradient_of_f(K, t, rng, probes):
    result = exact(trace_gradient, K, t, probes, rng)
    scale = np.max(np.abs(result.gradient))
    assert_allclose(result.gradient, oracle.gradient_f(K, t, DELTA), atol=1e-9 * scale)
    assert_allclose(
        result.gradient, central_differences(lambda u: oracle.f(K, u, DELTA), t), atol=1e-6 * scale
    )
    assert_allclose(result.value, oracle.f(K, t, DELTA), rtol=1e-10)


@pytest.mark.parametrize("probes", EXACT, ids=repr)
def test_lemma_2_8_gradient_of_g(K, t, rng, probes):
    result = exact(frobenius_gradient, K, t, probes, rng)
    scale = np.max(np.abs(result.gradient))
    assert_allclose(result.gradient, oracle.gradient_g(K, t, DELTA), atol=1e-9 * scale)
    assert_allclose(
        result.gradient, central_differences(lambda u: oracle.g(K, u, DELTA), t), atol=1e-6 * scale
    )
    assert_allclose(result.value, oracle.g(K, t, DELTA), rtol=1e-9)


def autograd(value, K, t):
    torch = pytest.importorskip("torch", reason="autograd of the dense formula needs torch")
    K, t = torch.tensor(K), torch.tensor(t, requires_grad=True)
    L = t[:, None] * (K - DELTA * torch.eye(len(t), dtype=K.dtype)) * t + DELTA * torch.eye(
        len(t), dtype=K.dtype
    )
    value(K, (K * t) @ torch.linalg.solve(L, (K * t).T)).backward()
    return t.grad.numpy()


def test_lemma_2_4_agrees_with_autograd(K, t, rng):
    gradient = exact(trace_gradient, K, t, Identity(), rng).gradient
    assert_allclose(
        gradient,
        autograd(lambda K, Kt: -Kt.trace(), K, t),
        rtol=1e-6,
        atol=1e-9 * np.max(np.abs(gradient)),
    )


def test_lemma_2_8_agrees_with_autograd(K, t, rng):
    gradient = exact(frobenius_gradient, K, t, Identity(), rng).gradient
    assert_allclose(
        gradient,
        autograd(lambda K, Kt: ((K - Kt) ** 2).sum(), K, t),
        rtol=1e-6,
        atol=1e-9 * np.max(np.abs(gradient)),
    )


SIGNS = np.array(list(product([-1.0, 1.0], repeat=6)))


def test_lemma_3_1_phi_is_unbiased_over_all_sign_vectors(K, t):
    literal = 2 * np.mean([oracle.phi(K, t, DELTA, z) for z in SIGNS], axis=0)
    ours = evaluate(trace_gradient, K, t, SIGNS.T).gradient
    expected = oracle.gradient_f(K, t, DELTA)
    assert_allclose(literal, expected, atol=1e-10 * np.max(np.abs(expected)))
    assert_allclose(ours, expected, atol=1e-10 * np.max(np.abs(expected)))


def test_lemma_3_2_psi_is_unbiased_over_all_sign_vectors(K, t):
    literal = 2 * np.mean([oracle.psi(K, t, DELTA, z) for z in SIGNS], axis=0)
    ours = evaluate(frobenius_gradient, K, t, SIGNS.T).gradient
    expected = oracle.gradient_g(K, t, DELTA)
    assert_allclose(literal, expected, atol=1e-9 * np.max(np.abs(expected)))
    assert_allclose(ours, expected, atol=1e-9 * np.max(np.abs(expected)))


def test_lemma_3_1_the_cheap_form_equals_phi_for_every_probe(K, t, rng):
    z = Rademacher(1).draw(6, rng, t)
    literal = 2 * oracle.phi(K, t, DELTA, z[:, 0])
    assert_allclose(
        evaluate(trace_gradient, K, t, z).gradient, literal, atol=1e-9 * np.max(np.abs(literal))
    )


def test_lemma_3_2_the_cheap_form_equals_psi_for_every_probe(K, t, rng):
    z = Rademacher(1).draw(6, rng, t)
    literal = 2 * oracle.psi(K, t, DELTA, z[:, 0])
    assert_allclose(
        evaluate(frobenius_gradient, K, t, z).gradient, literal, atol=1e-9 * np.max(np.abs(literal))
    )


def test_the_gradient_of_f_is_never_positive(K, t, rng):
    assert np.all(evaluate(trace_gradient, K, t, Rademacher(3).draw(6, rng, t)).gradient <= 0)


def test_scaling_K_and_delta_together_scales_f_alone(K, t, rng):
    probes = Rademacher(3).draw(6, rng, t)
    one = trace_gradient(Active(plain(lm.psd(K))), t, DELTA, probes, Cholesky())
    four = trace_gradient(Active(plain(lm.psd(4 * K))), t, 4 * DELTA, probes, Cholesky())
    assert_allclose(four.gradient, 4 * one.gradient, rtol=1e-12)


def test_the_trace_is_convex_in_the_weights_d_of_bayesian_design(K, rng):
    def trace_error(d):
        t = np.sqrt(DELTA * d / (1 + DELTA * d))
        return np.trace(K) + oracle.f(K, t, DELTA)

    for _ in range(20):
        u, v = rng.uniform(0.1, 3, 6), rng.uniform(0.1, 3, 6)
        assert trace_error((u + v) / 2) <= (trace_error(u) + trace_error(v)) / 2 + 1e-9


def log_det(K, t, delta, noise):
    """log det L_t with L_t = T(K + N)T + δ(I − T²), and its gradient by autograd."""
    torch = pytest.importorskip("torch", reason="autograd of the dense formula needs torch")
    t = torch.tensor(t, requires_grad=True)
    L = t[:, None] * torch.tensor(K + np.diag(noise)) * t + torch.diag(delta * (1 - t * t))
    value = torch.logdet(L)
    value.backward()
    return float(value.detach()), t.grad.numpy()


@pytest.mark.parametrize("probes", EXACT, ids=repr)
@pytest.mark.parametrize("delta", [0.01, DELTA])
def test_fault_40_the_log_determinant_agrees_with_autograd(K, t, rng, probes, delta):
    for noise in (np.zeros(len(t)), rng.uniform(0.1, 1.0, len(t))):
        active = Active(Pair(lm.psd(K), len(t), noise=noise))
        found = logdet_gradient(active, t, delta, probes.draw(len(t), rng, t), Cholesky())
        value, gradient = log_det(K, t, delta, noise)
        assert_allclose(found.value, -value, rtol=1e-9)
        assert_allclose(found.gradient, -gradient, atol=1e-9 * np.max(np.abs(gradient)))


def test_the_log_determinant_rises_in_every_weight_below_the_spectrum_and_falls_above_it(K, t):
    values = np.linalg.eigvalsh(K + np.eye(len(t)))
    active = Active(Pair(lm.psd(K), len(t), noise=np.ones(len(t))))
    probes = np.sqrt(len(t)) * np.eye(len(t))
    for delta, sign in ((0.9 * values[0], -1), (1.1 * values[-1], 1)):
        found = logdet_gradient(active, t, delta, probes, Cholesky())
        assert np.all(sign * found.gradient > 0)
