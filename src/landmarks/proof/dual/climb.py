"""The dual bound of a residual, raised step by step until the deadline."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from ..._array import Array, double, host, like, zeros
from ...problem import Problem
from ...runs.runner import Step, report, run
from ...runs.state import State
from ..conditioned import EPS, Conditioned
from ..twofold import gram
from .ascent import Descent
from .bound import Dual, Point
from .branching import Case, branch
from .centre import starting_point
from .safe import safe_value

TAUS = (0.02, 2e-4)  # smoothing at the beginning and at the end, relative to error/k
TINY = 1e-10  # relative to the trace: smaller errors are not bounded by the dual
IDLE = 20  # checks of the clock without a step, after which the ascent ends
BLOCK = (5, 25)  # fewest and most steps of the ascent with one smoothing
LEVELS = 20  # smoothing levels in the given time, if steps take so long that blocks are short
CHECK = 8e-10  # seconds, times n³, reserved for the last evaluation on a busy host
MANY = 5000  # from this many steps in the given time on, branching helps
START = 0.1  # share of the time after which the start is not improved further
ROOT = 0.35  # share of the time for the ascent before branching


class Climbed(NamedTuple):
    """Where an ascent ended: its bound, its point and how many steps it took."""

    value: float
    point: Array
    steps: int


def squared(root: Conditioned) -> Conditioned:
    """The columns of K themselves as data: ‖K − K̂‖²_F is at least the error of rebuilding them."""
    K = root.matrix
    S = gram(K)
    omega = root.omega + 8 * len(K) * (EPS + root.omega)
    return Conditioned(S, np.sqrt(np.diagonal(S.high)), omega, K, root.pair)


def ascended(
    problem: Problem,
    state: Conditioned,
    free: np.ndarray,
    r: int,
    error: float,
    point: np.ndarray | None,
) -> Iterator[Climbed]:
    """The dual bound, raised until the deadline."""
    rest = np.setdiff1d(np.arange(state.n), [*free, *state.picks])
    order = np.concatenate([free, rest]).astype(np.int64)
    power = -int(np.round(np.log2(max(np.mean(state.diagonal[order]), 1e-300))))
    K = np.ldexp(state.matrix[np.ix_(order, order)], power)
    K = (K + K.T) / 2
    spread = np.ldexp(np.outer(state.spread[order], state.spread[order]), power)
    doubt = 2 * EPS * np.abs(K) + state.omega * spread
    dual = Dual(like(K, double(zeros(0, problem.operator.like))), r, len(free))
    if not error > TINY * float(np.sum(state.diagonal)):
        return
    end = time.monotonic() + START * time_of(problem)
    first = starting_point(dual, end) if point is None else None
    if point is None and first is not None:
        point = host(first.flat())
    if point is None or len(point) != 3 * len(free) + 2 * len(free) * len(order):
        return
    scale = float(np.ldexp(error, power))
    found = climb(problem, dual, like(point, dual.K), doubt, scale)
    value = float(np.ldexp(found.value, -power))
    yield found._replace(value=value, point=host(found.point))


def time_of(problem: Problem) -> float:
    """The seconds that an ascent may take."""
    return min(problem.time_left, 60.0) if problem.deadline is None else problem.time_left


def climb(problem: Problem, dual: Dual, x: Array, doubt: np.ndarray, error: float) -> Climbed:
    """The bound where the ascent ends; the smoothing falls as the time runs out."""
    at = Ascent(x)
    seconds = max(0.0, time_of(problem) - CHECK * len(doubt) ** 3)
    begun = time.monotonic()
    run("certificate", ascend(at, dual, seconds, error), at)
    cases = [Case(at.highest, 0, at.best, dual)]
    if at.quick and at.highest < error * (1 - 1e-10):
        left = seconds - (time.monotonic() - begun)
        cases = branch(dual, at.best, error, left, lambda: report("certificate", at.steps))
    return Climbed(least(cases, doubt), at.best, at.steps)


@dataclass
class Ascent(State):
    """The best point so far, its value, and the number of steps; idle ones since the last.

    quick : whether steps cost so little that a part of the time is left for branching.
    """

    best: Array
    highest: float = -np.inf
    steps: int = 0
    idle: int = 0
    quick: bool = False


def ascend(at: Ascent, dual: Dual, seconds: float, error: float) -> Iterator[Step]:
    """Some steps of the ascent between two looks at the clock."""
    descent, begun = Descent(at.best), time.monotonic()
    value, steps = -np.inf, BLOCK[0]
    while at.idle < IDLE and value < error * (1 - 1e-10):
        share = elapsed(begun, seconds * (ROOT if at.quick else 1.0))
        if share >= 1:
            return
        tau = TAUS[0] * (TAUS[1] / TAUS[0]) ** share * error / dual.k
        at.steps += descent.follow(partial(dual.evaluate, tau=tau), steps, begun + seconds)
        value = dual.value(Point.of(descent.x, dual.candidates))
        at.idle = at.idle + 1 if descent.stuck else 0
        at.quick = at.steps > MANY * elapsed(begun, seconds)
        steps = block(at.steps / max(elapsed(begun, seconds), 1e-9))
        if value > at.highest:
            at.highest, at.best = value, descent.x
        yield Step(at.steps)


def block(steps: float) -> int:
    """The steps with one smoothing, if this many steps are made in the given time."""
    return int(min(max(steps / LEVELS, BLOCK[0]), BLOCK[1]))


def elapsed(begun: float, seconds: float) -> float:
    """The part of the time that has passed."""
    return (time.monotonic() - begun) / max(seconds, 1e-9)


def least(cases: list[Case], doubt: np.ndarray) -> float:
    """What holds for all choices: the least bound of the cases, rounding included."""
    return min(safe_value(c.dual, Point.of(c.x, c.dual.candidates), doubt) for c in cases)
