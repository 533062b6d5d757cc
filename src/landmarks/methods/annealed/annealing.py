"""Annealing of leverages, then decimation: fix the most certain columns, condition on them, repeat.

Near-duplicates share one leverage, so several of them may be among the k largest. Fixing a few
columns at a time and conditioning on them removes the gains of their neighbours at once. Mézard,
Parisi and Zecchina, Science 297 (2002), fix variables in this way in constraint satisfaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...problem import Problem
from ...runs.runner import Step, run
from ...runs.state import State
from ..trajectory import Recorder
from .covariance import Covariance, jump_gains, without_own
from .entropic import entropic

FULL, EMPTY = 0.95, 0.01  # leverages beyond these count as these: C stays well conditioned
SMALLEST = 1e-8  # least variance of a column given the others, relative to the mean diagonal
TIES = 1e-3  # random offsets of the log gains, which separate equal columns
FEWEST = 3  # columns kept as candidates for each place
LOST = 0.5  # a column that lost this share of its variance to one just fixed is not fixed yet


@dataclass(frozen=True)
class Schedule:
    """How far and how fast: the settings of `Annealed` without what they leave open."""

    n_steps: int
    damping: float
    phi0: float
    phi1: float
    gamma: float
    fixed: float
    between: int

    def spreads(self) -> np.ndarray:
        """The spread of each step before the first column is fixed, falling geometrically."""
        return np.geomspace(self.phi0, self.phi1, self.n_steps)


class Annealing(State):
    """The leverages p of the candidates, the columns that are fixed, and the matrix given those.

    K : the matrix of the candidates, conditioned on what is fixed.
    indices : which columns of the problem the candidates are.
    allowed : whether each may still be fixed.
    terms : of the objective, one for each candidate, as they were when last computed.
    explained : by how much the fixed columns lower the error.
    """

    def __init__(
        self,
        problem: Problem,
        K: Covariance,
        indices: np.ndarray,
        schedule: Schedule,
        rng: np.random.Generator,
        recorder: Recorder,
    ):
        self.problem, self.K, self.indices, self.schedule = problem, K, indices, schedule
        self.recorder = recorder
        self.cubes = problem.objective.depth == 2
        self.offsets = TIES * rng.standard_normal(K.n)
        self.allowed = np.isin(indices, problem.free)
        self.p, self.c0, self.terms = np.zeros(K.n), K.diagonal.copy(), np.zeros(K.n)
        self.narrowed, self.first = False, K.diagonal.copy()
        self.fixed: list[int] = []
        self.explained, self.step = 0.0, 0
        for j in np.flatnonzero(np.isin(indices, problem.include)):
            self.fix(int(j))
        self.spread_evenly()

    @property
    def places(self) -> int:
        """How many columns are still to be fixed."""
        return self.problem.k - len(self.fixed)

    @property
    def free(self) -> np.ndarray:
        """The candidates that may still be fixed."""
        open_to = self.allowed & (self.K.diagonal > self.K.floor)
        open_to[self.fixed] = False
        return np.flatnonzero(open_to)

    def spread_evenly(self) -> None:
        """All free candidates share the places that are left."""
        self.p[self.free] = min(1.0, self.places / max(1, len(self.free)))

    def fix(self, j: int) -> None:
        """Choose a candidate and condition on it."""
        self.explained += self.K.condition(j, self.cubes)
        self.fixed.append(j)
        self.p[j] = 0.0

    def run(self) -> np.ndarray:
        """Anneal, then fix a share and anneal a little, until all places are taken; the choice."""
        if self.problem.time_left > 0:
            run("annealed", self.steps(), self, deadline=self.problem.deadline)
        return self._filled()

    def steps(self) -> Iterator[Step]:
        """One move of the leverages at a step, then one decimation with the moves after it."""
        spreads = self.schedule.spreads()
        while self.step < self.schedule.n_steps and self._goes_on():
            self.move(spreads[self.step])
            self.step += 1
            yield Step(len(self.fixed), self.problem.k)
        while self._goes_on():
            self.decimate()
            for _ in range(self.schedule.between if self.places > 0 else 0):
                self.move(spreads[-1])
            yield Step(len(self.fixed), self.problem.k)

    def _goes_on(self) -> bool:
        return self.places > 0 and len(self.free) > 0

    def _filled(self) -> np.ndarray:
        """The fixed columns, and where the run was stopped the most certain others."""
        rest = self._ranked()
        chosen = np.concatenate([np.asarray(self.fixed, dtype=np.int64), rest])
        return self.indices[chosen[: self.problem.k]]

    def move(self, spread: float) -> None:
        """One damped step of the leverages towards the entropic map of the log jump gains."""
        free, places = self.free, self.places
        if len(free) <= places:
            self.p[free] = 1.0
            return
        plain = self.problem.pair.plain  # else the sizes of candidates and target are unrelated
        floor = SMALLEST * (float(np.mean(self.K.diagonal)) if plain else self.first)
        floor = np.where(floor > 0, floor, 1.0)
        d = weights(self.p, self.schedule.gamma * np.maximum(self.c0, floor), self._cut(free))
        at = free if self.narrowed else np.arange(self.K.n)
        diagonals = self.K.diagonals(d, at, cubes=self.cubes)
        self.c0[at] = diagonals.c / without_own(diagonals.c, d[at])
        lengths = None if plain else self.first[at]
        scores = _scores(jump_gains(diagonals, d[at], lengths), self.offsets[at])
        target = entropic(scores[np.isin(at, free)], places, spread)
        self.p[free] += self.schedule.damping * (target - self.p[free])
        self.terms[at] = diagonals.a if self.cubes else diagonals.c
        value = float(np.sum(self.terms)) if diagonals.error is None else diagonals.error
        self.recorder.add(np.sqrt(self.p[d > 0]), self.indices[d > 0], value, 0)

    def _cut(self, free: np.ndarray) -> float:
        """The leverage up to which a column weighs nothing."""
        return min(EMPTY, self.places / (2 * max(1, len(free))))

    def decimate(self) -> None:
        """Fix the share with the largest leverages, none that resembles one just fixed."""
        count = max(1, round(self.schedule.fixed * self.places))
        before, taken = self.K.diagonal.copy(), 0
        for j in self._ranked():
            if taken == count:
                break
            if self.K.diagonal[j] > max(LOST * before[j], self.K.floor[j]):
                self.fix(int(j))
                taken += 1
        self._narrow()
        self._rescale()

    def _narrow(self) -> None:
        """Drop columns without weight that the fixed ones represent well."""
        rest = self._ranked()[FEWEST * self.places :]
        lost = self.K.diagonal[rest] < LOST * self.first[rest]
        gone = rest[lost & (self.p[rest] <= self._cut(self.free))]
        self.allowed[gone] = False
        self.p[np.setdiff1d(np.arange(self.K.n), self.free)] = 0.0
        self.narrowed = True

    def _ranked(self) -> np.ndarray:
        """The free candidates by falling leverage; those that differ by rounding alone are tied."""
        free = self.free
        return free[np.argsort(-np.round(self.p[free], 9), kind="stable")]

    def _rescale(self) -> None:
        """The leverages that are left sum to the places that are left."""
        free = self.free
        whole = float(np.sum(self.p[free]))
        if whole > 0:
            self.p[free] = np.minimum(self.p[free] * (self.places / whole), 1.0)
        else:
            self.spread_evenly()


def weights(p: np.ndarray, delta: np.ndarray, cut: float = EMPTY) -> np.ndarray:
    """d = p/((1 − p) δ), the paper's t²/((1 − t²) δ); leverages up to the cut weigh nothing."""
    q = np.minimum(p, FULL)
    return np.where(q > cut, q / ((1 - q) * delta), 0.0)


def _scores(gains: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    floor = max(1e-12 * float(np.max(gains)), np.finfo(float).tiny)
    return np.log(np.maximum(gains, floor)) + offsets
