"""The iterated search for a target, round by round, against a transcription by errors alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import landmarks as lm
from landmarks.linalg.aim import Aim

from .plain import Error, least_squares, posterior

RNG = np.random.default_rng(3)
A = RNG.standard_normal((30, 14)) + RNG.standard_normal((30, 1))
B = RNG.standard_normal((30, 3)) + A[:, :3]


@dataclass
class PlainSearch:
    """Members at places; `held` of them stay, the others may be dropped and swapped."""

    error: Error
    n: int
    k: int
    settings: lm.Iterated
    rng: np.random.Generator
    held: tuple[int, ...] = ()
    improvements: int = 0
    stale: int = 0
    best: list[int] = field(default_factory=list)

    def run(self, start: list[int], rounds: int) -> list[int]:
        state = self.descended(start)
        self.best = state
        for _ in range(rounds):
            state = self.round(state)
        return self.best

    def round(self, state: list[int]) -> list[int]:
        leave = self.stale >= self.settings.patience
        trial = self.descended(self.disturbed(state, leave))
        better = self.lower(trial, state)
        self.stale = 0 if better or leave else self.stale + 1
        if self.lower(trial, self.best):
            self.best, self.improvements = trial, self.improvements + 1
        return trial if better or leave else state

    def lower(self, one: list[int], other: list[int]) -> bool:
        return self.error(one) < self.error(other) * (1 - 1e-9)

    def disturbed(self, state: list[int], leave: bool) -> list[int]:
        places = [place for place, j in enumerate(state) if j not in self.held]
        share = 0.5 if leave else self.settings.share
        most = min(len(places), max(2, int(np.ceil(share * self.k))))
        count = most if leave else int(self.rng.integers(1, most + 1))
        dropped = {int(place) for place in self.rng.permutation(places)[:count]}
        chosen = [None if place in dropped else j for place, j in enumerate(state)]
        for place in sorted(dropped):
            rest = [j for j in range(self.n) if j not in state and j not in chosen]
            members = [j for j in chosen if j is not None]
            chosen[place] = min(rest, key=lambda j, members=members: self.error([*members, j]))
        return chosen

    def descended(self, state: list[int]) -> list[int]:
        while True:
            trials = [
                [*state[:place], j, *state[place + 1 :]]
                for place in range(self.k)
                for j in range(self.n)
                if j not in state and state[place] not in self.held
            ]
            found = min(trials, key=self.error)
            if not self.lower(found, state):
                return state
            state = found


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("held", [(), (9,)])
@pytest.mark.parametrize("share", [0.15, 0.9])
def test_the_rounds_are_those_of_a_plain_search(noisy: bool, held: tuple[int, ...], share: float):
    settings = lm.Iterated(start="greedy", rounds=9, share=share, patience=2)
    operator = lm.data(A)
    scale = 2.0**operator.exponent
    noise = np.linspace(0.5, 2.0, 14)
    aim = Aim(noise=noise / scale) if noisy else Aim(target=B / np.sqrt(scale))
    error = posterior(A.T @ A, noise) if noisy else least_squares(A, B)
    problem = lm.Problem(operator, 5, include=held, aim=aim)
    start = lm.Greedy().choose(problem, np.random.default_rng(0)).indices.tolist()
    found = settings.choose(problem, np.random.default_rng(7))
    plain = PlainSearch(error, 14, 5, settings, np.random.default_rng(7), held)
    assert plain.run(start, 9) == found.indices.tolist()
    assert found.details == {"rounds": 9, "improvements": plain.improvements}
