"""Iterated local search: perturb part of the choice, swap again, keep the better choice.

Lourenço, Martin and Stützle, "Iterated local search", Handbook of Metaheuristics (2003). A
perturbation drops members that resemble one another and refills greedily without them, like the
related removal of Shaw, CP (1998).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._array import host, namespace
from ...errors import Stopped
from ...problem import PLACED, SEARCHED, Choice, Problem, brief, check_criterion, lowered
from ...residual.exchange import Exchange
from ...runs.runner import Step, run, timed
from ...runs.state import State
from .landscape import Landscape
from .local_search import LIMIT, descend, refill, starting_choice

ROUGH = 1e-4  # drift of a disturbed state that makes it load afresh; the best is loaded at the end
FEW = 12  # members up to which a search that is stuck starts elsewhere, at random


@dataclass(frozen=True)
class Iterated:
    """Swap search from many perturbations of the best choice so far; never worse than its start.

    Parameters
    ----------
    start : a method, by name or as an object, or k indices.
    rounds : how many perturbations to try if there is no budget.
    share : the largest part of the choice that one perturbation drops.
    patience : rounds without improvement after which half of the choice is replaced, to leave a
        poor local optimum; up to 12 columns are drawn anew instead. None is k/2, at least 2.
    criterion : the error that swaps lower, "trace" or "frobenius"; None takes that of the problem.
        Rounds are judged by that of the problem in any case. Swaps on the trace cost far less and
        go nearly as far.
    endless : whether it goes on until a budget is spent; if not, `rounds` is the limit then too.
    products : how many products with K the rounds may take, where `rounds` is the limit, and a
        sixth of that without improvement; a stored K needs none once its square is formed.

    Examples
    --------
    >>> K = np.linalg.inv([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    >>> sorted(lm.select(lm.psd(K), 2, method=lm.Iterated(rounds=3)).indices.tolist())
    [0, 1]
    """

    start: Any = "greedy"
    rounds: int = 50
    share: float = 0.15
    patience: int | None = None
    criterion: str | None = None
    endless: bool = True
    products: int | None = None
    honours: ClassVar[frozenset[str]] = SEARCHED | PLACED
    improves: ClassVar[bool] = True
    __repr__ = brief

    def __post_init__(self) -> None:
        if self.rounds < 0:
            raise ValueError(f"rounds must be at least 0, got {self.rounds!r}")
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, got {self.share!r}")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience must be at least 1, got {self.patience!r}")
        check_criterion(self.criterion)

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        start = starting_choice(self.start, problem, rng)
        if problem.time_left <= 0:
            return start
        try:
            objective = lowered(problem, self.criterion)
            landscape = Landscape.of(problem, objective, self.rounds * moves(problem.k))
        except Stopped:
            return start
        first = landscape.state(start.indices)
        before = landscape.judged(first)
        search = Search(self, landscape, first, rng)
        run("iterated", search.steps(), search, deadline=problem.deadline)
        chosen, error = search.best, search.error
        if landscape.direct and problem.time_left > 0:
            best = landscape.state(chosen)
            if landscape.compiled is not None:
                descend(landscape, best)  # NumPy looks once more, with bounds on rounding
            chosen, error = best.chosen, landscape.error(best)
        if error > before:
            chosen = start.indices
        details = {"rounds": search.rounds, "improvements": search.improvements}
        return Choice(
            landscape.indices(chosen, start.indices),
            path=start.path,
            trials=start.trials,
            details=details,
        )


def moves(k: int) -> int:
    """About how many columns are added in a round, counted on problems with k from 5 to 200."""
    return 4 + k // 5


class Search(State):
    """The rounds of an iterated search: where it stands, and the best choice it has seen."""

    def __init__(
        self, method: Iterated, landscape: Landscape, state: Exchange, rng: np.random.Generator
    ):
        self.method = method
        self.landscape = landscape
        self.state = state
        self.rng = rng
        self.best = state.chosen
        self.error = landscape.judged(state)
        self.descended = False
        self.begun = self.improved = landscape.problem.operator.ledger.products
        self.rounds = self.improvements = self.stale = 0

    def steps(self) -> Iterator[Step]:
        """The descent from the start, then one round at a step, as many as the method asks for."""
        endless = self.method.endless and self.landscape.problem.deadline is not None
        most = None if endless else self.method.rounds
        if not self.descended:
            descend(self.landscape, self.state, final=False)
            self.best = self.state.chosen
            self.error = self.landscape.judged(self.state)
            self.descended = True
            if self.settled:
                return
            yield Step(self.rounds, most, self._relative)
        while most is None or (self.rounds < most and self.affordable):
            with timed():  # a round that is cut short is not missed
                self.round()
            yield Step(self.rounds, most, self._relative)

    @property
    def affordable(self) -> bool:
        """Whether the rounds have taken fewer products than they may."""
        most, used = self.method.products, self.landscape.problem.operator.ledger.products
        if most is None or self.landscape.base.highest:  # products with a stored K² cost little
            return True
        return used - self.begun < most and used - self.improved < most / 6

    @property
    def settled(self) -> bool:
        """Whether the rank is reached, nothing but rounding is left, or nothing may change."""
        return bool(
            len(self.state.vacant)
            or self.state.done
            or not len(self.landscape.unlocked(self.state))
            or not np.any(self.landscape.open_to(self.state))
        )

    def _relative(self) -> float | None:
        return self.landscape.relative(self.error)

    def round(self) -> None:
        """Perturb and descend; continue from there if it is better, or to leave a local optimum."""
        patience = self.method.patience or max(2, self.landscape.problem.k // 2)
        leave = self.stale >= patience
        if leave and len(self.state.members) <= FEW and not self.landscape.problem.constraints:
            trial = self._elsewhere()
        else:
            trial = self._trial(0.5 if leave else self.method.share, leave)
        self.rounds += 1
        better = self._lower(trial, self.landscape.judged(self.state))
        self.stale = 0 if better or leave else self.stale + 1
        if self._lower(trial, self.error):
            self.best = trial.chosen
            self.error = self.landscape.judged(trial)
            self.improvements += 1
            self.improved = self.landscape.problem.operator.ledger.products
        if better or (leave and not len(trial.vacant)):
            self.state = trial

    def _elsewhere(self) -> Exchange:
        """A state after a descent from members at random."""
        problem = self.landscape.problem
        drawn = self.rng.permutation(problem.choosable)[: problem.k]
        compiled = self.landscape.compiled
        trial = self.landscape.state(drawn)
        if compiled is None or len(trial.vacant):
            descend(self.landscape, trial, final=False)
        else:
            compiled.descend(trial, LIMIT * problem.k)
        return trial

    def _trial(self, share: float, full: bool) -> Exchange:
        """A disturbed copy of the state after a descent."""
        landscape, judged = self.landscape, self.landscape.judged
        trial = self.state.copy()
        place, count = disturbance(landscape, trial, share, full, self.rng)
        if landscape.compiled is None:
            disturb(landscape, trial, place, count)
            descend(landscape, trial)
        else:
            limit = LIMIT * landscape.problem.k
            landscape.compiled.disturb(trial, place, count, limit)
            before, drift = judged(self.state), trial.drift
            hopeful = full or judged(trial) < before + drift * abs(before)
            if hopeful and trial.stale(ROUGH) and not len(trial.vacant):
                trial.load(trial.chosen)
                landscape.compiled.descend(trial, limit)
        return trial

    def _lower(self, trial: Exchange, error: float) -> bool:
        least = self.landscape.problem.objective.below(error, self.landscape.tolerance)
        if len(trial.vacant) or not self.landscape.judged(trial) < least:
            return False
        return not self.landscape.problem.objective.volume or self.landscape.error(trial) < least


def disturbance(
    landscape: Landscape, state: Exchange, share: float, full: bool, rng: np.random.Generator
) -> tuple[int, int]:
    """A random place, and how many members to drop.

    share : the largest part of the members to drop; full : whether to drop all of that part.
    """
    unlocked = landscape.unlocked(state)
    most = min(len(unlocked), max(2, int(np.ceil(share * len(state.members)))))
    count = most if full else int(rng.integers(1, most + 1))
    return int(rng.choice(unlocked)), count


def disturb(landscape: Landscape, state: Exchange, place: int, count: int) -> None:
    """Drop the member at a place and those that resemble it most, put others in their places.

    Members that explain the same columns must move together: one alone returns at once.
    """
    unlocked = landscape.unlocked(state)
    W = state.rows[0]  # how far each member explains the columns of that one: |cos| of the rows
    lengths = np.sqrt(np.maximum(host(namespace(W).vecdot(W, W)), np.finfo(float).tiny))
    alike = np.abs(host(W @ W[place, :])) / lengths
    alike[place] = np.inf
    order = unlocked[np.argsort(-alike[unlocked], kind="stable")]
    dropped = [state.drop(int(other)) for other in order[:count]]
    refill(landscape, state, forbidden=np.asarray(dropped))
