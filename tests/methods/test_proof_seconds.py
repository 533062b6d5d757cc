"""The estimate of what a proof takes: near what it takes, over many problems."""

import time
import warnings

import numpy as np

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.methods.costs import proof_seconds


def problems():
    rng = np.random.default_rng(0)
    for n, k in [(12, 5), (15, 6), (20, 4), (20, 6), (30, 4), (40, 3), (60, 3), (120, 2)]:
        yield lm.data(rng.standard_normal((2 * n, n))), k
        yield lm.kernel(rng.standard_normal((n, 3)), lm.rbf(sigma=1.0)), k
        yield lm.data(rng.standard_normal((n, n)) * np.geomspace(1, 1e-3, n)[:, None]), k


def test_the_estimate_is_near_the_time_that_a_proof_takes():
    """The median ratio lies within a factor of four: other machines differ by two."""
    ratios = []
    for operator, k in problems():
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            assert lm.select(operator, k, method="exact").proved
        took = time.process_time() - begun
        ratios.append(took / proof_seconds(lm.Problem(operator, k)))
    assert 1 / 4 < np.median(ratios) < 4 and np.max(ratios[1:]) < 20
