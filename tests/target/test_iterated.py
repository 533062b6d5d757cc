"""The iterated search for a target, round by round, against a transcription by errors alone."""

from __future__ import annotations

import numpy as np
import pytest
from landmarks.linalg.aim import Aim
from landmarks.methods.aimed.iterated import Rounds, Search, disturbed
from landmarks.methods.aimed.search import Hunt
from plain_rounds import PlainRounds

import landmarks as lm
from landmarks.errors import UnsupportedError

from .plain import least_squares, posterior

RNG = np.random.default_rng(3)
A = RNG.standard_normal((30, 14)) + RNG.standard_normal((30, 1))
B = RNG.standard_normal((30, 3)) + A[:, :3]


class PlainSearch(PlainRounds):
    """Members drawn at random are dropped; n candidates."""

    n = A.shape[1]

    def disturbed(self, state: list[int], leave: bool) -> tuple[list[int], list[int]]:
        places = self.unlocked(state)
        count = self.count(state, leave)
        dropped = {int(place) for place in self.rng.permutation(places)[:count]}
        chosen = [None if place in dropped else j for place, j in enumerate(state)]
        for place in sorted(dropped):
            rest = [j for j in range(self.n) if j not in state and j not in chosen]
            members = [j for j in chosen if j is not None]
            chosen[place] = min(rest, key=lambda j, members=members: self.error([*members, j]))
        return chosen, []

    def descended(self, state: list[int], near: list[int] | None = None) -> list[int]:
        while True:
            trials = [
                [*state[:place], j, *state[place + 1 :]]
                for place in self.unlocked(state)
                for j in range(self.n)
                if j not in state
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
    plain = PlainSearch(error, settings, np.random.default_rng(7), held)
    assert plain.run(start) == found.indices.tolist()
    assert found.details == {"rounds": 9, "improvements": plain.improvements}


@pytest.mark.parametrize(("share", "most"), [(0.15, 2), (0.5, 3), (0.7, 4), (0.9, 4)])
def test_who_leaves_a_local_optimum_drops_all_that_the_share_allows(share: float, most: int):
    hunt = Hunt(lm.Problem(lm.data(A), 5, include=(9,), aim=Aim(target=B)))
    state = hunt.state(np.array([9, 1, 4, 6, 11]))
    changed: dict[bool, set[int]] = {True: set(), False: set()}
    for seed in range(30):
        for full, seen in changed.items():
            trial = disturbed(hunt, state, share, full, np.random.default_rng(seed))
            assert 9 in trial.chosen and len(set(trial.chosen)) == 5
            seen.add(len(set(trial.chosen) - set(state.chosen)))
    assert changed[True] == {most} and changed[False] == set(range(1, most + 1))


@pytest.mark.parametrize("patience", [1, 3])
def test_a_local_optimum_is_left_when_the_patience_is_over(patience: int):
    hunt = Hunt(lm.Problem(lm.data(A), 5, aim=Aim(target=B)))
    rounds = Rounds(rounds=20, patience=patience)
    search = Search(hunt, hunt.state(np.arange(5)), rounds, np.random.default_rng(0))
    stale, errors = [], []
    for _ in search.steps():
        stale.append(search.stale)
        errors.append(search.error)
    assert search.rounds == 20 and max(stale) == patience and search.descended
    assert np.all(np.diff(errors) <= 0)
    assert search.error == pytest.approx(hunt.state(search.best).inner, rel=1e-9)


@pytest.mark.parametrize("method", [lm.Swap, lm.Iterated])
def test_swaps_on_the_frobenius_error_are_refused_for_a_target(method):
    X = np.random.default_rng(0).standard_normal((20, 6))
    with pytest.raises(UnsupportedError, match="has no target and no noise"):
        lm.select(X, 2, target=X[:, :2], method=method(criterion="frobenius"))
    assert len(lm.select(X, 2, target=X[:, :2], method=method(criterion="trace"))) == 2
