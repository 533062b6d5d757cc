"""The certificate of a selection: a lower bound on the error of every choice, and its source."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ..problem import Problem
from ..runs.runner import stopped
from .climb import analytic_centre, ascended, squared
from .conditioned import Conditioned, conditioned
from .entropy import Largest, best_of_all, narrowed, volumes
from .lookahead import allowed, independent, tails_after
from .node import Node
from .search import Search

STORED = 3000  # columns up to which K is stored; above, only the eigenvalue tail is known
SEARCHED = 400  # candidates up to which the exact search is tried as well
LOOKED_AHEAD = 1000  # up to this many candidates, every first pick is examined
CRAMPED = 2.0  # times the sum of D: the dual bound cannot close a larger gap
SOLVED = 40  # the same up to this many candidates,
PAIRS = 10**5  # or this many choices of all but two picks
FEW = 5  # up to this many picks the search gets half of the remaining time, else a tenth


@dataclass(frozen=True)
class Certificate:
    """A lower bound on the error of every choice of k columns that satisfies the constraints.

    bound : the lower bound on the error, rounding included.
    gap : the largest share of the error of the selection that another choice could avoid.
    source : "tail" (eigenvalues), "lookahead" (eigenvalues after one pick or more), "dual" or
        "search"; of a log determinant "relaxation" or "search".
    seconds, iterations : the work done.
    in_nats : whether `gap` is in nats, as for a log determinant.
    """

    bound: float
    gap: float
    source: str
    seconds: float
    iterations: int
    point: np.ndarray | None = field(default=None, repr=False, compare=False)
    in_nats: bool = False

    def __str__(self) -> str:
        if self.in_nats:
            return f"no other choice can be more than {self.gap:.3g} nats better ({self.source})"
        return f"no other choice can have an error more than {self.gap:.2%} lower ({self.source})"


def certify(
    problem: Problem, indices: np.ndarray, error: float, point: np.ndarray | None = None
) -> Bound:
    """The best bound that can be found by the deadline of the problem.

    point : where an earlier ascent ended, to continue from there.
    """
    best = Bound(problem.objective.floor, "tail")
    for bound in bounds(problem, indices, error, point):
        point = bound.point if bound.point is not None else best.point
        iterations = best.iterations + bound.iterations
        best = max(best, bound, key=lambda b: b.value)
        best = replace(best, point=point, iterations=iterations)
        enough = best.value >= problem.objective.below(error, 1.001e-9)
        if bound.final or enough or problem.time_left <= 0 or stopped():
            break
    return best


def bounds(
    problem: Problem, indices: np.ndarray, error: float, point: np.ndarray | None
) -> Iterator[Bound]:
    """The bounds, the cheap ones first."""
    pair, objective = problem.pair, problem.objective
    if objective.volume:
        yield Bound(objective.bound(problem.operator, problem.k, problem.exclude), "relaxation")
        if pair.operator.n <= STORED and np.isfinite(error):
            yield from volume_bounds(problem, indices, error)
        return
    if pair.operator.n > STORED or not pair.standard:
        yield Bound(objective.bound(problem.operator, problem.k, problem.exclude), "tail")
    if pair.operator.n > STORED or problem.time_left <= 0:
        return
    root = conditioned(problem)
    own, unknown = root.pick_all(problem.include)
    depth, r = objective.depth, problem.k - len(problem.include)
    node = Node(own, np.zeros(0, dtype=np.int64), r + unknown, depth)
    yield Bound(node.tail(r + unknown), "tail")
    if unknown or r == 0:
        return
    if pair.repeats:
        yield searched(problem, root, indices, error, 1.0)
        return
    free = allowed(own, problem.free)
    if free is None or len(free) <= r:
        return
    tails = None
    if len(free) <= LOOKED_AHEAD:
        tails = tails_after(Node(own, free, r, depth))
        yield Bound(float(np.sort(tails)[r - 1]), "lookahead", len(free))
    if not pair.standard:  # the dual bound is for all columns without noise
        if len(free) <= SEARCHED:
            yield searched(problem, root, indices, error, 1.0)
        return
    core, others = independent(own, free, tails)
    state = squared(root).pick_all(problem.include)[0] if depth == 2 else own
    capped = others is None or (tails is not None and others <= np.sort(tails)[r - 1])
    if len(free) <= SEARCHED:
        if not capped:  # D is small compared with the gap of the tail: the dual has little room
            D = analytic_centre(state.matrix[np.ix_(core, core)])
            capped = D is None or error - node.tail(r) > CRAMPED * float(np.sum(D))
        yield searched(problem, root, indices, error, 1.0 if capped else share_of_search(problem))
    if capped or others is None:
        return
    for found in ascended(problem, state, core, r, min(error, others), point):
        yield Bound(min(found.value, others), "dual", found.steps, found.point)
    if len(free) <= SEARCHED and problem.time_left > 0:
        yield searched(problem, root, indices, error, 1.0)


def volume_bounds(problem: Problem, indices: np.ndarray, error: float) -> Iterator[Bound]:
    """What the relaxations, and then the search, prove of a log determinant."""
    best = best_of_all(problem, indices) if problem.objective.repeats else None
    if best is not None and best.bound is not None:
        yield Bound(min(best.bound, error), "search", best.details["nodes"], final=True)
    search = Largest(problem, volumes(problem), indices)
    own, nodes = search.value, 0
    for above in narrowed(search):
        source = "search" if search.nodes else "relaxation"
        yield Bound(error - max(0.0, above - own), source, search.nodes - nodes)
        nodes = search.nodes


@dataclass(frozen=True)
class Bound:
    """A bound in the units of the operator, and the way it was found.

    final : whether a choice with this error is known, so that no bound can be higher.
    """

    value: float
    source: str
    iterations: int = 0
    point: np.ndarray | None = field(default=None, repr=False)
    final: bool = False


def share_of_search(problem: Problem) -> float:
    """The share of the time for the exact search, before the dual bound has the rest."""
    n, r = len(problem.free), problem.k - len(problem.include)
    ends = n <= SOLVED or math.comb(n, max(min(r, n - r) - 2, 0)) <= PAIRS
    return 0.5 if ends or r <= FEW else 0.1


def searched(
    problem: Problem, root: Conditioned, indices: np.ndarray, error: float, share: float
) -> Bound:
    """What the exact search proves in a share of the time left."""
    if problem.deadline is not None:
        end = problem.deadline - (1 - share) * problem.time_left
        problem = replace(problem, deadline=end)
    search = Search(problem, root)
    search.begin(indices)
    bound = search.search(until=error)
    final = bound >= min(error, search.cutoff)
    value = search.in_units(bound, error) if search.found else bound
    return Bound(min(value, error), "search" if final else "lookahead", search.nodes, final=final)
