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
