"""Swaps and iterated search by errors alone, with the same random numbers and no care for cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from plain_rounds import Error, PlainRounds


def errors(K: np.ndarray, criterion: str) -> Error:
    """tr C, or ‖C‖²_F, of any choice; each is computed once."""
    known: dict[frozenset[int], float] = {}

    def error(S: Sequence[int]) -> float:
        key = frozenset(S)
        if key not in known:
            S = sorted(key)
            C = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])
            known[key] = float(np.trace(C) if criterion == "trace" else np.sum(C * C))
        return known[key]

    return error


@dataclass
class PlainSearch(PlainRounds):
    """Members that are alike are dropped together; the barred ones are never chosen."""

    K: np.ndarray = field(kw_only=True)
    barred: tuple[int, ...] = ()
    swaps: int = 0

    def others(self, state: Sequence[int | None]) -> list[int]:
        return [j for j in range(len(self.K)) if j not in state and j not in self.barred]

    def disturbed(self, state: list[int], leave: bool) -> tuple[list[int], list[int]]:
        """A member and those that resemble it are dropped; where to look for swaps first."""
        unlocked = self.unlocked(state)
        count = self.count(state, leave)
        drawn = int(self.rng.choice(unlocked))
        W = np.linalg.solve(self.K[np.ix_(state, state)], self.K[state])
        W = W / np.linalg.norm(W, axis=1)[:, None]
        alike = np.abs(W @ W[drawn])
        alike[drawn] = np.inf
        order = sorted(unlocked, key=lambda place: -alike[place])
        trial: list[int | None] = list(state)
        for place in order[:count]:
            trial[place] = None
        for place in sorted(order[:count]):
            members = [j for j in trial if j is not None]
            free = [j for j in self.others(trial) if j not in state]
            trial[place] = min(free, key=lambda j, members=members: self.error([*members, j]))
        return [j for j in trial if j is not None], sorted(order[: 8 * count + 8])

    def elsewhere(self) -> list[int]:
        drawn = self.rng.permutation(self.others(self.held))
        return [*self.held, *drawn.tolist()][: len(self.best)]

    def descended(self, state: list[int], near: list[int] | None = None) -> list[int]:
        """The best swap at promising places, else near a disturbance, else anywhere."""
        promising: list[int] = []
        while True:
            found = self.swapped(state, promising)
            for places in (near or [], self.unlocked(state)):
                if found is None and (found := self.swapped(state, places)) is not None:
                    promising = found[1] if near is not None else []
            if found is None:
                return state
            state = found[0]
            self.swaps += 1

    def swapped(self, state: list[int], places: list[int]) -> tuple[list[int], list[int]] | None:
        """The choice after the best swap at these places, and the places of the largest gains."""
        gains = {
            (place, j): self.error(state) - self.error([*state[:place], j, *state[place + 1 :]])
            for place in places
            for j in self.others(state)
        }
        if not gains:
            return None
        place, j = max(gains, key=lambda pair: gains[pair])
        if gains[place, j] <= 1e-9 * self.error(state):
            return None
        largest = {p: max(gains[p, i] for i in self.others(state)) for p in places}
        ranked = sorted(places, key=lambda p: -largest[p])[: max(4, len(places) // 8)]
        return [*state[:place], j, *state[place + 1 :]], sorted(p for p in ranked if largest[p] > 0)
