"""The units of a choice: columns or groups of them, their costs, and the limits of a choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem import Problem

ROUNDING = 1e-9  # relative to a sum of costs: a choice that just fits must not be missed


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a problem: its groups, or its columns one by one.

    members : the columns of each unit; together all columns.
    costs : of each unit; ones where the problem has none.
    fixed, allowed : whether each unit must, and whether it may, be chosen.
    most, budget : how many units, and what cost, a choice may have.
    """

    members: tuple[np.ndarray, ...]
    costs: np.ndarray
    fixed: np.ndarray
    allowed: np.ndarray
    most: int
    budget: float

    @classmethod
    def of(cls, problem: Problem) -> Units:
        n = problem.operator.n
        groups = np.arange(n) if problem.groups is None else problem.groups
        order = np.argsort(groups, kind="stable")
        sizes = np.bincount(groups)
        costs = (
            np.ones(len(sizes))
            if problem.costs is None
            else np.bincount(groups, weights=problem.costs)
        )
        fixed = np.zeros(len(sizes), dtype=bool)
        allowed = np.ones(len(sizes), dtype=bool)
        fixed[groups[list(problem.include)]] = True
        allowed[groups[list(problem.exclude)]] = False
        budget = (
            np.inf if problem.budget_cost is None else problem.budget_cost * (1 + 1e-12)
        )  # sums of costs round
        return cls(
            tuple(np.split(order, np.cumsum(sizes)[:-1])),
            costs,
            fixed,
            allowed,
            problem.k or len(sizes),
            budget,
        )

    @property
    def uneven(self) -> bool:
        """Whether one unit can take the place of several."""
        return bool(np.isfinite(self.budget) and np.ptp(self.costs) > 0)

    def columns(self, units: list[int]) -> np.ndarray:
        """The columns of the units, unit by unit."""
        return (
            np.concatenate([self.members[u] for u in units])
            if units
            else np.zeros(0, dtype=np.int64)
        )

    def fitting(self, chosen: list[int]) -> np.ndarray:
        """Whether each unit may be added to the chosen ones."""
        fits = (
            self.allowed
            & (self.costs <= self.budget - float(np.sum(self.costs[chosen])))
            & (len(chosen) < self.most)
        )
        fits[chosen] = False
        return fits


def most_columns(problem: Problem, chosen: int) -> int:
    """The most columns that any allowed choice has, given that one has this many.

    A lower bound for choices of that many columns holds for all choices of groups, and for all that
    can be paid for.
    """
    if problem.groups is None and problem.costs is None:
        return chosen
    most = [len(problem.candidates)]
    if problem.groups is not None and problem.k > 0:
        sizes = np.bincount(problem.groups[problem.free])
        left = problem.k - problem.count(problem.include)
        most.append(len(problem.include) + int(np.sum(np.sort(sizes)[::-1][:left])))
    elif problem.k > 0:
        most.append(problem.k)
    if problem.costs is not None and problem.budget_cost is not None:
        spent = float(np.sum(problem.costs[list(problem.include)]))
        sums = spent + np.cumsum(np.sort(problem.costs[problem.free]))
        affordable = int(np.sum(sums <= problem.budget_cost * (1 + ROUNDING)))
        most.append(len(problem.include) + affordable)
    return max(chosen, min(most))
