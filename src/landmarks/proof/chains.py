"""The lookahead over several picks: the node with the lowest bound is divided next.

Order the candidates of a node by their bounds, the highest first; the bound of a candidate holds
for every choice that contains it. Every choice has a first member in this order, and the others
come after it. So the choices of a node are divided by their first member, and the k-th smallest
bound holds for all of them. The part with the least bound is divided next.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..problem import Problem
from ..runs.runner import Step, run
from ..runs.state import State
from .conditioned import Conditioned, Residuals
from .lookahead import tails_after
from .node import Node


class Divided(NamedTuple):
    """A node: its picks, its candidates in order, and what no choice with each of these goes below.

    free : how many of the picks to come may lead anywhere, because rounding hides where.
    """

    picks: list[int]
    order: np.ndarray
    tails: np.ndarray
    free: int


@dataclass
class Chains(State):
    """The divided nodes, and which of their parts are open.

    open : a heap of the least open bound of each node, its number and the place of the first
    member. closed : the least bound of the parts that cannot be divided.
    """

    nodes: list[Divided] = field(default_factory=list)
    open: list[tuple[float, int, int]] = field(default_factory=list)
    closed: float = np.inf

    def restored(self) -> None:
        """Nodes by name and a heap of tuples, in whatever form they were saved."""
        self.nodes = [Divided(*node) for node in self.nodes]
        self.open = [(bound, number, place) for bound, number, place in self.open]

    @property
    def lowest(self) -> float:
        """What no choice goes below."""
        return min(self.closed, self.open[0][0] if self.open else np.inf)

    def close(self, bound: float) -> None:
        """Note a bound that cannot be raised."""
        self.closed = min(self.closed, bound)

    def add(self, node: Divided, members: int) -> None:
        """Add a node with this many members still to choose; with one left it is closed."""
        place = len(node.order) - members
        if members == 1:
            self.close(float(node.tails[place]))
            return
        self.nodes.append(node)
        heapq.heappush(self.open, (float(node.tails[place]), len(self.nodes) - 1, place))

    def pop(self) -> tuple[list[int], np.ndarray, int]:
        """Picks, candidates and free picks of the part with the least bound, which is taken out."""
        _, number, place = heapq.heappop(self.open)
        node = self.nodes[number]
        if place > 0:
            entry = (float(node.tails[place - 1]), number, place - 1)
            heapq.heappush(self.open, entry)
        return [*node.picks, int(node.order[place])], node.order[place + 1 :], node.free


def look_further(problem: Problem, root: Conditioned, r: int, error: float) -> tuple[float, int]:
    """A bound for all choices of r candidates after the root, and how many nodes were divided.

    It ends at the deadline, or when the bound reaches the error of a known choice.
    """
    chains = Chains()
    divide(chains, Node(root, problem.free, r, problem.objective.depth == 2), 0)
    run("lookahead", divisions(chains, problem, root, r, error), chains, deadline=problem.deadline)
    return chains.lowest, len(chains.nodes)


def divisions(
    chains: Chains, problem: Problem, root: Conditioned, r: int, error: float
) -> Iterator[Step]:
    """One node at a step."""
    residuals, frobenius = Residuals(root.n), problem.objective.depth == 2
    last = r + len(root.picks)
    while chains.open and chains.lowest < min(error, chains.closed):
        picks, candidates, free = chains.pop()
        before = residuals.get(picks[:-1]) or root.pick_all(picks[:-1])[0]
        state = before.pick(picks[-1])
        residuals.add(picks, state)
        divide(chains, Node(state, candidates, last - len(state.picks), frobenius), free)
        yield Step(len(chains.nodes))


def divide(chains: Chains, node: Node, free: int) -> None:
    """Divide the choices of a node by their first member; free : the picks that lead anywhere.

    Candidates that rounding hides are not divided by. A choice with some of them has that many more
    free picks. What the picks represent adds nothing, so choices without it are as good.
    """
    state, r = node.state, node.r
    doubtful = state.doubtful[node.candidates]
    hidden = sum(not state.represented(int(j)) for j in node.candidates[doubtful])
    candidates = node.candidates[~doubtful]
    most = min(free + hidden, r)
    node = replace(node, candidates=candidates, r=min(r, len(candidates) + most))
    if len(candidates) > 0 and node.r > 0:
        tails = tails_after(node)
        order = np.argsort(-tails, kind="stable")
        divided = Divided(list(state.picks), candidates[order], tails[order], free)
    for count in range(free, most + 1):
        members = min(r - count, len(candidates))
        if members == 0:
            chains.close(node.tail(members + count))
        else:
            chains.add(divided._replace(free=count), members)
