"""Iterated swap search for an aim: disturb a part of the choice, swap down, keep what is better."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...problem import Choice, Problem
from ...residual.cross import Cross
from ...runs.progress import report
from .hunt import Hunt
from .search import TOLERANCE, descend, refill


class Settings(Protocol):
    """What an iterated search is asked for; see `Iterated`."""

    @property
    def rounds(self) -> int:
        """Disturbances to try when there is no deadline."""
        ...

    @property
    def share(self) -> float:
        """The largest part of the choice that one disturbance drops."""
        ...

    @property
    def patience(self) -> int:
        """Rounds without success after which half of the choice is redrawn."""
        ...


def iterated(
    problem: Problem, start: Choice, rng: np.random.Generator, settings: Settings
) -> Choice:
    """Swap search from many disturbances of the best choice so far; never worse than its start."""
    hunt = Hunt(problem)
    state = hunt.state(start.indices)
    descend(hunt, state)
    best, error = state.chosen, state.inner
    rounds = improvements = stale = 0
    limited = problem.deadline is None
    while not settled(hunt, state):
        if rounds >= settings.rounds if limited else problem.time_left <= 0:
            break
        leave = stale >= settings.patience
        trial = disturbed(hunt, state, 0.5 if leave else settings.share, leave, rng)
        descend(hunt, trial)
        rounds += 1
        full = not len(trial.vacant)
        better = full and trial.inner < state.inner * (1 - TOLERANCE)
        stale = 0 if better or leave else stale + 1
        if full and trial.inner < error * (1 - TOLERANCE):
            best, error = trial.chosen, trial.inner
            improvements += 1
        if better or (leave and full):
            state = trial
        if report("iterated", rounds, settings.rounds if limited else None, hunt.relative(state)):
            break
    details = {"rounds": rounds, "improvements": improvements}
    found = hunt.indices(hunt.state(best), start.indices)
    return Choice(found, path=start.path, trials=start.trials, details=details)


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
