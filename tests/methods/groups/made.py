"""Small problems with groups and costs."""

import numpy as np

N = 9
COSTS = np.array([1.0, 3.0, 0.5, 2.0, 1.5, 2.5, 1.0, 0.8, 2.2])
LABELS = np.array(["a", "b", "a", "c", "d", "c", "e", "d", "f"])


def made(seed, n=N):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((12, 4)) @ rng.standard_normal((4, n)) + 0.4 * rng.standard_normal(
        (12, n)
    )


GROUPS = np.unique(LABELS, return_inverse=True)[1]
