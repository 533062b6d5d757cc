"""Iterated swap search for an aim: perturb part of the choice, swap again, keep the better one."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...problem import Choice, Problem
from ...residual.aimed.cross import Cross
from ...runs.runner import Step, run
from ...runs.state import State
from .search import TOLERANCE, Hunt, descend, refill


@dataclass(frozen=True)
class Rounds:
    """How an iterated search is run, as the fields of `Iterated` say."""

    rounds: int
    share: float = 0.15
    patience: int = 50


def iterated(problem: Problem, start: Choice, rng: np.random.Generator, settings: Rounds) -> Choice:
    """Swap search from many disturbances of the best choice so far; never worse than its start."""
    hunt = Hunt(problem)
    search = Search(hunt, hunt.state(start.indices), settings, rng)
    run("iterated", search.steps(), search, deadline=problem.deadline)
    details = {"rounds": search.rounds, "improvements": search.improvements}
    found = hunt.indices(hunt.state(search.best), start.indices)
    return Choice(found, path=start.path, trials=start.trials, details=details)


class Search(State):
    """The rounds of a search: where it stands, and the best choice it has seen."""

    def __init__(self, hunt: Hunt, state: Cross, settings: Rounds, rng: np.random.Generator):
        self.hunt, self.state, self.settings, self.rng = hunt, state, settings, rng
        self.best, self.error = state.chosen, state.inner
        self.descended = False
        self.rounds = self.improvements = self.stale = 0

    def steps(self) -> Iterator[Step]:
        """The descent from the start, then one round at a step."""
        problem = self.hunt.problem
        most = self.settings.rounds if problem.deadline is None else None
        if not self.descended:
            descend(self.hunt, self.state)
            self.best, self.error, self.descended = self.state.chosen, self.state.inner, True
            yield Step(self.rounds, most, self.hunt.relative(self.state))
        while not settled(self.hunt, self.state) and problem.time_left > 0:
            if most is not None and self.rounds >= most:
                return
            self.round()
            yield Step(self.rounds, most, self.hunt.relative(self.state))

    def round(self) -> None:
        """Perturb and descend; continue from there if it is better, or to leave a local optimum."""
        leave = self.stale >= self.settings.patience
        share = 0.5 if leave else self.settings.share
        trial = disturbed(self.hunt, self.state, share, leave, self.rng)
        descend(self.hunt, trial)
        self.rounds += 1
        better = lower(trial, self.state.inner)
        self.stale = 0 if better or leave else self.stale + 1
        if lower(trial, self.error):
            self.best, self.error = trial.chosen, trial.inner
            self.improvements += 1
        if better or (leave and not len(trial.vacant)):
            self.state = trial


def lower(trial: Cross, error: float) -> bool:
    """Whether a full choice has a lower error, by more than rounding."""
    return not len(trial.vacant) and trial.inner < error * (1 - TOLERANCE)


def settled(hunt: Hunt, state: Cross) -> bool:
    """Whether nothing is left to gain, or nothing may change."""
    stuck = not len(hunt.unlocked(state)) or not np.any(hunt.open_to(state))
    return bool(stuck or len(state.vacant) or state.inner <= state.least)


def disturbed(
    hunt: Hunt, state: Cross, share: float, full: bool, rng: np.random.Generator
) -> Cross:
    """A copy with up to that share of the members dropped at random and others in their places."""
    trial = state.copy()
    unlocked = hunt.unlocked(trial)
    most = min(len(unlocked), max(2, int(np.ceil(share * len(trial.members)))))
    count = most if full else int(rng.integers(1, most + 1))
    dropped = [trial.drop(int(place)) for place in rng.permutation(unlocked)[:count]]
    refill(hunt, trial, forbidden=dropped)
    return trial
