"""Step rules against their formulas, and against those of torch."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from landmarks.methods.relaxation.algorithm_1 import SGD, Adam, Momentum

GRADIENTS = np.random.default_rng(0).standard_normal((20, 2))


def ours(rule, gradients):
    w, state = np.array([1.0, -2.0]), None
    state = rule.start(w)
    for i, gradient in enumerate(gradients):
        change, state = rule.update(gradient, state, i)
        w = w + change
    return w


def theirs(make, gradients):
    torch = pytest.importorskip("torch", reason="the step rules are compared with torch's")
    w = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    optimiser = make(torch.optim, [w])
    for gradient in gradients:
        w.grad = torch.tensor(gradient)
        optimiser.step()
    return w.detach().numpy()


def test_sgd_is_its_formula():
    assert_allclose(ours(SGD(0.1), GRADIENTS), [1.0, -2.0] - 0.1 * GRADIENTS.sum(axis=0))


def test_momentum_is_its_formula():
    """Each gradient counts 1 + 0.9 + 0.9² + … times, as many terms as steps are left."""
    counts = np.cumsum(0.9 ** np.arange(20))[::-1]
    assert_allclose(ours(Momentum(0.1, 0.9), GRADIENTS), [1.0, -2.0] - 0.1 * counts @ GRADIENTS)


def test_adam_is_its_formula():
    """Kingma and Ba (2015), Algorithm 1."""
    w, m, v = np.array([1.0, -2.0]), 0.0, 0.0
    for t, g in enumerate(GRADIENTS, start=1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        w = w - 0.1 * m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    assert_allclose(ours(Adam(0.1), GRADIENTS), w, rtol=1e-10)


@pytest.mark.thorough  # torch.optim takes seconds to import
@pytest.mark.parametrize(
    ("rule", "make"),
    [
        (SGD(0.1), lambda optim, w: optim.SGD(w, lr=0.1)),
        (Momentum(0.1, 0.9), lambda optim, w: optim.SGD(w, lr=0.1, momentum=0.9)),
        (Adam(0.1), lambda optim, w: optim.Adam(w, lr=0.1)),
    ],
    ids=["SGD", "Momentum", "Adam"],
)
def test_step_rules_agree_with_torch(rule, make):
    assert_allclose(ours(rule, GRADIENTS), theirs(make, GRADIENTS), rtol=1e-10)
