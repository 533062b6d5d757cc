"""Which choices may be made: include, exclude, groups, costs, places and repeats, as one object.

A choice is made of units: groups of columns, or single columns. A search asks three questions:
which units may be added to a choice, which may take the place of another, and what must stay. How
many there may be, what they may cost and where they may lie is known here alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._array import Indices
from .placement import Constraint, addable, exchangeable

ROUNDING = 1e-12  # relative to the budget: a choice that just fits must not be missed
BOUNDED = 1e-9  # the same where a bound must hold for every choice that could count as affordable


@dataclass(frozen=True, eq=False)
class Allowed:
    """The choices of units of n columns that may be made.

    Units are numbered like their columns if each is one column (`single`), else like the groups.

    k : how many units a choice has; with costs the most it may have, and 0 is any number.
    include, exclude : columns that must, or must not, be chosen; complete groups if there are any.
    groups : the number of the group of each column, or None.
    prices, budget : the cost of each column and the most that a choice may cost; None and infinity
        if nothing costs.
    constraints : on the places of chosen columns.
    repeats : whether a column may be chosen more than once.
    """

    n: int
    k: int
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    groups: np.ndarray | None = None
    prices: np.ndarray | None = None
    budget: float = np.inf
    constraints: tuple[Constraint, ...] = ()
    repeats: bool = False

    @cached_property
    def unit_of(self) -> np.ndarray:
        """The unit of each column."""
        if self.groups is None or len(np.unique(self.groups)) == self.n:
            return np.arange(self.n)
        return self.groups

    @cached_property
    def count(self) -> int:
        """How many units there are."""
        return self.n if self.groups is None else int(np.max(self.unit_of)) + 1

    @cached_property
    def members(self) -> tuple[np.ndarray, ...]:
        """The columns of each unit; together all columns. Slow where units are columns."""
        order = np.argsort(self.unit_of, kind="stable")
        return tuple(np.split(order, np.cumsum(np.bincount(self.unit_of))[:-1]))

    @property
    def single(self) -> bool:
        """Whether every unit is one column."""
        return self.count == self.n

    @cached_property
    def costs(self) -> np.ndarray:
        """The cost of each unit; zero if nothing costs."""
        return np.bincount(self.unit_of, weights=self.prices) * (self.prices is not None)

    @cached_property
    def open(self) -> np.ndarray:
        """Whether each unit may be chosen at all."""
        found = np.ones(self.count, dtype=bool)
        found[self.unit_of[list(self.exclude)]] = False
        return found

    @cached_property
    def fixed(self) -> tuple[int, ...]:
        """The units that must be chosen."""
        return tuple(dict.fromkeys(self.unit_of[list(self.include)].tolist()))

    @cached_property
    def most(self) -> int:
        """The most units that a choice has."""
        most = min(self.k or self.count, np.sum(self.open))
        if self.repeats:
            most = self.k
        if not self.sized and not self.uneven and np.any(self.costs[self.open] > 0):
            each = float(np.max(self.costs[self.open]))
            most = min(most, self.budget * (1 + BOUNDED) // each)
        return int(most)

    @property
    def sized(self) -> bool:
        """Whether every choice has k units; with costs it may have fewer."""
        return self.prices is None

    @property
    def uneven(self) -> bool:
        """Whether a unit can take the place of several because of its cost."""
        return not self.sized and bool(np.ptp(self.costs[self.open]) > 0)

    def left(self, chosen: Indices) -> tuple[int, float]:
        """How many units, and at what cost, may be added to the chosen ones and the fixed ones."""
        chosen = self._with_fixed(chosen)
        spent = float(np.sum(self.costs[chosen]))
        return self.most - len(chosen), self.budget * (1 + ROUNDING) - spent

    def addable(self, chosen: Indices) -> np.ndarray:
        """Whether each unit may be added to the chosen ones and the fixed ones."""
        chosen = self._with_fixed(chosen)
        count, money = self.left(chosen)
        found = self.open & (self.costs <= money) & (count > 0)
        if not self.repeats:
            found[chosen] = False
        return addable(self.constraints, chosen, count, found)

    def exchangeable(self, chosen: Indices) -> np.ndarray | None:
        """Entry (i, j) says whether unit j may take the place of chosen[i]; None: any open one may.

        Chosen units themselves are not left out.
        """
        if not self.constraints and not self.uneven:
            return None
        listed, chosen = len(np.asarray(chosen)), self._with_fixed(chosen)
        money = self.left(chosen)[1] + self.costs[chosen]
        found = self.open & (self.costs <= money[:, None])
        if self.constraints:
            found = found & exchangeable(self.constraints, chosen)
        return found[:listed]

    def broken(self, indices: Indices) -> str | None:
        """How a finished choice of columns breaks a limit, in a sentence; None where it does not.

        With costs, or k = 0, fewer units than k are fine.
        """
        indices = np.asarray(indices, dtype=np.int64)
        units, counts = np.unique(self.unit_of[indices], return_counts=True)
        distinct = self.repeats or len(np.unique(indices)) == len(indices)
        if not distinct or not set(self.include) <= set(indices.tolist()):
            return "an index is there twice, or one that is included is missing"
        if not np.all(self.open[units]):
            return "one of the indices is excluded"
        if not self.single and any(
            counts[i] != len(self.members[u]) for i, u in enumerate(units.tolist())
        ):
            return "a group is chosen in part"
        size = len(indices) if self.single else len(units)
        if size > (self.k or self.count) or (size < self.k and self.sized):
            return f"{size} are chosen and not {self.k}"
        if float(np.sum(self.costs[units])) > self.budget * (1 + ROUNDING):
            return f"the choice costs {np.sum(self.costs[units]):g}, more than {self.budget:g}"
        return next(filter(None, (c.broken(indices, True) for c in self.constraints)), None)

    def columns(self, units: Indices) -> np.ndarray:
        """The columns of the units, unit by unit."""
        if self.single:
            return np.asarray(units, dtype=np.int64)
        empty = np.zeros(0, dtype=np.int64)
        return np.concatenate([empty, *(self.members[int(u)] for u in units)])

    def most_columns(self, chosen: int) -> int:
        """The most columns that any allowed choice has, given that one has this many.

        A lower bound for choices of that many columns holds for all choices of groups, and for all
        that can be paid for.
        """
        if self.sized and self.single:
            return chosen
        columns = self.columns(np.flatnonzero(self.open))
        free = np.setdiff1d(columns, self.include)
        most = [len(columns)]
        if self.k and self.single:
            most.append(self.k)
        elif self.k:
            sizes = np.bincount(self.unit_of[free])
            left = self.k - len(self.fixed)
            most.append(len(self.include) + int(np.sum(np.sort(sizes)[::-1][:left])))
        if self.prices is not None and np.isfinite(self.budget):
            spent = float(np.sum(self.prices[list(self.include)]))
            sums = spent + np.cumsum(np.sort(self.prices[free]))
            affordable = int(np.sum(sums <= self.budget * (1 + BOUNDED)))
            most.append(len(self.include) + affordable)
        return max(chosen, min(most))

    def _with_fixed(self, chosen: Indices) -> np.ndarray:
        """The chosen units and the fixed ones that are not among them."""
        listed = np.asarray(chosen, dtype=np.int64)
        missing = np.setdiff1d(self.fixed, listed).astype(np.int64)
        return np.concatenate([listed, missing])
