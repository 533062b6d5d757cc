"""The exact search: choices are divided by their first member, and small parts are counted.

Order the candidates of a node by their bounds, the highest first; the bound of a candidate holds
for every choice that contains it (`lookahead`). Every choice has a first member in this order, and
the others come after it. So the choices of a node are divided by their first member, and the r-th
smallest bound holds for all of them. The part with the least bound is divided next, unless it has
so few choices that all of them can be looked at (`counting`). Whatever is left out is left out with
a margin for rounding; choices that the margin cannot tell from the best are computed in 106 bits.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from ..allowed import Allowed
from ..linalg.dependence import dependent
from ..problem import Problem, complete
from ..runs.runner import Step, run, stopped
from ..runs.state import State
from .conditioned import Conditioned, conditioned
from .counting import LISTED, SURE, Found, Limits, choices, counted, counting_seconds
from .lookahead import tails_after
from .node import Node

SLACK = 5e-10  # relative to the error: choices that are better by less are not searched for
PART = 1.0  # estimated seconds of a part that is counted
QUICK = 0.05  # up to so many it is not worth a thread
WATCHED = 0.05  # seconds between two looks at the clock while parts are counted
TOGETHER = 32  # parts that are counted at the same time, on any number of cores
NEAR = 1e-9  # 1 − r² of two columns that may be exactly proportional
FEW = 1000  # choices that are all looked at, even if rounding hides a proof
STATES = 2**28  # bytes for residuals that are kept


class Divided(NamedTuple):
    """A node: its picks, its candidates in order, and what no choice with each of these goes below.

    Picks and candidates are units, see `allowed`. free : how many of the picks to come may lead
    anywhere, because rounding hides where.
    """

    picks: list[int]
    order: np.ndarray
    tails: np.ndarray
    free: int


@dataclass
class Parts(State):
    """The divided nodes, and which of their parts are open.

    open : a heap of the least open bound of each node, its number and the place of the first
    member, −1 for all of its choices. closed : the least bound of the parts that are done.
    looked_at : how many choices were looked at or cannot be better. visited : how many parts were
    divided or counted, and how many choices computed in 106 bits.
    """

    nodes: list[Divided] = field(default_factory=list)
    open: list[tuple[float, int, int]] = field(default_factory=list)
    closed: float = np.inf
    looked_at: float = 0.0
    visited: int = 0

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

    def push(self, bound: float, node: Divided, place: int = -1) -> None:
        """Open a node: all of its choices, or those that begin at a place or before it."""
        self.nodes.append(node)
        heapq.heappush(self.open, (bound, len(self.nodes) - 1, place))

    def pop(self, again: bool) -> tuple[float, list[int], np.ndarray, int]:
        """Bound, picks, candidates and free picks of the part with the least bound."""
        bound, number, place = heapq.heappop(self.open)
        node = self.nodes[number]
        if place < 0:
            return bound, node.picks, node.order, node.free
        if place > 0:
            heapq.heappush(self.open, (float(node.tails[place - 1]), number, place - 1))
        rest = node.order[place + int(not again) :]
        return bound, [*node.picks, int(node.order[place])], rest, node.free


class Leaf(NamedTuple):
    """A node whose choices are counted: what they are measured from."""

    bound: float
    picks: list[int]
    node: Node
    units: np.ndarray
    sizes: np.ndarray
    r: int


class Search(State):
    """The best choice so far, and what is known of all others.

    best : its units, without those that are included. error : an upper bound of its error.
    listed : with `within`, every choice that may be within it; full : whether there are too many.

    within : list the choices whose error is at most by this share above that of the best, for log
        determinants by so many nats, and not only the best.
    effort : the parts and choices that it may visit, see `Parts.visited`.
    """

    def __init__(
        self,
        problem: Problem,
        root: Conditioned | None = None,
        within: float | None = None,
        effort: float = np.inf,
    ):
        self.problem, self.allowed = problem, problem.allowed
        self.root = root or conditioned(problem)
        self.depth, self.repeats = problem.objective.depth, problem.objective.repeats
        self.within, self.effort = within, effort
        self.start, self.unknown = self.root.pick_all(problem.include)
        fixed = 0 if self.repeats and self.allowed.single else len(self.allowed.fixed)
        self.r = self.allowed.most - (len(problem.include) if self.repeats else fixed)
        self.best: list[int] = []
        self.found = False
        self.error = np.inf
        self.listed: list[list[int]] = []
        self.full = False
        self.parts = Parts()
        most = max(1, STATES // (16 * self.root.n**2))  # others are computed again
        self._known = lru_cache(most)(partial(after_units, self.start, self.allowed))

    def begin(self, indices: np.ndarray) -> None:
        """Offer a choice of columns, as the first that others must beat."""
        fixed = list(self.problem.include if self.repeats else self.allowed.fixed)
        units = [int(unit) for unit in self.allowed.unit_of[np.asarray(indices, dtype=np.int64)]]
        units = units if self.repeats else list(dict.fromkeys(units))
        for unit in fixed:
            if unit in units:
                units.remove(unit)
        self.offer(units)

    def indices(self, start: np.ndarray) -> np.ndarray:
        """The columns of the best choice; of the start if none was found."""
        problem, allowed = self.problem, self.allowed
        if not self.found:
            return start
        if allowed.single and allowed.sized and not allowed.constraints:
            return complete(problem, self._independent())
        if not allowed.sized:
            return np.asarray(self._independent(), dtype=np.int64)
        return self.columns(tuple(self.best))

    def columns(self, units: tuple[int, ...]) -> np.ndarray:
        """The columns of a choice, those that are included first."""
        included = np.asarray(self.problem.include, dtype=np.int64)
        return np.append(included, self.allowed.columns(units)).astype(np.int64)

    def error_of(self, units: tuple[int, ...]) -> tuple[float, float]:
        """The error of a choice of units and what is included, and how much it may be off."""
        state, unknown = after_units(self.start, self.allowed, units)
        return (np.inf, 0.0) if unknown else self._measured(state)

    def _measured(self, state: Conditioned) -> tuple[float, float]:
        """The error of picks and how much it may be off; nothing is left if all is represented."""
        E, margin = state.error(self.depth), state.uncertainty(self.depth)
        return (0.0, 0.0) if self.depth and margin >= E and state.exhausted() else (E, margin)

    def _independent(self) -> list[int]:
        """The best choice without units that the rest of it represents; included ones stay."""
        included = [int(j) for j in self.problem.include]
        if self.repeats:
            return [*included, *self.best]
        state, chosen = self.start, included
        for unit in self.best:
            members = self.allowed.members[unit]
            after, unknown = state.pick_all(members)
            if unknown or len(after.picks) > len(state.picks):
                state, chosen = after, [*chosen, *(int(j) for j in members)]
        return chosen

    def in_units(self, bound: float, error: float) -> float:
        """A bound beside the error of the best choice as the objective has it."""
        return bound if self.depth else error - (self.error - bound) - SURE

    @property
    def cutoff(self) -> float:
        """The error from which on a choice need not be found."""
        if self.within is None:
            if self.depth == 0:
                return self.error - SURE
            return self.error * (1 - SLACK)
        if self.depth == 0:
            return self.error + self.within + SURE
        return self.error * (1 + self.within) * (1 + 1e-9)

    @property
    def every(self) -> bool:
        """Whether choices with columns that add nothing count as well."""
        allowed = self.allowed
        places = bool(allowed.constraints) or not allowed.single
        return self.within is not None or places

    @property
    def tired(self) -> bool:
        """Whether it has visited as many parts and choices as it may."""
        return self.parts.visited >= self.effort

    @property
    def nodes(self) -> int:
        """How many nodes were made."""
        return len(self.parts.nodes)

    def relative(self) -> float | None:
        """The best error as a share of the error of choosing nothing."""
        total = self.root.error(self.depth)
        return self.error / total if self.depth and total > 0 else None

    def search(self, name: str = "exact", until: float = np.inf) -> float:
        """A lower bound of the error over all choices; `best` holds the best one found.

        until : a bound at which to stop.
        """
        units = np.flatnonzero(self.allowed.open)
        if not self.repeats:
            units = np.setdiff1d(units, self.allowed.fixed)
        units = self._separate(units)
        columns = self.allowed.columns(units)
        node = Node(self.start, columns, self._columns(self._sizes(units), self.r), self.depth)
        hidden = self.unknown
        bound = self._anywhere(self.start, node.r + hidden) if hidden else node.bound()
        self._open(bound, [], units, hidden)
        run(name, self._steps(until), self, deadline=self.problem.deadline)
        return self.parts.lowest

    def _steps(self, until: float) -> Iterator[Step]:
        """Take the parts of the least bounds until none can hold a better choice."""
        parts = self.parts
        whole = self._choices(len(parts.nodes[0].order), self.r) if parts.nodes else 1.0
        onward = self.within is not None or whole <= FEW  # also once the proof is lost
        with ThreadPoolExecutor(min(os.cpu_count() or 1, TOGETHER)) as pool:
            while parts.open and not self.full:
                limit = self.cutoff if onward else min(self.cutoff, parts.closed)
                if parts.open[0][0] >= min(limit, until):
                    return
                if self.problem.time_left <= 0 or stopped() or self.tired:
                    return
                leaves: list[Leaf] = []
                for _ in range(TOGETHER):
                    if parts.open and parts.open[0][0] < self.cutoff:
                        parts.visited += 1
                        leaf = self._visit(*parts.pop(self.repeats))
                        leaves += [] if leaf is None else [leaf]
                cutoff = self.cutoff
                for leaf, found in zip(leaves, self._counts(pool, leaves), strict=True):
                    self._take(leaf, found, cutoff)
                if whole < 1e15:
                    yield Step(int(min(parts.looked_at, whole)), int(whole), self.relative)
                else:
                    yield Step(len(parts.nodes), None, self.relative)

    def _counts(self, pool: ThreadPoolExecutor, leaves: list[Leaf]) -> list[Found | None]:
        """Count some nodes, as long as there is time, by the same error for all of them."""
        stop = np.zeros(1, dtype=np.int64)
        count = partial(self._count, cutoff=self.cutoff, stop=stop)
        if len(leaves) == 1 and self._seconds(len(leaves[0].units), leaves[0].r) <= QUICK:
            return [count(leaves[0])]
        running = [pool.submit(count, leaf) for leaf in leaves]
        try:
            while wait(running, timeout=WATCHED).not_done:
                if self.problem.time_left <= 0 or stopped():
                    stop[0] = 1
        except BaseException:
            stop[0] = 1
            raise
        return [future.result() for future in running]

    def _choices(self, n: int, r: int) -> float:
        """How many choices a part has, at most."""
        sizes = [r] if self.allowed.sized else range(r + 1)
        return float(sum(min(choices(n, size, self.repeats), 10**30) for size in sizes))

    def _seconds(self, n: int, r: int) -> float:
        sizes = [r] if self.allowed.sized else range(r + 1)
        return sum(counting_seconds(n, size, self.depth, self.repeats) for size in sizes)

    def _open(self, bound: float, picks: list[int], units: np.ndarray, free: int) -> None:
        """Open a node of which nothing is known but a bound."""
        self.parts.push(bound, Divided(picks, units, np.zeros(0), free))

    def _visit(self, bound: float, picks: list[int], units: np.ndarray, free: int) -> Leaf | None:
        """Divide a node, or give it back to be counted."""
        allowed = self.allowed
        state, unknown = self._after(picks)
        if unknown and not allowed.single:
            self._end(state, picks, self._columns(self._sizes(units), self.r) + unknown)
            return None
        if unknown:  # picks that rounding hides may lead anywhere
            known = [unit for unit in picks if unit in state.picks]
            free += len(picks) - len(known)
            picks = known
        r = self.r + self.unknown - len(picks)
        open_to = allowed.addable(np.asarray(picks, dtype=np.int64))
        units = units[open_to[units]]
        if not allowed.sized and len(units):
            money = allowed.left(np.asarray(picks, dtype=np.int64))[1]
            cheapest = float(np.min(allowed.costs[units]))
            r = min(r, len(units), int(money / cheapest) if cheapest > 0 else r)
        if not allowed.sized:
            self.offer(picks)
        if r == 0 or len(units) == 0 or (self.every and self._short(len(units), r)):
            if r == 0 or not self.every:
                self._end(state, picks, free)
            return None
        hidden, spare, kept = self._told_apart(state, units)
        if self.every and self.depth:
            for place, unit in enumerate(spare):
                rest = np.concatenate([spare[place + int(not self.repeats) :], kept])
                self._open(bound, [*picks, int(unit)], rest, free)
        elif self._short(len(kept) + free + hidden, r):
            r = len(kept) + free + hidden
        if len(kept) == 0 and free + hidden == 0:
            if not self.every:
                self._end(state, picks, free)
            return None
        if self.every and self._short(len(kept) + hidden + free, r):
            return None
        sizes = np.array([len(members) for members in self._members(state, kept)], dtype=np.int64)
        if free + hidden == 0:
            columns = np.concatenate(self._members(state, kept))
            node = Node(state, columns, self._columns(sizes, r), self.depth)
            if r == 1 or self._seconds(len(kept), r) <= PART:
                return Leaf(bound, picks, node, kept, sizes, r)
        self._divide(state, picks, kept, r, free, hidden)
        return None

    def _short(self, candidates: int, r: int) -> bool:
        """Whether there are too few candidates for r picks; any number suffices for repeats."""
        return self.allowed.sized and candidates < (min(r, 1) if self.repeats else r)

    def _count(self, leaf: Leaf, cutoff: float, stop: np.ndarray) -> Found | None:
        """Count the choices of a node; None if they must be divided further."""
        node, margin = leaf.node, leaf.node.uncertainty
        limits = Limits.of(self.allowed, leaf.picks, leaf.units)
        if limits is None and leaf.r > 1:
            return None
        sums = np.append(0.0, np.cumsum(node.values))
        if self.depth and self.repeats:
            sums = np.minimum(sums, node.powers.top * np.arange(len(sums)))
        sums = sums + 1e-12 * np.abs(sums)
        return counted(
            node.powers,
            leaf.sizes,
            leaf.r,
            self.depth,
            sums,
            node.error - cutoff - margin,
            2 * margin,
            limits or Limits(),
            sized=self.allowed.sized,
            tighten=self.within is None,
            stop=stop,
        )

    def _take(self, leaf: Leaf, found: Found | None, cutoff: float) -> None:
        """Take in what was counted; divide what could not be counted."""
        if found is not None and found.full and (self.problem.time_left <= 0 or stopped()):
            self._open(leaf.bound, leaf.picks, leaf.units, 0)
            return
        if found is None or (found.full and leaf.r > 1):
            self._divide(leaf.node.state, leaf.picks, leaf.units, leaf.r, 0, 0)
            return
        if found.full:
            self.parts.close(leaf.bound)
            return
        node = leaf.node
        ranked = sorted(zip(found.uppers, found.rows, strict=True), key=lambda pair: -pair[0])
        for upper, row in ranked:
            if self.tired:
                self._open(leaf.bound, leaf.picks, leaf.units, 0)
                return
            if node.error - upper - node.uncertainty < self.cutoff:
                self.parts.visited += 1
                self.offer([*leaf.picks, *(int(leaf.units[i]) for i in row)])
        margin = node.uncertainty
        raised = found.threshold > node.error - cutoff - margin
        self.parts.close(node.error - found.threshold - margin if raised else cutoff)
        for row, rest in found.back:
            picks = [*leaf.picks, *(int(leaf.units[i]) for i in row)]
            self._open(leaf.bound, picks, leaf.units[rest], 0)
        self.parts.looked_at += self._choices(len(leaf.units), leaf.r)

    def _divide(
        self, state: Conditioned, picks: list[int], kept: np.ndarray, r: int, free: int, hidden: int
    ) -> None:
        """Divide the choices of a node by their first member.

        Candidates that rounding hides are not divided by. A choice with some of them has that many
        more free picks.
        """
        members = self._members(state, kept)
        sizes = np.array([len(columns) for columns in members], dtype=np.int64)
        largest = int(np.max(sizes, initial=1))
        whole = Node(state, np.concatenate([np.zeros(0, np.int64), *members]), r, self.depth)
        tails = np.zeros(0)
        if len(kept) and largest == 1:
            whole = replace(whole, r=self._columns(sizes, r))
            tails = tails_after(whole)
            if not free and not hidden and not self.repeats:
                tails = np.maximum(tails, whole.bound())
        elif len(kept):
            rest = self._columns(sizes, r - 1)
            after = [state.pick_all(columns) for columns in members]
            tails = np.array([self._anywhere(found, rest + unknown) for found, unknown in after])
        order = np.argsort(-tails, kind="stable")
        divided = Divided(picks, kept[order], tails[order], free)
        most = min(free + hidden, r)
        if most and self.depth == 0:  # what rounding hides may have the largest pivot
            self.parts.close(self._anywhere(state, r))
            most = -1 if free else 0
        for count in range(free, most + 1):
            more = r - count
            if not self.allowed.sized or self.repeats:
                more = min(more, 1)
            if more == 0 or len(kept) == 0:
                self.parts.close(whole.tail(r * largest))
            elif more <= len(kept):
                node = divided._replace(free=count)
                place = len(kept) - more
                if r - count == 1 and count > 0:  # free picks lead anywhere: no bound is higher
                    self.parts.close(float(node.tails[place]))
                else:
                    self.parts.push(float(node.tails[place]), node, place)

    def _anywhere(self, state: Conditioned, picks: int) -> float:
        """What no choice with so many more picks goes below, wherever these lead."""
        return Node(state, np.zeros(0, np.int64), picks, self.depth).tail(picks)

    def _sizes(self, units: np.ndarray) -> np.ndarray:
        """How many columns each unit has."""
        return np.array([len(self.allowed.members[int(unit)]) for unit in units], dtype=np.int64)

    def _columns(self, sizes: np.ndarray, r: int) -> int:
        """The most columns of r units."""
        if self.repeats:
            return r
        return int(np.sum(np.sort(sizes)[::-1][:r]))

    def _members(self, state: Conditioned, units: np.ndarray) -> list[np.ndarray]:
        """The columns of units; of several columns those that the picks do not represent."""
        members = [self.allowed.members[int(unit)] for unit in units]
        return [
            columns if len(columns) == 1 else self._fresh(state, columns) for columns in members
        ]

    def _fresh(self, state: Conditioned, columns: np.ndarray) -> np.ndarray:
        """The columns of a unit without those that others of it represent, if that is certain."""
        left: list[int] = []
        for j in columns:
            if not state.doubtful[j]:
                left.append(int(j))
                state = state.pick(int(j))
            elif not state.represented(int(j)):
                left.append(int(j))
        return np.asarray(left, dtype=np.int64)

    def _told_apart(
        self, state: Conditioned, units: np.ndarray
    ) -> tuple[int, np.ndarray, np.ndarray]:
        """How many columns rounding hides, units that add nothing, and the others."""
        hidden, spare, kept = 0, list[int](), list[int]()
        doubtful = state.doubtful
        for unit in units:
            columns = self.allowed.members[int(unit)]
            if len(columns) == 1:
                dark = bool(doubtful[columns[0]])
                if dark and not state.represented(int(columns[0])):
                    hidden += 1
                else:
                    (spare if dark else kept).append(int(unit))
            else:
                after, unknown = state.pick_all(columns)
                if unknown:
                    hidden += len(columns)
                elif len(after.picks) == len(state.picks):
                    spare.append(int(unit))
                else:
                    kept.append(int(unit))
        return hidden, np.asarray(spare, dtype=np.int64), np.asarray(kept, dtype=np.int64)

    def _after(self, picks: list[int]) -> tuple[Conditioned, int]:
        """The residual of what is included and some units, and how many were in doubt."""
        if not picks:
            return self.start, 0
        before, unknown = self._known(tuple(picks[:-1]))
        if unknown:
            return after_units(self.start, self.allowed, picks)
        return before.pick_all(self.allowed.members[picks[-1]])

    def _separate(self, units: np.ndarray) -> np.ndarray:
        """The units without columns that are multiples of others, as exact numbers."""
        state = self.start
        if self.every or state.pair.noise is not None or not self.allowed.sized:
            return units
        left = units[~state.doubtful[units]]
        lengths = np.sqrt(state.diagonal[left])
        cosines = state.matrix[np.ix_(left, left)] / lengths[:, None] / lengths
        alike = 1 - cosines**2 <= NEAR
        if np.sum(alike) == len(left):
            return units
        dropped: set[int] = set()
        for i, j in enumerate(left):
            others = [
                int(left[o]) for o in np.flatnonzero(alike[i, :i]) if int(left[o]) not in dropped
            ]
            if any(dependent(state.columns[:, [*state.picks, o, int(j)]]) for o in others):
                dropped.add(int(j))
        return np.asarray([j for j in units if int(j) not in dropped], dtype=np.int64)

    def _end(self, state: Conditioned, picks: list[int], free: int) -> None:
        """A node without candidates: its own choice, or whatever free picks may lead to."""
        if free:
            self.parts.close(self._anywhere(state, free))
        self.offer(picks)

    def offer(self, units: list[int]) -> None:
        """Compute the error of a choice and keep it if it is better beyond rounding."""
        state, unknown = after_units(self.start, self.allowed, units)
        E, margin = self._measured(state)
        lower = E - margin if self.depth == 0 else max(0.0, E - margin)
        if unknown:
            lower = self._anywhere(state, unknown)
        members = self.allowed.columns(np.asarray(units, dtype=np.int64))
        if self.depth == 0 and len(state.picks) < len(self.problem.include) + len(members):
            if unknown:
                self.parts.close(lower)
            return  # a column that adds nothing: the determinant is zero
        if self.within is None or unknown:
            self.parts.close(lower)
        elif lower <= self.cutoff:
            self.listed.append([int(u) for u in units])
            self.full = self.full or len(self.listed) > LISTED
        if E + margin < (self.cutoff if self.within is None else self.error):
            self.best, self.error, self.found = [int(u) for u in units], E + margin, True


def after_units(
    start: Conditioned, allowed: Allowed, units: Sequence[int]
) -> tuple[Conditioned, int]:
    """The residual after choosing some units, and how many columns were in doubt."""
    return start.pick_all(allowed.columns(np.asarray(units, dtype=np.int64)))
