"""The strategies take the same steps as plain transcriptions with dense formulas."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm

from . import plain

RNG = np.random.default_rng(2)
X = RNG.standard_normal((50, 4)) @ RNG.standard_normal((4, 20)) + 0.5 * RNG.standard_normal(
    (50, 20)
)
K = X.T @ X
STRATEGIES = {"path": plain.warm_path, "frank_wolfe": plain.frank_wolfe}


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_the_steps_are_those_of_a_plain_transcription(name, criterion):
    problem = lm.Problem(lm.psd(K), 5, criterion)
    method = lm.Continuous(strategy=name, n_probes=None)
    found = method.choose(problem, np.random.default_rng(0))
    chosen, t, value = STRATEGIES[name](K, 5, 0.002 * np.mean(np.diag(K)), criterion)
    assert found.indices.tolist() == chosen
    # float32 holds seven digits of the weights; the inverses lose some of the value's sixteen
    np.testing.assert_allclose(found.path.t, t, atol=1e-6)
    scale = 2.0 ** (problem.operator.exponent * (1 if criterion == "trace" else 2))
    np.testing.assert_allclose(found.path.value * scale, value, rtol=1e-7)
    assert np.array_equal(found.path.active, np.count_nonzero(t, axis=1))
