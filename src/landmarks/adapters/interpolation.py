"""As many places as modes: every independent choice rebuilds the modes, and noise decides.

With V the modes by places and S the chosen ones, W = V_S⁻¹ V rebuilds all places from those of S,
and independent noise of variance one at the sensors becomes a noise of total variance ‖W‖²_F.
Exchanging member i for place j gives W − (W_:j − e_i) W_i:/W_ij, so all exchanges are judged at
once, and the best is made until none helps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..placement.constraint import Constraint
from ..placement.packing import exchangeable

LIMIT = 50  # exchanges per place
GAIN = 1e-6  # of the noise that an exchange must remove


def least_noise(
    V: np.ndarray,
    chosen: np.ndarray,
    *,
    locked: Sequence[int] = (),
    excluded: Sequence[int] = (),
    constraints: Sequence[Constraint] = (),
) -> np.ndarray:
    """Exchange chosen places, independent and one per mode, until the noise is least."""
    chosen = chosen.copy()
    for _ in range(LIMIT * len(chosen)):
        W = np.linalg.solve(V[:, chosen], V)
        noise = after_exchanges(W)
        noise[np.isin(chosen, locked)] = np.inf
        noise[:, chosen] = np.inf
        noise[:, list(excluded)] = np.inf
        if constraints:
            noise[~exchangeable(constraints, chosen)] = np.inf
        place, j = np.unravel_index(np.argmin(noise), noise.shape)
        if not noise[place, j] < (1 - GAIN) * np.sum(W * W):
            break
        chosen[place] = j
    return chosen


def after_exchanges(W: np.ndarray) -> np.ndarray:
    """‖W‖²_F after exchanging member i for place j, for all i and j; infinite where W_ij is 0."""
    G = W @ W.T
    own = np.diag(G)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.sum(W * W, axis=0) - 2 * W + 1
        change = (length * own / W - 2 * (G @ W - own)) / W
    return np.trace(G) + np.where(np.isfinite(change), change, np.inf)
