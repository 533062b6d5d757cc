"""The open nodes of the exact search, and the residuals that are remembered for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runs.state import State
from .conditioned import Conditioned

STATES = 2**28  # bytes of residuals that are remembered with the open nodes

Open = tuple[float, int, list[int], list[int]]  # bound, number, picks, candidates


@dataclass
class Heap(State):
    """The open nodes, the one of the lowest bound first, and how many there ever were."""

    nodes: list[Open]
    serial: int = 1

    @property
    def lowest(self) -> float:
        """The lowest bound of an open node."""
        return self.nodes[0][0] if self.nodes else np.inf


@dataclass
class Place(State):
    """How many of the first candidates of a triple are done."""

    done: int = 0


class Residuals:
    """The residuals of open nodes, as many as fit; others are computed again."""

    def __init__(self, order: int):
        self.most = STATES // (16 * order**2)
        self.known: dict[tuple[int, ...], Conditioned] = {}

    def get(self, picks: list[int]) -> Conditioned | None:
        """The residual of some picks, if it is known."""
        return self.known.get(tuple(picks))

    def add(self, picks: list[int], state: Conditioned) -> None:
        """Remember a residual; when there are too many, forget the others."""
        if len(self.known) > self.most:
            self.known.clear()
        self.known[tuple(picks)] = state
