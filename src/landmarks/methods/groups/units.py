"""The units of a choice: columns or groups of them, their costs, and the limits of a choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...allowed import Allowed
from ...problem import Problem


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a problem: its groups, or its columns one by one.

    members : the columns of each unit; together all columns.
    costs : of each unit; ones where the problem has none.
    fixed : whether each unit must be chosen.
    """

    allowed: Allowed
    members: tuple[np.ndarray, ...]
    costs: np.ndarray
    fixed: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> Units:
        allowed = problem.allowed
        fixed = np.zeros(len(allowed.members), dtype=bool)
        fixed[list(allowed.fixed)] = True
        costs = allowed.costs if not allowed.sized else np.ones(len(fixed))
        return cls(allowed, allowed.members, costs, fixed)

    @property
    def uneven(self) -> bool:
        """Whether one unit can take the place of several."""
        return self.allowed.uneven

    def columns(self, units: list[int]) -> np.ndarray:
        """The columns of the units, unit by unit."""
        return self.allowed.columns(units)

    def fitting(self, chosen: list[int]) -> np.ndarray:
        """Whether each unit may be added to the chosen ones."""
        return self.allowed.addable(chosen)
