"""Best-first search over choices: each step takes the most useful candidate in, or leaves it out.

The bounds are those of `node`; the last two picks are found at once, for all pairs, the last three
for every first of them. Whatever is cut off is cut off with a margin for rounding.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..problem import Problem
from ..runs.runner import Step, run, stopped
from ..runs.state import State
from .conditioned import Conditioned, Residuals, conditioned
from .node import Node, Powers

SLACK = 5e-10  # relative to the error: choices that are better by less are not searched for

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


class Tree(State):
    """The open nodes, the best choice so far, and what is in doubt.

    error : an upper bound of the error of the best choice. doubt : a lower bound for the choices
    whose residuals rounding hides.
    """

    def __init__(self, problem: Problem, root: Conditioned | None = None):
        self.problem = problem
        self.root = root or conditioned(problem)
        self.frobenius = problem.objective.depth == 2
        self.repeats = problem.objective.repeats
        self.total = self.root.error(self.frobenius)
        self.best: list[int] = []
        self.error = self.doubt = self.closed = np.inf
        self.nodes = 0
        self.residuals = Residuals(self.root.n)

    @property
    def cutoff(self) -> float:
        """The bound from which on a branch need not be searched."""
        return self.error * (1 - SLACK)

    def relative(self) -> float:
        """The best error as a share of the error of choosing nothing."""
        return self.error / self.total if self.total > 0 else 0.0

    def search(self) -> float:
        """A lower bound of the error over all choices; `best` holds the best one found."""
        heap = Heap(self.first())
        run("exact", self.expansions(heap), heap, self)
        return min(self.closed, self.doubt, heap.lowest)

    def expansions(self, heap: Heap) -> Iterator[Step]:
        """Expand the most promising node until none can hold a better choice."""
        while heap.lowest < self.cutoff and self.problem.time_left > 0 and not stopped():
            _, _, picks, candidates = heapq.heappop(heap.nodes)
            self.nodes += 1
            for child in self.expand(picks, np.asarray(candidates, dtype=np.int64)):
                self.push(heap, child)
            if self.nodes % (1 + len(heap.nodes) // 64) == 0:
                yield Step(self.nodes, None, self.relative)

    def first(self) -> list[Open]:
        """The root of the tree, as the heap to begin with."""
        picks = [int(j) for j in self.problem.include]
        bound = self.node(picks, self.problem.choosable).bound()
        return [(bound, 0, picks, self.problem.choosable.tolist())]

    def push(self, heap: Heap, child: Node) -> None:
        """Keep a child, unless nothing below it can be better than the best choice."""
        bound = child.bound()
        if bound >= self.cutoff:
            self.closed = min(self.closed, bound)
            return
        picks = list(child.state.picks)
        heapq.heappush(heap.nodes, (bound, heap.serial, picks, child.candidates.tolist()))
        heap.serial += 1
        self.residuals.add(picks, child.state)

    def expand(self, picks: list[int], candidates: np.ndarray) -> list[Node]:
        """The two children of a node; none when its choices could be compared at once."""
        node = self.node(picks, candidates)
        r, T = node.r, node.candidates
        if r == 0 or len(T) == 0:
            self.offer(node.state, [])
            return []
        gains = node.powers.gains()
        before = node.error - node.uncertainty - float(np.sum(node.values[: r - 1]))
        self.close(before - gains, before - gains >= self.cutoff)
        hope = before - gains < self.cutoff
        node = Node(node.state, T[hope], r, self.frobenius)
        if len(node.candidates) == 0:
            return []
        if r <= 3 or (len(node.candidates) <= 2 and not self.repeats):
            self.finish(node)
            return []
        return self.branch(node, int(np.argmax(gains[hope])))

    def close(self, bounds: np.ndarray, cut: np.ndarray) -> None:
        """Note the bounds of branches that are cut off."""
        if np.any(cut):
            self.closed = min(self.closed, float(np.min(bounds[cut])))

    def branch(self, node: Node, a: int) -> list[Node]:
        """With the candidate at place a, and without it."""
        rest = np.delete(node.candidates, a)
        state = node.state.pick(int(node.candidates[a]))
        again = node.candidates if self.repeats else rest
        children = [Node(state, self.certain(state, again, node.r - 1), node.r - 1, self.frobenius)]
        if len(rest) >= (1 if self.repeats else node.r):
            children.append(Node(node.state, rest, node.r, self.frobenius))
        return children

    def node(self, picks: list[int], candidates: np.ndarray) -> Node:
        """The node of some picks; those that others represent only count."""
        state = self.residuals.get(picks)
        unknown = 0
        if state is None:
            state, unknown = self.root.pick_all(picks)
        if unknown:
            self.unsure(state, self.problem.k - len(state.picks))
        taken = picks if self.repeats else set(picks) | set(self.problem.include)
        r = self.problem.k - len(taken)
        return Node(state, self.certain(state, candidates, r), r, self.frobenius)

    def certain(self, state: Conditioned, candidates: np.ndarray, r: int) -> np.ndarray:
        """The candidates whose residual is beyond rounding; others are noted if they matter."""
        doubtful = state.doubtful[candidates]
        for j in candidates[doubtful]:
            if not state.represented(int(j)):
                self.unsure(state, r)
                break
        return candidates[~doubtful]

    def unsure(self, state: Conditioned, r: int) -> None:
        """Note that r more picks may lead anywhere."""
        node = Node(state, np.zeros(0, dtype=np.int64), r, self.frobenius)
        self.doubt = min(self.doubt, node.tail(r))

    def finish(self, node: Node) -> None:
        """Compare all choices below a node with at most three picks left."""
        if node.r <= 2 or (len(node.candidates) <= 2 and not self.repeats):
            self.last(node, node.powers, node.error, [], node.candidates)
            return
        gains = node.powers.gains()
        order = np.argsort(-gains, kind="stable")
        powers, candidates = node.powers.ordered(order), node.candidates[order]
        bounds = node.error - node.uncertainty - gains[order] - float(np.sum(node.values[:2]))
        place = Place()
        again = int(not self.repeats)  # 0 where the first may be picked again
        ends = len(candidates) - again

        def firsts() -> Iterator[Step]:
            while place.done < ends and bounds[place.done] < self.cutoff:
                a = place.done
                left = node.error - float(gains[order[a]])
                others = candidates[a + again :]
                self.last(node, powers.after(a), left, [int(candidates[a])], others)
                place.done += 1
                yield Step(self.nodes, None, self.relative)

        if self.problem.time_left > 0 and not stopped():
            run("exact", firsts(), place, self, deadline=self.problem.deadline)
        if place.done < ends:
            self.closed = min(self.closed, float(np.min(bounds[place.done :])))

    def last(
        self,
        node: Node,
        powers: Powers,
        left: float,
        first: list[int],
        candidates: np.ndarray,
    ) -> None:
        """Compare the last pick or the last two; what bounds cannot tell apart is computed."""
        pairs = node.r - len(first) > 1 and len(candidates) > int(not self.repeats)
        gains = powers.pair_gains() if pairs else powers.gains()
        bounds = left - node.uncertainty - gains
        if pairs:
            bounds[np.tril_indices(len(candidates), -int(self.repeats))] = np.inf
        flat = bounds.reshape(-1)
        while flat[a := int(np.argmin(flat))] < self.cutoff:
            if self.problem.time_left <= 0 or stopped():
                break
            flat[a] = np.inf
            places = np.unravel_index(a, bounds.shape)
            self.offer(node.state, first + [int(candidates[i]) for i in places])
        self.closed = min(self.closed, float(flat[a]))

    def offer(self, state: Conditioned, more: list[int]) -> None:
        """Compute the error of a choice and keep it if it is better beyond rounding."""
        after, unknown = state.pick_all(more)
        E, margin = after.error(self.frobenius), after.uncertainty(self.frobenius)
        if margin >= E and after.exhausted():
            E = margin = 0.0
        lower = max(0.0, E - margin)
        if unknown:
            node = Node(after, np.zeros(0, dtype=np.int64), unknown, self.frobenius)
            lower = node.tail(unknown)
        self.closed = min(self.closed, lower)
        if E + margin < self.cutoff:
            missing = [j for j in self.problem.include if j not in state.picks]
            chosen = [*missing, *state.picks, *more]
            self.best = chosen if self.repeats else list(dict.fromkeys(chosen))
            self.error = E + margin

    def split(self, indices: np.ndarray) -> tuple[Conditioned, list[int]]:
        """A choice as what must be included and what comes after it, for `offer`."""
        state, _ = self.root.pick_all(self.problem.include)
        rest = [int(j) for j in indices]
        for j in self.problem.include:
            if j in rest:
                rest.remove(j)
        return state, rest

    def independent(self) -> list[int]:
        """The best choice without what the rest of it represents; included ones always stay."""
        if self.repeats:
            return self.best
        chosen = list(self.problem.include)
        state, _ = self.root.pick_all(chosen)
        for j in self.best:
            after, unknown = state.pick_all([j])
            if j not in chosen and (unknown or len(after.picks) > len(state.picks)):
                state, chosen = after, [*chosen, j]
        return chosen
