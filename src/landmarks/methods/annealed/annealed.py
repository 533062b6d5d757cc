"""Leverage mean-field annealing: a relaxation whose weights are leverages, cooled until k columns are left.

The paper's relaxation with a δ of its own for each column, tied to the variance of that column given the others: then
p_j = t_j² is the leverage of column j and the trace is linear in it. Columns are drawn towards the entropic map of their
log jump gains under Σp = k, while it is cooled (docs/annealed.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..._array import rank_tolerance
from ...operators.base import storable
from ...problem import CONSTRAINTS, Choice, Problem, brief
from ...relaxation_path import Recorder
from ...residual.residual import independent
from ...runs.journal import Loop
from ..phase import run_phase
from .annealing import Schedule, anneal
from .candidates import Replacements
from .covariance import Candidates, Covariance, covariance, powers
from .elimination import RIDGE, eliminate, explained

EXACT_ORDER = 3000  # up to this order K is stored and every column is weighed
SURPLUS, DOUBTFUL = (
    1.4,
    0.05,
)  # at most 1.4 k columns are left to the elimination, and beyond k only those of larger p


@dataclass(frozen=True)
class Annealed:
    """Leverages p with Σp = k, cooled from all equal until k are near one.

    Parameters
    ----------
    n_steps : evaluations of the residual; 20 with damping 0.4 is a cheap start for a local search.
    damping : the part of the way to the entropic map that a step goes; larger ones let near-duplicates swing together.
    phi0, phi1 : the spread Σp(1 − p) at the beginning and at the end, relative to that of equal leverages.
    gamma : δ_j over the variance of column j given the others; None is 1, and 1.5 for the Frobenius criterion.
    n_candidates : how many columns are weighed at a time; None is all up to n = 3000 or when X has few rows, else 6 k, and 4 k where a
        column costs a product: half of them by nuclear scores, and one round.
    n_rounds : how often candidates are weighed, renewed around the choice each time, when they are not all columns.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> M = np.array([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    >>> sorted(lm.select(lm.psd(np.linalg.inv(M)), 2, method=lm.Annealed()).indices.tolist())
    [0, 1]
    """

    n_steps: int = 80
    damping: float = 0.2
    phi0: float = 0.9
    phi1: float = 0.02
    gamma: float | None = None
    n_candidates: int | None = None
    n_rounds: int = 4
    honours: ClassVar[frozenset[str]] = CONSTRAINTS
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
                f"0 < phi1 <= phi0 <= 1 must hold, got phi0 = {self.phi0!r} and phi1 = {self.phi1!r}"
            )
        if self.gamma is not None and not self.gamma > 0:
            raise ValueError(f"gamma must be positive or None, got {self.gamma!r}")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        return self.several(problem, rng, [self.gamma])[0]

    def several(
        self, problem: Problem, rng: np.random.Generator, gammas: Iterable[float | None]
    ) -> list[Choice]:
        """One choice for each gamma; K is formed once for all of them."""
        settings = [replace(self, gamma=gamma) for gamma in gammas]
        if not self._weighs_all(problem):
            return [each._over_candidates(problem, rng) for each in settings]
        K = covariance(problem.operator)
        return [each._over_all(problem, K, rng) for each in settings]

    def _weighs_all(self, problem: Problem) -> bool:
        n, m = problem.operator.n, problem.operator.m
        if self.n_candidates is not None:
            return self.n_candidates >= n
        return (n <= EXACT_ORDER and storable(problem.operator)) or (
            m is not None and m * m * n <= EXACT_ORDER**3
        )

    def _schedule(self, problem: Problem) -> Schedule:
        gamma = self.gamma or (1.0 if problem.criterion == "trace" else 1.5)
        return Schedule(self.n_steps, self.damping, self.phi0, self.phi1, gamma)

    def _over_all(self, problem: Problem, K: Covariance, rng: np.random.Generator) -> Choice:
        recorder = Recorder(K.n)
        p = anneal(problem, K, np.arange(K.n), self._schedule(problem), rng, recorder)
        ranking = _ranking(problem, p)
        support = _support(problem, p, ranking)
        chosen = _eliminated(
            problem,
            powers(problem.operator, support, cubes=problem.criterion == "frobenius"),
            support,
        )
        return Choice(independent(problem, _first(chosen, ranking)), path=recorder.path())

    def _over_candidates(self, problem: Problem, rng: np.random.Generator) -> Choice:
        """Anneal some candidates, renew them around what was chosen, and again; the best round counts."""
        rounds = Rounds(problem, self.n_candidates or 6 * problem.k, rng)
        schedule = replace(self._schedule(problem), n_steps=max(1, self.n_steps // 2))
        with Loop("rounds", rounds) as loop:
            while rounds.done < self.n_rounds and rounds.renew():
                rounds.run(
                    schedule
                    if rounds.done == 0
                    else replace(schedule, phi0=max(schedule.phi1, schedule.phi0 / 2))
                )
                if loop.turn(rounds.done, self.n_rounds) or problem.time_left <= 0:
                    break
        return Choice(
            independent(problem, _first(rounds.best, _ranking(problem, rounds.p))),
            path=rounds.recorder.path(),
        )


class Rounds:
    """The candidates of a large problem, their leverages, what was chosen of them last, and the best choice so far."""

    kept: ClassVar = ("candidates", "p", "support", "chosen", "best", "most", "recorder", "done")

    def __init__(self, problem: Problem, size: int, rng: np.random.Generator):
        drawn = first_candidates(problem, max(size, problem.k), rng)
        self.problem, self.rng, self.recorder = problem, rng, Recorder(problem.operator.n)
        self.each = max(1, size // problem.k)
        self.candidates = np.union1d(np.asarray(problem.include, dtype=np.int64), drawn)
        self.support = self.chosen = self.best = self.candidates
        self.p = np.zeros(problem.operator.n)
        self.most, self.done = -np.inf, 0
        self.replacements: Replacements | None = None

    def run(self, schedule: Schedule) -> None:
        """Anneal the candidates and keep the choice if it is the best yet."""
        problem = self.problem
        K = Candidates(problem.operator, self.candidates, cubes=problem.criterion == "frobenius")
        self.p = np.zeros(problem.operator.n)
        self.p[self.candidates] = anneal(
            problem, K, self.candidates, schedule, self.rng, self.recorder
        )
        ranking = _ranking(problem, self.p)
        self.support = _support(problem, self.p, ranking[np.isin(ranking, self.candidates)])
        self.chosen = _eliminated(problem, K.part(self.support), self.support)
        reached = explained(K.part(self.chosen), ridge=_ridge(problem))
        if reached > self.most:
            self.most, self.best = reached, self.chosen
        self.done += 1

    def renew(self) -> bool:
        """Candidates around the choice, once there is one; False when K gives no columns cheaply."""
        if self.done == 0:
            return True
        if "columns" not in self.problem.operator.cheap:
            return False
        self.replacements = self.replacements or Replacements(self.problem.operator)
        fresh = self.replacements.propose(self.chosen, self.problem.candidates, self.each)
        self.candidates = np.union1d(self.support, fresh)
        return True


def first_candidates(problem: Problem, size: int, rng: np.random.Generator) -> np.ndarray:
    """Candidates drawn uniformly; where each column costs a product, half of fewer ones come from nuclear scores."""
    drawn = rng.permutation(problem.free)
    if "columns" in problem.operator.cheap:
        return drawn[:size]
    from ..registry import as_method

    likely = min(2 * problem.k, len(problem.candidates))
    scored = run_phase(
        "nuclear", as_method("nuclear"), replace(problem, k=likely, told={"rank"}), rng
    ).indices
    return np.concatenate([scored, drawn[~np.isin(drawn, scored)]])[
        : max(likely, min(size, 4 * problem.k))
    ]


def _ranking(problem: Problem, p: np.ndarray) -> np.ndarray:
    """The columns that may be chosen: first those that must be, then by falling leverage."""
    free = problem.free
    return np.concatenate(
        [np.asarray(problem.include, dtype=np.int64), free[np.argsort(-p[free], kind="stable")]]
    )


def _support(problem: Problem, p: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """The k leading columns and those after them that are still in doubt."""
    leading = ranking[: int(SURPLUS * problem.k) + 1]
    return leading[(np.arange(len(leading)) < problem.k) | (p[leading] > DOUBTFUL)]


def _eliminated(problem: Problem, blocks: list[np.ndarray], support: np.ndarray) -> np.ndarray:
    """The k columns of the support whose loss would cost most."""
    left = eliminate(blocks, problem.k, keep=len(problem.include), ridge=_ridge(problem))
    return support[left]


def _ridge(problem: Problem) -> float:
    return max(RIDGE, rank_tolerance(problem.operator.digits))


def _first(chosen: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """The ranking with the chosen columns first."""
    among = np.isin(ranking, chosen)
    return np.concatenate([ranking[among], ranking[~among]])
