"""Branch and bound for the log determinant: maximum-entropy sampling, D-optimal designs.

A node has picks, which are in, and candidates that are left; all others are out. Conditioning on
the picks gives a smaller problem of the same kind, whose bound comes from the relaxation that was
the lowest at the root (`linalg.volumes`), with its scaling. Each bound is a plane, and its reduced
costs fix further candidates. The node with the highest bound is divided first, at the candidate
whose weight is nearest to one half. Where few enough choices are left they are counted in C.

The matrix of the root is not below the true one in the order of semidefinite matrices, however it
was rounded; each node is computed from it, and what rounding may hide is added to its diagonal. So
every bound holds for the numbers that were given.

Ko, Lee and Queyranne, Operations Research 43 (1995); Anstreicher, Operations Research 68 (2020).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..linalg.volumes import EPS, Solved, ascended, lowest
from ..problem import Choice, Problem
from ..runs.runner import cut_short, report, stopped
from .conditioned import conditioned
from .counting import DEEPEST, SURE, Limits, counted, counting_seconds
from .node import Powers
from .search import Search

AT_ONCE = 1.0  # estimated seconds up to which all choices are counted
LARGEST = 400  # candidates up to which there is a search
COUNTED = 200_000  # choices that are counted rather than bounded
ROUNDS = 30  # quasi-Newton steps for the scaling at the root
STEPS = 25  # of the ascent at a node
FIXES = 4  # times that a node is bounded again after candidates were fixed


class Node(NamedTuple):
    """A part of the choices, and where the ascent for its bound may begin."""

    bound: float
    picks: np.ndarray
    left: np.ndarray
    x: np.ndarray


class Residual(NamedTuple):
    """What is left of a matrix after some picks: at least its Schur complement, and log det."""

    matrix: np.ndarray
    volume: float
    spread: np.ndarray

    @property
    def safe(self) -> np.ndarray:
        """No smaller than the true residual."""
        n = len(self.matrix)
        return self.matrix + np.diag(n * self.spread**2)


def after(M: np.ndarray, picks: np.ndarray, left: np.ndarray) -> Residual:
    """The residual of a matrix: for any coefficients β it is at most [−β; I]ᵀ M [−β; I]."""
    own, d = M[np.ix_(left, left)], np.sqrt(np.diagonal(M))
    unit = np.sqrt(2 * (len(M) + 8) * EPS)  # of products of order n, for each of two factors
    if len(picks) == 0:
        return Residual(own, 0.0, unit * d[left])
    L = np.linalg.cholesky(M[np.ix_(picks, picks)])
    inverse = np.linalg.inv(L)
    W = inverse @ M[np.ix_(picks, left)]
    beta = inverse.T @ W
    across = M[np.ix_(left, picks)] @ beta
    C = own - across - across.T + beta.T @ M[np.ix_(picks, picks)] @ beta
    grown = float(np.sum(d[picks] * np.linalg.norm(inverse, axis=0))) ** 2
    volume = 2 * float(np.sum(np.log(np.diagonal(L)))) + 4 * (len(picks) + 8) * EPS * grown
    return Residual((C + C.T) / 2, volume, unit * (d[left] + np.abs(beta).T @ d[picks]))


@dataclass
class Largest:
    """The search for the choice of the largest log determinant.

    worth : what a choice of all k adds to the log determinant of what is included.
    """

    problem: Problem
    worth: Callable[[np.ndarray], float]
    best: np.ndarray
    nodes: int = 0
    doubt: float = -math.inf

    def __post_init__(self) -> None:
        state, unknown = conditioned(self.problem).pick_all(self.problem.include)
        free = self.problem.choosable
        self.free = free[~state.doubtful[free]]
        self.r = self.problem.k - len(self.problem.include)
        noise = 0.0 if state.pair.noise is None else state.pair.noise[self.free]
        spread, n = state.spread[self.free], len(self.free)
        own = np.diagonal(state.matrix)[self.free] + noise
        self.known = not unknown and n >= self.r >= 1
        self.matrix = state.matrix[np.ix_(self.free, self.free)].copy()
        self.matrix[np.diag_indices(n)] = own + n * (state.omega * spread**2 + 4 * EPS * own)
        self.value = self.worth(self.best)

    def until(self) -> bool:
        return self.problem.time_left <= 0 or stopped()

    def root(self, rounds: int = 0, enough: float | None = None) -> Solved:
        """The lowest bound on what all choices add."""
        enough = self.value + SURE if enough is None else enough
        if self.problem.objective.repeats:  # the noise is the unit of the pair
            noise = np.asarray(self.problem.pair.noise)[self.free]
            t, most = float(noise[0]), self.r
            return lowest(self.matrix, self.r, t=t, most=most, enough=enough, until=self.until)
        return lowest(self.matrix, self.r, rounds=rounds, enough=enough, until=self.until)

    def search(self, solved: Solved) -> Iterator[float]:
        """Divide until nothing is open; yields what no choice adds more than, at every node."""
        self.relaxation = solved.relaxation
        everything = np.arange(len(self.free))
        none = np.zeros(0, dtype=np.int64)
        heap: list[tuple[float, int, Node]] = []
        self._open(heap, Node(solved.bound, none, everything, solved.x))
        while heap:
            highest = -heap[0][0]
            yield max(highest, self.doubt, self.value + SURE)
            if highest <= self.value + SURE:
                break
            node = heapq.heappop(heap)[2]
            j = int(np.argmin(np.abs(node.x - 0.5)))
            rest = np.delete(node.left, j)
            start = np.delete(node.x, j)
            self._open(
                heap, node._replace(picks=np.append(node.picks, node.left[j]), left=rest, x=start)
            )
            self._open(heap, node._replace(left=rest, x=start))
            report("exact", self.nodes, None)
        yield max(self.doubt, self.value + SURE)

    def _open(self, heap: list[tuple[float, int, Node]], node: Node) -> None:
        found = self._bounded(node)
        if found is not None:
            heapq.heappush(heap, (-found.bound, -self.nodes, found))

    def _bounded(self, node: Node) -> Node | None:
        """The node with its bound, less what reduced costs fix; None where nothing is left."""
        for again in range(FIXES):
            r = self.r - len(node.picks)
            if r == 0 or len(node.left) <= r:
                if len(node.left) >= r:
                    self._offer(np.append(node.picks, node.left[:r]))
                return None
            self.nodes += 1
            residual = after(self.matrix, node.picks, node.left)
            if math.comb(len(node.left), r) <= COUNTED and r <= DEEPEST:
                if not self._counted(node, residual, r):
                    self.doubt = max(self.doubt, node.bound)
                return None
            aim = self.value + SURE - residual.volume
            relaxation = self.relaxation.on(residual.safe, r, node.left)
            start = np.clip(node.x, 0.01, 0.99)
            start = np.clip(start + (r - np.sum(start)) / len(start), 0, 1)
            try:
                solved = ascended(relaxation, start, r, steps=STEPS, enough=aim)
            except np.linalg.LinAlgError:
                return node
            node = node._replace(bound=min(node.bound, residual.volume + solved.bound), x=solved.x)
            if node.bound <= self.value + SURE:
                return None
            ins, outs = solved.plane.fixed(r, aim)
            if again == FIXES - 1 or not np.any(ins | outs):
                return node
            kept = ~(ins | outs)
            picks = np.append(node.picks, node.left[ins])
            node = node._replace(picks=picks, left=node.left[kept], x=node.x[kept])
        return node

    def _counted(self, node: Node, residual: Residual, r: int) -> bool:
        """Look at all choices of a node; whether that could be done."""
        C, n = residual.matrix, len(node.left)
        c = np.diagonal(C)
        if not np.all(c > 0):
            return False
        if r == 1:
            j = int(np.argmax(c))
            self._offer(np.append(node.picks, node.left[j]))
            return float(np.max(np.log(c))) + residual.volume <= self.value + 2 * SURE
        rounding = residual.spread**2 / c
        top = float(np.log(np.max(c)))
        powers = Powers(C, C, None, c, rounding, top, np.zeros(n))
        logs = np.sort(np.log(c))[::-1]  # no determinant is above the product of these
        found = counted(
            powers,
            np.ones(n, dtype=np.int64),
            r,
            0,
            np.append(0.0, np.cumsum(logs)) + 1e-9,
            self.value - residual.volume - SURE,
            SURE,
            Limits(),
            sized=True,
            tighten=True,
            stop=np.zeros(1, dtype=np.int64),
        )
        if found is None or found.full or found.back or stopped():
            return False
        for row in found.rows:
            self._offer(np.append(node.picks, node.left[row]))
        return True

    def _offer(self, picks: np.ndarray) -> None:
        choice = np.concatenate([self.problem.include, self.free[picks]]).astype(np.int64)
        value = self.worth(choice)
        if value > self.value:
            self.best, self.value = choice, value


def largest_volume(problem: Problem, start: np.ndarray, most: float = math.inf) -> Choice:
    """The choice of the largest log determinant; proved if all others are counted or bounded.

    most : how many nodes are divided before it gives up.
    """
    objective, start = problem.objective, np.asarray(start, dtype=np.int64)
    error = objective.error(problem.operator, start)
    if not np.isfinite(error):
        bound = objective.bound(problem.operator, problem.k, problem.exclude)
        return Choice(start, bound=min(bound, error), details={"proved": False, "nodes": 0})
    if (best := best_of_all(problem, start, most)) is not None:
        return best
    search, above = Largest(problem, volumes(problem), start), math.inf
    for height in narrowed(search):
        above = height
        if search.until() or search.nodes >= most:
            break
    error = objective.error(problem.operator, search.best)
    bound = objective.below(error, max(0.0, above - search.value))
    proved = bound >= objective.below(error, 1.01 * SURE)
    if search.until() and not proved:
        cut_short()
    return Choice(search.best, bound=bound, details={"proved": proved, "nodes": search.nodes})


def best_of_all(problem: Problem, start: np.ndarray, most: float = math.inf) -> Choice | None:
    """The best choice, if all can be counted at once."""
    objective = problem.objective
    r, n = problem.k - len(problem.include), len(problem.choosable)
    seconds = counting_seconds(n, r, 0, objective.repeats) if r > 1 else 0.0
    if seconds > min(AT_ONCE, problem.time_left):
        return None
    counted = Search(problem, effort=most)
    counted.begin(start)
    if counted.search() < counted.cutoff:
        return None
    best = counted.indices(start)
    bound = objective.below(objective.error(problem.operator, best), SURE)
    return Choice(best, bound=bound, details={"proved": True, "nodes": counted.nodes})


def narrowed(search: Largest) -> Iterator[float]:
    """What no choice adds more than, lower and lower; the last one if nothing is left open."""
    if not search.known:
        return
    if len(search.free) > LARGEST or search.problem.objective.repeats:
        yield search.root(ROUNDS).bound
        return
    quick = search.root()
    yield quick.bound
    if quick.bound > search.value + SURE:
        root = search.root(ROUNDS)
        yield min(quick.bound, root.bound)
        yield from search.search(min(quick, root, key=lambda solved: solved.bound))


def volumes(problem: Problem) -> Callable[[np.ndarray], float]:
    """What a choice adds to the log determinant of what is included, noise in its own units."""
    included = np.asarray(problem.include, dtype=np.int64)
    objective, operator = problem.objective, problem.operator
    noise = problem.pair.noise
    unit = 0.0 if noise is not None else operator.exponent * math.log(2.0)

    def whole(choice: np.ndarray) -> float:
        extra = 0.0 if noise is None else float(np.sum(np.log(noise[choice])))
        return -objective.error(operator, choice) + extra - unit * len(choice)

    before = whole(included) if len(included) else 0.0
    return lambda choice: whole(choice) - before
