"""Leverage mean-field annealing: a relaxation whose weights are leverages, cooled to k columns.

This is the paper's relaxation with a separate δ for each column, proportional to the variance of
that column given the others. Then p_j = t_j² is the leverage of column j, and the trace is linear
in it. Each step moves the leverages towards the entropic map of their log jump gains under Σp = k,
while the temperature decreases (docs/annealed.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..._array import host
from ...operators.forms import storable
from ...problem import AIMED, Choice, Problem, brief, complete
from ...residual.order import greedy_order
from ...residual.residual import floor
from ...runs.runner import Step, run
from ...runs.state import State
from ..inner import run_method
from ..search.landscape import Landscape
from ..search.local_search import descend, lowered, starting_choice
from ..trajectory import Recorder
from .annealing import Annealing, Schedule
from .candidates import Replacements
from .covariance import Candidates, Covariance, covariance

EXACT_ORDER = 3000  # up to this order K is stored and every column is weighed


@dataclass(frozen=True)
class Annealed:
    """Cool leverages p with Σp = k from all equal until k of them are near one.

    Parameters
    ----------
    n_steps : steps before the first column is fixed; 60 steps with between=4 take twice as long and
        choose no better on average.
    damping : how far a step goes towards the entropic map, as a fraction; if it is larger,
        near-duplicates oscillate together.
    phi0, phi1 : the spread Σp(1 − p) at the beginning and when the first columns are fixed,
        relative to that of equal leverages.
    fixed : the share of the remaining places that is fixed at a time.
    between : steps after each time that columns are fixed.
    sweeps : at the end swaps improve the choice, at most this many for each chosen column, and the
        better of this choice and that of greedy is kept. 0 skips both.
    gamma : δ_j divided by the variance of column j given the others; None is 1, or 1.5 for the
        Frobenius criterion.
    n_candidates : how many columns get a weight at a time. None is all columns if n ≤ 3000 or X has
        few rows, and otherwise 6 k. If reading a column costs a product, it is 4 k, half of them by
        nuclear scores, with one round.
    n_rounds : how many sets of candidates to try if they are not all columns; each set is built
        around the last choice.

    Examples
    --------
    >>> M = np.array([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    >>> sorted(lm.select(lm.psd(np.linalg.inv(M)), 2, method=lm.Annealed()).indices.tolist())
    [0, 1]
    """

    n_steps: int = 40
    damping: float = 0.3
    phi0: float = 0.9
    phi1: float = 0.3
    fixed: float = 0.1
    between: int = 2
    sweeps: int = 4
    gamma: float | None = None
    n_candidates: int | None = None
    n_rounds: int = 2
    honours: ClassVar[frozenset[str]] = AIMED
    __repr__ = brief

    def __post_init__(self) -> None:
        if self.n_steps < 1 or self.n_rounds < 1:
            raise ValueError(
                f"n_steps and n_rounds must be at least 1, got {self.n_steps} and {self.n_rounds}"
            )
        if not 0 < self.damping <= 1:
            raise ValueError(f"damping must be above 0 and at most 1, got {self.damping!r}")
        if not 0 < self.phi1 <= self.phi0 <= 1:
            raise ValueError(
                "0 < phi1 <= phi0 <= 1 must hold, "
                f"got phi0 = {self.phi0!r} and phi1 = {self.phi1!r}"
            )
        if not 0 < self.fixed <= 1 or self.between < 0 or self.sweeps < 0:
            raise ValueError(
                "0 < fixed <= 1, between >= 0 and sweeps >= 0 must hold, "
                f"got {self.fixed!r}, {self.between!r} and {self.sweeps!r}"
            )
        if self.gamma is not None and not self.gamma > 0:
            raise ValueError(f"gamma must be positive or None, got {self.gamma!r}")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        found = problem
        if problem.pair.plain:
            found = replace(problem, operator=problem.operator.searchable(problem.k))
        if self.sweeps and "columns" in found.operator.cheap:
            raw = run_method("annealing", replace(self, sweeps=0), found, rng)
            return self._polished(found, raw, rng) if found.time_left > 0 else raw
        if not self._weighs_all(found):
            return self._over_candidates(found, rng)
        K = covariance(found.searched, found.k)
        annealing = self._annealing(found, K, np.arange(K.n), rng, Recorder(found.operator.n))
        return _choice(found, annealing.run(), annealing.recorder)

    def _polished(self, problem: Problem, raw: Choice, rng: np.random.Generator) -> Choice:
        """Make swaps that pay, and keep greedy's choice if it is better all the same."""
        landscape = Landscape.of(problem)
        starts = [raw.indices]
        if problem.objective.cheaper is not None:  # it leads further, as for swaps
            by_trace = Landscape.of(problem, lowered(problem, problem.objective.cheaper))
            traced = by_trace.state(raw.indices)
            descend(by_trace, traced, self.sweeps * problem.k)
            starts.append(by_trace.indices(traced.chosen, raw.indices))
        state = landscape.lowest(starts)[1]
        descend(landscape, state, self.sweeps * problem.k)
        greedy = starting_choice("greedy", problem, rng).indices
        if landscape.error_at(greedy) < landscape.error(state):
            return replace(raw, indices=greedy, details={"kept": "greedy"})
        chosen = landscape.indices(state.chosen, raw.indices)
        small = problem.operator.n <= EXACT_ORDER
        ordered = small and problem.pair.plain
        return replace(raw, indices=greedy_order(problem, chosen) if ordered else chosen)

    def _weighs_all(self, problem: Problem) -> bool:
        n, m = problem.operator.n, problem.operator.m
        if not problem.pair.plain:
            return True
        if self.n_candidates is not None:
            return self.n_candidates >= n
        small = n <= EXACT_ORDER and storable(problem.operator)
        return small or (m is not None and m * m * n <= EXACT_ORDER**3)

    def _annealing(
        self,
        problem: Problem,
        K: Covariance,
        indices: np.ndarray,
        rng: np.random.Generator,
        recorder: Recorder,
    ) -> Annealing:
        gamma = self.gamma or (1.5 if problem.objective.depth == 2 else 1.0)
        schedule = Schedule(
            self.n_steps, self.damping, self.phi0, self.phi1, gamma, self.fixed, self.between
        )
        return Annealing(problem, K, indices, schedule, rng, recorder)

    def _over_candidates(self, problem: Problem, rng: np.random.Generator) -> Choice:
        """Anneal some candidates, renew them around what was chosen, and again; the best counts."""
        rounds = Rounds(problem, self.n_candidates or 6 * problem.k, rng)
        run("rounds", self._rounds(rounds), rounds, deadline=problem.deadline)
        return _choice(problem, rounds.best, rounds.recorder)

    def _rounds(self, rounds: Rounds) -> Iterator[Step]:
        first = replace(self, n_steps=max(1, self.n_steps // 2))
        later = replace(first, phi0=max(self.phi1, self.phi0 / 2))
        while rounds.done < self.n_rounds and rounds.renew():
            rounds.run(first if rounds.done == 0 else later)
            yield Step(rounds.done, self.n_rounds)


def _choice(problem: Problem, chosen: np.ndarray, recorder: Recorder) -> Choice:
    return Choice(complete(problem, chosen), path=recorder.trajectory() if recorder.rows else None)


class Rounds(State):
    """The candidates of a large problem, the last choice among them, and the best so far."""

    def __init__(self, problem: Problem, size: int, rng: np.random.Generator):
        drawn = first_candidates(problem, max(size, problem.k), rng)
        self.problem, self.rng, self.recorder = problem, rng, Recorder(problem.operator.n)
        self.floor = host(floor(problem.operator, problem.k)).astype(np.float64)
        self.each = max(1, size // problem.k)
        self.candidates = np.union1d(np.asarray(problem.include, dtype=np.int64), drawn)
        self.chosen = self.best = self.candidates
        self.most, self.done = -np.inf, 0
        self.replacements: Replacements | None = None

    def run(self, method: Annealed) -> None:
        """Anneal the candidates and keep the choice if it is the best yet."""
        problem, cubes = self.problem, self.problem.objective.depth == 2
        K = Candidates(problem.operator, self.candidates, self.floor[self.candidates], cubes)
        annealing = method._annealing(problem, K, self.candidates, self.rng, self.recorder)
        self.chosen = annealing.run()
        if annealing.explained > self.most:
            self.most, self.best = annealing.explained, self.chosen
        self.done += 1

    def renew(self) -> bool:
        """Candidates around the choice, if there is one; False when K gives no columns cheaply."""
        if self.done == 0:
            return True
        if "columns" not in self.problem.operator.cheap:
            return False
        self.replacements = self.replacements or Replacements(self.problem.operator, self.problem.k)
        fresh = self.replacements.propose(self.chosen, self.problem.candidates, self.each)
        self.candidates = np.union1d(self.chosen, fresh)
        return True


def first_candidates(problem: Problem, size: int, rng: np.random.Generator) -> np.ndarray:
    """Candidates drawn uniformly; where a column costs a product, fewer, half by nuclear scores."""
    drawn = rng.permutation(problem.free)
    if "columns" in problem.operator.cheap:
        return drawn[:size]
    from ..registry import as_method

    likely = min(2 * problem.k, len(problem.candidates))
    scored = run_method(
        "nuclear", as_method("nuclear"), replace(problem, k=likely, warned={"rank"}), rng
    ).indices
    return np.concatenate([scored, drawn[~np.isin(drawn, scored)]])[
        : max(likely, min(size, 4 * problem.k))
    ]
