"""Choices of units within limits by errors alone: fillings and exchanges, and no care for cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

Units = list[int]


@dataclass
class PlainKnapsack:
    """What `Knapsack` does, with the error of a list of units given as a function."""

    error: Callable[[Sequence[int]], float]
    costs: np.ndarray
    budget: float
    most: int
    fixed: tuple[int, ...] = ()
    barred: tuple[int, ...] = ()

    def run(self) -> tuple[Units, list[tuple[str, float]]]:
        """The chosen units, and the label and error of each trial."""
        runs = [(label, self.exchanged(units, [self.one])) for label, units in self.starts()]
        if self.uneven:
            moves = [self.one, self.two, self.refilled]
            runs.append(("the best", self.exchanged(self.best(runs), moves)))
        return self.best(runs), [(f"{label} > exchange", self.error(u)) for label, u in runs]

    def best(self, runs: list[tuple[str, Units]]) -> Units:
        lowest = min(self.error(units) for _, units in runs)
        return next(units for _, units in runs if self.error(units) <= lowest * (1 + 1e-9))

    @property
    def uneven(self) -> bool:
        return bool(np.isfinite(self.budget) and np.ptp(self.costs) > 0)

    def starts(self) -> Iterator[tuple[str, Units]]:
        fixed = list(self.fixed)
        yield "gain", self.filled(fixed, False)
        if self.uneven:
            yield "gain per cost", self.filled(fixed, True)
        gains = {u: self.gain(fixed, u) for u in self.fitting(fixed)}
        firsts = sorted((u for u in gains if gains[u] > 0), key=lambda u: -gains[u])[:30]
        seeded: dict[frozenset[int], Units] = {}
        for u in firsts:
            units = self.filled([*fixed, u], True)
            seeded.setdefault(frozenset(units), units)
        for units in sorted(seeded.values(), key=self.error)[:2]:
            yield "first unit, then gain per cost", units

    def fitting(self, units: Units, barred: tuple[int, ...] = ()) -> Units:
        if len(units) >= self.most:
            return []
        left = self.budget * (1 + 1e-12) - self.costs[units].sum()
        out = {*units, *barred, *self.barred}
        return [u for u in range(len(self.costs)) if u not in out and self.costs[u] <= left]

    def gain(self, units: Units, u: int) -> float:
        gain = self.error(units) - self.error([*units, u])
        return gain if gain > 1e-12 * self.error([]) else 0.0

    def filled(self, units: Units, per_cost: bool, barred: tuple[int, ...] = ()) -> Units:
        while True:
            worth = {u: self.gain(units, u) for u in self.fitting(units, barred)}
            if not worth or max(worth.values()) <= 0:
                return units
            u = max(worth, key=lambda u: worth[u] / (self.costs[u] if per_cost else 1.0))
            units = [*units, u]

    def exchanged(self, units: Units, moves: list[Callable[[Units], Units | None]]) -> Units:
        while True:
            found = next((f for f in (move(units) for move in moves) if f is not None), None)
            if found is None:
                return units
            units = found

    def loose(self, units: Units) -> Units:
        return [u for u in units if u not in self.fixed]

    def one(self, units: Units) -> Units | None:
        return self.swapped(units, [(u,) for u in self.loose(units)])

    def two(self, units: Units) -> Units | None:
        return self.swapped(units, list(combinations(self.loose(units), 2)))

    def swapped(self, units: Units, removals: Sequence[tuple[int, ...]]) -> Units | None:
        trials = []
        for out in removals:
            rest = [u for u in units if u not in out]
            trials += [[*rest, u] for u in self.fitting(rest, out)]
        found = min(trials, key=self.error, default=units)
        return self.if_better(units, found) if self.lower(found, units) else None

    def refilled(self, units: Units) -> Units | None:
        loose = self.loose(units)
        for out in [*((u,) for u in loose), *combinations(loose, 2)]:
            rest = [u for u in units if u not in out]
            for per_cost in (False, True):
                found = self.filled(rest, per_cost, out)
                if self.lower(found, units):
                    return self.if_better(units, found)
        return None

    def if_better(self, units: Units, found: Units) -> Units | None:
        found = self.filled(found, True)
        return found if self.lower(found, units) else None

    def lower(self, one: Units, other: Units) -> bool:
        return self.error(one) < self.error(other) * (1 - 1e-9)
