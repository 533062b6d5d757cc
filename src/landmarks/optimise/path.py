"""The record of a descent: where t was, what the objective was, how many columns were left, what the solver took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Path:
    """One row per recorded step of a relaxation, all on the host.

    t : the weights, steps × n; value : the estimate of the objective without its penalty;
    active : the columns not yet frozen at zero; steps : the iterations of the solver.
    """

    t: np.ndarray
    value: np.ndarray
    active: np.ndarray
    steps: np.ndarray

    def __len__(self) -> int:
        return len(self.t)

    def plot(self, ax: Any = None, *, at_most: int = 300, seed: int = 0) -> Any:
        """Draw the trajectories of t, the finally largest in blue (Figure 1)."""
        from ..plots.path import plot_path

        return plot_path(self, ax=ax, at_most=at_most, seed=seed)
