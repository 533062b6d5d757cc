"""A choice that satisfies all constraints, found without looking at the error.

Greedy may end where no further place is allowed. Then the last picks are undone and replaced by
places that rule out the fewest others. Small cases are searched completely.
"""

from collections.abc import Sequence

import numpy as np

from .constraint import Constraint

SEARCHED = 20_000  # choices that the complete search examines


def addable(
    constraints: Sequence[Constraint], chosen: np.ndarray, left: int, open_places: np.ndarray
) -> np.ndarray:
    """Whether each open place may be added under all constraints."""
    allowed = open_places.copy()
    for constraint in constraints:
        allowed &= constraint.addable(chosen, left, allowed)
    return allowed


def exchangeable(constraints: Sequence[Constraint], chosen: np.ndarray) -> np.ndarray:
    """Entry (i, j) says whether all constraints allow j in the place of chosen[i]."""
    allowed = constraints[0].exchangeable(chosen)
    for constraint in constraints[1:]:
        allowed = allowed & constraint.exchangeable(chosen)
    return allowed


def packed(
    constraints: Sequence[Constraint],
    picks: Sequence[int],
    fixed: int,
    open_places: np.ndarray,
    k: int,
) -> np.ndarray:
    """k places with as many of the first picks as can be kept; the first `fixed` ones stay."""
    if len(picks) >= k:
        return np.asarray(picks[:k], dtype=np.int64)
    order = np.argsort(sum(c.crowding() for c in constraints), kind="stable")
    kept, longest = len(picks), 0
    while True:
        found = _extended(constraints, list(picks[:kept]), order, open_places, k)
        longest = max(longest, len(found))
        if len(found) == k:
            return np.asarray(found, dtype=np.int64)
        if kept == fixed:
            break
        kept = fixed + (kept - fixed) // 2
    search = _Enumeration(constraints, order, open_places, k)
    if search.run(list(picks[:fixed])):
        return np.asarray(search.found, dtype=np.int64)
    raise ValueError(_nothing(k, longest, search.visits < SEARCHED, constraints))


def _nothing(k: int, longest: int, proved: bool, constraints: Sequence[Constraint]) -> str:
    which = " and ".join(repr(constraint) for constraint in constraints)
    if proved:
        return f"no choice of k = {k} places satisfies {which}; choose fewer or relax them"
    return (
        f"found no choice of k = {k} places that satisfies {which}: at most {longest} could be "
        "placed; choose fewer or relax them"
    )


def _extended(
    constraints: Sequence[Constraint],
    chosen: list[int],
    order: np.ndarray,
    open_places: np.ndarray,
    k: int,
) -> list[int]:
    """The chosen ones and, in this order, every further place that is allowed."""
    while len(chosen) < k:
        left = open_places.copy()
        left[chosen] = False
        allowed = addable(constraints, np.asarray(chosen, dtype=int), k - len(chosen), left)
        ranked = order[allowed[order]]
        if len(ranked) == 0:
            break
        chosen.append(int(ranked[0]))
    return chosen


class _Enumeration:
    """All choices in turn, up to a number of visits."""

    def __init__(
        self,
        constraints: Sequence[Constraint],
        order: np.ndarray,
        open_places: np.ndarray,
        k: int,
    ):
        self.constraints, self.order, self.k = constraints, order, k
        self.open = open_places.copy()
        self.visits = 0
        self.found: list[int] = []

    def run(self, chosen: list[int]) -> bool:
        """Whether the chosen ones can be extended to k."""
        if len(chosen) == self.k:
            self.found = chosen
            return True
        if len(chosen) > 200 or self.visits >= SEARCHED:
            self.visits = SEARCHED
            return False
        self.visits += 1
        left, others = self.k - len(chosen), self.open.copy()
        others[chosen] = False
        allowed = addable(self.constraints, np.asarray(chosen, dtype=int), left, others)
        tried: list[int] = []
        for j in self.order[allowed[self.order]]:
            if np.sum(allowed) - len(tried) < left:
                break
            if self.run([*chosen, int(j)]):
                return True
            tried.append(int(j))
            self.open[j] = False
        self.open[tried] = True
        return False
