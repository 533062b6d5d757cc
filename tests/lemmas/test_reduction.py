"""Lemma 3.3: columns at zero leave the systems, and what the ledger says of it."""

import numpy as np
import pytest
from errors_of import plain
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.linalg.probes import Identity, Rademacher
from landmarks.linalg.solvers import BlockCG, Cholesky
from landmarks.methods.relaxation.relaxed import Active, frobenius_gradient, trace_gradient

from . import oracle


def test_lemma_3_3_the_restricted_solve_is_the_full_one(K, t, rng):
    t = np.where(np.arange(6) % 2 == 0, 0.0, t)
    r = rng.standard_normal((6, 3))
    full = np.linalg.solve(oracle.system(K, t, 1.0), t[:, None] * r)
    kept = np.flatnonzero(t)
    active = Active(plain(lm.psd(K)), kept)
    part = Cholesky().prepare(active.system(t[kept], 1.0))(t[kept][:, None] * r[kept]).x
    assert np.all(full[t == 0] == 0)
    assert_allclose(part, full[kept], atol=1e-10)


@pytest.mark.parametrize("objective", [trace_gradient, frobenius_gradient])
def test_lemma_3_3_value_and_gradient_of_the_active_columns_are_unchanged(K, t, rng, objective):
    """With t_j → 0 the gradient of the others tends to the restricted one."""
    kept = np.array([1, 2, 4])
    small = np.where(np.isin(np.arange(6), kept), t, 1e-7)
    probes = Identity().draw(6, rng, t)
    full = objective(Active(plain(lm.psd(K))), small, 1.0, probes, Cholesky())
    part = objective(Active(plain(lm.psd(K)), kept), t[kept], 1.0, probes, Cholesky())
    assert_allclose(part.gradient, full.gradient[kept], rtol=1e-6)
    assert_allclose(part.value, full.value, rtol=1e-6)


@pytest.mark.parametrize(
    ("objective", "products"),
    [
        (trace_gradient, lambda M, steps: M * (1 + steps)),
        (frobenius_gradient, lambda M, steps: M * (3 + steps)),
    ],
)
def test_products_per_gradient(objective, products, rng):
    """M(1 + ℓ) for f and M(3 + 2ℓ) for g, with ℓ steps per system; g reports those of both."""
    operator = lm.psd(np.cov(rng.standard_normal((40, 60))))
    before = operator.ledger.products
    probes = Rademacher(5).draw(40, rng, operator.like)
    result = objective(Active(plain(operator)), np.full(40, 0.5), 1.0, probes, BlockCG())
    assert result.solver_steps > 0
    assert operator.ledger.products - before == products(5, result.solver_steps)


@pytest.mark.parametrize("objective", [trace_gradient, frobenius_gradient])
@pytest.mark.parametrize("make", [lambda X: lm.psd(X.T @ X), lm.data], ids=["psd", "data"])
def test_freezing_makes_a_gradient_cheaper(objective, make, rng):
    operator = make(rng.standard_normal((20, 80)))
    probes = Rademacher(5).draw(80, rng, operator.like)
    kept = np.arange(10)

    def entries(active, t):
        before = operator.ledger.entries
        result = objective(active, t, 1.0, probes, BlockCG())
        return (operator.ledger.entries - before) / (1 + result.solver_steps)

    assert entries(Active(plain(operator), kept), np.full(10, 0.5)) < 0.7 * entries(
        Active(plain(operator)), np.full(80, 0.5)
    )
