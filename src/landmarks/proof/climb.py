"""The dual bound of a residual, raised step by step until the deadline."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from ..problem import Problem
from ..runs.runner import Step, run
from ..runs.state import State
from .ascent import Descent
from .centre import starting_point
from .conditioned import EPS, Conditioned
from .dual import Dual, Point
from .safe import safe_value
from .twofold import gram

TAUS = (0.05, 1e-4)  # smoothing at the begin and at the end, relative to error/k
TINY = 1e-10  # share of the trace below which an error is not bounded by the dual
IDLE = 20  # looks at the clock without a step, after which the ascent has ended
BLOCK = 25  # steps of the ascent between two looks at the clock


class Climbed(NamedTuple):
    """Where an ascent ended: its bound, its point and how many steps it took."""

    value: float
    point: np.ndarray
    steps: int


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
) -> Iterator[Climbed]:
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
    found = climb(problem, dual, point, doubt, scale)
    yield found._replace(value=float(np.ldexp(found.value, -power)))


def climb(problem: Problem, dual: Dual, x: np.ndarray, doubt: np.ndarray, error: float) -> Climbed:
    """The bound where the ascent ends; the smoothing falls as the time runs out."""
    at = Ascent(x)
    seconds = min(problem.time_left, 60.0) if problem.deadline is None else problem.time_left
    run("certificate", ascend(at, dual, seconds, error), at)
    bound = safe_value(dual, Point.of(at.best, dual.candidates), doubt)
    return Climbed(bound, at.best, at.steps)


@dataclass
class Ascent(State):
    """The best point so far, its value, and the number of steps; idle ones since the last."""

    best: np.ndarray
    highest: float = -np.inf
    steps: int = 0
    idle: int = 0


def ascend(at: Ascent, dual: Dual, seconds: float, error: float) -> Iterator[Step]:
    """Some steps of the ascent between two looks at the clock."""
    descent, begun = Descent(at.best), time.monotonic()
    value = -np.inf
    while at.idle < IDLE and value < error * (1 - 1e-10):
        share = (time.monotonic() - begun) / max(seconds, 1e-9)
        if share >= 1:
            return
        tau = TAUS[0] * (TAUS[1] / TAUS[0]) ** share * error / dual.k
        at.steps += descent.follow(partial(dual.evaluate, tau=tau), BLOCK, begun + seconds)
        value = dual.value(Point.of(descent.x, dual.candidates))
        at.idle = at.idle + 1 if descent.stuck else 0
        if value > at.highest:
            at.highest, at.best = value, descent.x
        yield Step(at.steps)
