"""How many columns a choice may have: groups and costs allow choices of different sizes."""

from __future__ import annotations

import numpy as np

from ..problem import Problem

ROUNDING = 1e-9  # of a sum of costs: a choice that just fits must not be missed


def most_columns(problem: Problem, chosen: int) -> int:
    """The most columns that any allowed choice has, when one has so many.

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
