"""The certificate of a selection: a lower bound on the error of every choice, and where it is from."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..linalg.error import rank_bound
from ..problem import Problem
from ..runs.journal import Loop, Variables
from ..runs.progress import stopped
from .ascent import Descent
from .centre import starting_point
from .conditioned import EPS, Conditioned, conditioned
from .dual import Dual, Point
from .node import Node
from .safe import safe_value
from .tree import Tree
from .twofold import gram

STORED = 3000  # columns up to which K is stored; above, only the eigenvalue tail is known
SEARCHED = 400  # candidates up to which the exact search is tried as well
SOLVED = 40  # candidates up to which it gets half of the time; above, a tenth
FEW = 5  # picks up to which it gets half of the time with any number of candidates
LOOKED_AHEAD = 600  # candidates up to which every first pick is looked at
TAUS = (0.05, 1e-4)  # smoothing at the begin and at the end, relative to error/k
SEPARATE = 1e-6  # share of its variance that a column of the dual problem keeps given the others
TINY = 1e-10  # share of the trace below which an error is not bounded by the dual
IDLE = 20  # looks at the clock without a step, after which the ascent has ended
BLOCK = 25  # steps of the ascent between two looks at the clock


@dataclass(frozen=True)
class Certificate:
    """What no choice of k columns that honours the constraints can go below.

    bound : the lower bound on the error, rounding included. gap : the share of the error of the
    selection that another choice could avoid at most. source : "tail" (eigenvalues), "lookahead"
    (eigenvalues after every first pick), "dual" or "search". seconds, iterations : the work done.
    """

    bound: float
    gap: float
    source: str
    seconds: float
    iterations: int
    point: np.ndarray | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"no other choice can be more than {self.gap:.2%} better ({self.source})"


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


def seconds(budget: object) -> float:
    """A budget, checked."""
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not budget > 0:
        raise ValueError(f"budget must be a positive number of seconds, got {budget!r}")
    return float(budget)


def certify(
    problem: Problem, indices: np.ndarray, error: float, point: np.ndarray | None = None
) -> Bound:
    """The best bound that can be found by the deadline of the problem.

    point : where an earlier ascent ended, to go on from there.
    """
    best = Bound(0.0, "tail")
    for bound in bounds(problem, indices, error, point):
        point = bound.point if bound.point is not None else best.point
        iterations = best.iterations + bound.iterations
        best = max(best, bound, key=lambda b: b.value)
        best = replace(best, point=point, iterations=iterations)
        if bound.final or best.value >= error * (1 - 1e-9) or problem.time_left <= 0 or stopped():
            break
    return best


def bounds(
    problem: Problem, indices: np.ndarray, error: float, point: np.ndarray | None
) -> Iterator[Bound]:
    """The bounds, the cheap ones first."""
    if problem.operator.n > STORED:
        yield Bound(rank_bound(problem.operator, problem.k, problem.criterion), "tail")
        return
    root = conditioned(problem.operator, problem.k)
    own, unknown = root.pick_all(problem.include)
    frobenius = problem.criterion == "frobenius"
    r = problem.k - len(problem.include)
    node = Node(own, np.zeros(0, dtype=np.int64), r + unknown, frobenius)
    yield Bound(node.tail(r + unknown), "tail")
    if unknown or r == 0:
        return
    free = allowed(own, problem.free)
    if free is None or len(free) <= r:
        return
    tails = looked_ahead(problem, own, free, r)
    if tails is not None:
        yield Bound(float(np.sort(tails)[r - 1]), "lookahead", len(free))
    if len(free) <= SEARCHED:
        yield searched(problem, root, indices)
    core, others = independent(own, free, tails)
    if others is None:
        return
    state = squared(root).pick_all(problem.include)[0] if frobenius else own
    for bound in ascended(problem, state, core, r, error, point):
        yield replace(bound, value=min(bound.value, others))


def allowed(state: Conditioned, free: np.ndarray) -> np.ndarray | None:
    """The candidates that the picks do not represent; None when rounding hides which."""
    doubtful = state.doubtful[free]
    if all(state.represented(int(j)) for j in free[doubtful]):
        return free[~doubtful]
    return None


def looked_ahead(
    problem: Problem, state: Conditioned, free: np.ndarray, r: int
) -> np.ndarray | None:
    """What no choice with each candidate in it can go below; None when there is no time for it.

    Each of the r members of a choice has such a bound, so the r-th smallest holds for all choices.
    """
    if len(free) > LOOKED_AHEAD:
        return None
    frobenius, nothing = problem.criterion == "frobenius", np.zeros(0, dtype=np.int64)
    v = Variables(done=0, tails=[])
    with Loop("lookahead", v) as loop:
        while v.done < len(free):
            after = state.pick(int(free[v.done]))
            v.tails.append(Node(after, nothing, r - 1, frobenius).tail(r - 1))
            v.done += 1
            if loop.turn(v.done, len(free)) or problem.time_left <= 0:
                break
    return np.asarray(v.tails) if v.done == len(free) else None


def independent(
    state: Conditioned, free: np.ndarray, tails: np.ndarray | None
) -> tuple[np.ndarray, float | None]:
    """Independent candidates, the most useful first, and a bound for choices with any of the rest.

    The dual bound needs independent candidates. Choices among the rest are bounded by the tails
    after them; None when these are not known.
    """
    order = free if tails is None else free[np.argsort(tails, kind="stable")]
    core = independent_of(state.matrix, order)
    rest = ~np.isin(free, core)
    if not np.any(rest):
        return core, np.inf
    return core, None if tails is None else float(np.min(tails[rest]))


def independent_of(C: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The columns that those before them do not nearly represent, rising."""
    C, kept = C.copy(), []
    whole = np.diagonal(C).copy()
    for j in order:
        if C[j, j] > SEPARATE * whole[j]:
            kept.append(int(j))
            C -= np.multiply.outer(C[:, j], C[j] / C[j, j])
    return np.sort(np.asarray(kept, dtype=np.int64))


