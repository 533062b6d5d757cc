"""The rounds of the iterated search by errors alone; what disturbs and descends is given."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

import landmarks as lm

Error = Callable[[Sequence[int]], float]


@dataclass
class PlainRounds(abc.ABC):
    """Members at places; the held ones stay."""

    error: Error
    settings: lm.Iterated
    rng: np.random.Generator
    held: tuple[int, ...] = ()
    improvements: int = 0
    stale: int = 0
    best: list[int] = field(default_factory=list)

    @abc.abstractmethod
    def disturbed(self, state: list[int], leave: bool) -> tuple[list[int], list[int]]:
        """Some members are exchanged for others; where to look for swaps first."""

    @abc.abstractmethod
    def elsewhere(self) -> list[int]:
        """The held members and others at random."""

    @abc.abstractmethod
    def descended(self, state: list[int], near: list[int] | None = None) -> list[int]:
        """The choice after swaps, until none pays."""

    def run(self, start: list[int]) -> list[int]:
        """The best choice of all rounds."""
        state = self.best = self.descended(start)
        for _ in range(self.settings.rounds):
            state = self.round(state)
        return self.best

    def round(self, state: list[int]) -> list[int]:
        leave = self.stale >= self.settings.patience
        if leave and len(state) <= 12:
            trial = self.descended(self.elsewhere())
        else:
            trial = self.descended(*self.disturbed(state, leave))
        better = self.lower(trial, state)
        self.stale = 0 if better or leave else self.stale + 1
        if self.lower(trial, self.best):
            self.best, self.improvements = trial, self.improvements + 1
        return trial if better or leave else state

    def lower(self, one: list[int], other: list[int]) -> bool:
        return self.error(one) < self.error(other) * (1 - 1e-9)

    def unlocked(self, state: list[int]) -> list[int]:
        """The places whose members may be exchanged."""
        return [place for place, j in enumerate(state) if j not in self.held]

    def count(self, state: list[int], leave: bool) -> int:
        """How many members a disturbance exchanges."""
        share = 0.5 if leave else self.settings.share
        most = min(len(self.unlocked(state)), max(2, int(np.ceil(share * len(state)))))
        return most if leave else int(self.rng.integers(1, most + 1))
