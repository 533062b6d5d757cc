"""The record of a relaxation: the weights, the objective, the active columns, the solver's steps.

A `Trajectory` is what users see as `selection.path`; a `Recorder` collects it during the run.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._array import Array, host
from .._shown import Shown, Table
from ..runs.state import State


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Shown):
    """One row per recorded step of a relaxation, all on the host.

    t : the weights before the step, steps × n; value : f or g at these weights without λΣt, an
    estimate unless n_probes=None;
    active : the columns not yet frozen at zero; steps : the iterations of the solver.
    """

    t: np.ndarray
    value: np.ndarray
    active: np.ndarray
    steps: np.ndarray

    def __len__(self) -> int:
        return len(self.t)

    def plot(self, ax: Any = None, *, at_most: int = 300, seed: int = 0) -> Any:
        """Plot the trajectories of t, with those that end largest in blue (Figure 1)."""
        from ..plots.curves import plot_path

        return plot_path(self, ax, at_most, seed)

    @property
    def table(self) -> Table:
        """Up to 20 of the steps: the value, the active columns and the steps of the solver."""
        places = np.unique(np.linspace(0, len(self) - 1, min(20, len(self))).round().astype(int))
        columns = {"value": self.value, "active": self.active, "solver steps": self.steps}
        listed = {name: np.asarray(column)[places].tolist() for name, column in columns.items()}
        return Table({"step": places.tolist()} | listed)

    @property
    def sentence(self) -> str:
        """The number of steps and of columns."""
        left = int(self.active[-1]) if len(self) else 0
        return f"{len(self)} steps of a relaxation of {self.t.shape[1]} columns, {left} at the end"


@dataclass
class Recorder(State):
    """Collects a trajectory; above `limit` numbers it drops every other row and records less."""

    n: int
    limit: int = 4_000_000
    rows: list[tuple[np.ndarray, float, int, int]] = field(default_factory=list)
    seen: int = 0
    stride: int = 1

    def add(self, t: Array, indices: np.ndarray, value: float, steps: int) -> None:
        """Record a step, given by the weights of the active columns."""
        if self.seen % self.stride == 0:
            weights = np.zeros(self.n, dtype=np.float32)
            weights[indices] = host(t)
            self.rows.append((weights, value, len(indices), steps))
        self.seen += 1
        if len(self.rows) * self.n > self.limit and len(self.rows) > 64:
            self.rows = self.rows[::2]
            self.stride *= 2

    def trajectory(self) -> Trajectory:
        """What was recorded."""
        t, value, active, steps = zip(*self.rows, strict=True)
        return Trajectory(np.stack(t), np.array(value), np.array(active), np.array(steps))