def searched(problem: Problem, root: Conditioned, indices: np.ndarray) -> Bound:
    """What the exact search proves in a part of the time left."""
    small = len(problem.free) <= SOLVED or problem.k - len(problem.include) <= FEW
    deadline, share = None, 0.5 if small else 0.1
    if problem.deadline is not None:
        deadline = problem.deadline - (1 - share) * problem.time_left
    tree = Tree(replace(problem, deadline=deadline), root)
    tree.offer(*tree.split(indices))
    bound = tree.search()
    return Bound(min(bound, tree.error), "search", tree.nodes, final=bound >= tree.cutoff)


def squared(root: Conditioned) -> Conditioned:
    """The columns of K themselves as data: ‖K − K̂‖²_F is at least the error of rebuilding them."""
    K = root.matrix
    S = gram(K)
    omega = root.omega + 8 * len(K) * (EPS + root.omega)
    return Conditioned(S, np.sqrt(np.diagonal(S.high)), omega, K)


def ascended(
    problem: Problem,
    state: Conditioned,
    free: np.ndarray,
    r: int,
    error: float,
    point: np.ndarray | None,
) -> Iterator[Bound]:
    """The dual bound, raised until the deadline."""
    rest = np.setdiff1d(np.arange(state.n), [*free, *state.picks])
    order = np.concatenate([free, rest]).astype(np.int64)
    power = -int(np.round(np.log2(max(np.mean(state.diagonal[order]), 1e-300))))
    K = np.ldexp(state.matrix[np.ix_(order, order)], power)
    K = (K + K.T) / 2
    spread = np.ldexp(np.outer(state.spread[order], state.spread[order]), power)
    doubt = 2 * EPS * np.abs(K) + state.omega * spread
    dual = Dual(K, r, len(free))
    if not error > TINY * float(np.sum(state.diagonal)):
        return
    first = starting_point(dual) if point is None else None
    if point is None and first is not None:
        point = first.flat()
    if point is None or len(point) != 3 * len(free) + 2 * len(free) * len(order):
        return
    scale = np.ldexp(error, power)
    for value, x, steps in climb(problem, dual, point, doubt, scale):
        yield Bound(float(np.ldexp(value, -power)), "dual", steps, x)


def climb(
    problem: Problem, dual: Dual, x: np.ndarray, doubt: np.ndarray, error: float
) -> Iterator[tuple[float, np.ndarray, int]]:
    """The bound where the ascent ends; the smoothing falls as the time runs out."""
    descent, begun = Descent(x), time.monotonic()
    seconds = min(problem.time_left, 60.0) if problem.deadline is None else problem.time_left
    best, highest, v = x, -np.inf, Variables(steps=0, idle=0)
    with Loop("certificate", v) as loop:
        while v.idle < IDLE and (share := (time.monotonic() - begun) / max(seconds, 1e-9)) < 1:
            tau = TAUS[0] * (TAUS[1] / TAUS[0]) ** share * error / dual.k
            v.steps += descent.follow(partial(dual.evaluate, tau=tau), BLOCK, begun + seconds)
            value = dual.value(Point.of(descent.x, dual.candidates))
            v.idle = v.idle + 1 if descent.stuck else 0
            if value > highest:
                highest, best = value, descent.x
            if loop.turn(v.steps, None) or value >= error * (1 - 1e-10):
                break
    yield safe_value(dual, Point.of(best, dual.candidates), doubt), best, v.steps
