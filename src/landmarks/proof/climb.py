"""The dual bound of a residual, raised step by step until the deadline.

The ascent begins at an analytic centre, after some reweighted least squares. Where steps are cheap
a part of the time goes into branchings: the least of the bounds of the cases that a candidate is in
or out. A case begins where its parent ended: there its bound is that of its parent or better, since
fewer choices are left.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from .._array import (
    Array,
    add_diagonal,
    cholesky,
    diagonal,
    double,
    host,
    identity,
    like,
    namespace,
    norm,
    solve_cholesky,
    zeros,
)
from ..problem import Problem
from ..runs.runner import Step, report, run
from ..runs.state import State
from .conditioned import EPS, Conditioned
from .dual import Dual, Point, rows, safe_value, water_filling
from .twofold import gram

PAIRS = 10  # steps that the descent remembers
SINGULAR = 1e-11  # least eigenvalue, at a unit diagonal, of columns that count as independent
NEWTON, WEIGHTED = 30, 12  # steps to the analytic centre, and of the reweighting
MARGIN = 1.1  # a step is shortened unless a step longer by this factor is allowed
FLOOR = 1e-6  # least weight that the reweighting divides by
ANGLE = 0.3  # θ at the start
TAUS = (0.02, 2e-4)  # smoothing at the beginning and at the end, relative to error/k
TINY = 1e-10  # relative to the trace: smaller errors are not bounded by the dual
IDLE = 20  # checks of the clock without a step, after which the ascent ends
BLOCK = (5, 25)  # fewest and most steps of the ascent with one smoothing
LEVELS = 20  # smoothing levels in the given time, if steps take so long that blocks are short
CHECK = 8e-10  # seconds, times n³, reserved for the last evaluation on a busy host
MANY = 5000  # from this many steps in the given time on, branching helps
START = 0.1  # share of the time after which the start is not improved further
ROOT = 0.35  # share of the time for the ascent before branching
CASE_TAUS = (4e-3, 3e-4)  # smoothing at the beginning and at the end of a case
CASE_STEPS = (25, 25, 25, 25)  # of a case; the smoothing is lowered after each block
POINTS = 2**30  # bytes that the points of the cases may take


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
    safe = (safe_value(c.dual, Point.of(c.x, c.dual.candidates), doubt) for c in cases)
    return Climbed(min(safe), at.best, at.steps)


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
        likely = at.steps / max(elapsed(begun, seconds), 1e-9)  # steps in all the given time
        steps = int(min(max(likely / LEVELS, BLOCK[0]), BLOCK[1]))
        if value > at.highest:
            at.highest, at.best = value, descent.x
        yield Step(at.steps)


def elapsed(begun: float, seconds: float) -> float:
    """The part of the time that has passed."""
    return (time.monotonic() - begun) / max(seconds, 1e-9)


class Case(NamedTuple):
    """Choices with some candidates in and some out: their bound, and its point."""

    value: float
    number: int
    x: Array
    dual: Dual


def branch(
    dual: Dual, x: Array, error: float, seconds: float, ended: Callable[[], bool]
) -> list[Case]:
    """The cases whose bounds together hold for all choices; error : that of a known choice."""
    deadline, number = time.monotonic() + seconds, 1
    most = POINTS // (8 * x.shape[0])
    cases = [Case(dual.value(Point.of(x, dual.candidates)), 0, x, dual)]
    while time.monotonic() < deadline and cases[0].value < error and not ended():
        if len(cases) >= most:
            break
        parent = cases[0]
        children = divided(parent, error)
        if not children:
            break
        heapq.heappop(cases)
        for child in children:
            value, point = lifted(child, parent.x, error, deadline)
            heapq.heappush(cases, Case(value, number, point, child))
            number += 1
    return cases


def divided(case: Case, error: float) -> list[Dual]:
    """The case with its most likely open candidate in, and without it; none if all are decided."""
    dual = case.dual
    pieces = dual.pieces(Point.of(case.x, dual.candidates))
    fixed = np.zeros(dual.candidates, dtype=np.int64) if dual.fixed is None else dual.fixed
    open_to = fixed == 0
    if pieces is None or np.sum(open_to) <= 1 or np.sum(fixed > 0) >= dual.k:
        return []
    w = np.where(open_to, dual.chosen(host(pieces.c), CASE_TAUS[1] * error / dual.k)[1], -1.0)
    sides = []
    for side in (1, -1):
        after = fixed.copy()
        after[int(np.argmax(w))] = side
        if np.sum(after >= 0) >= dual.k:
            sides.append(dual.restricted(after))
    return sides


def lifted(dual: Dual, x: Array, error: float, deadline: float) -> tuple[float, Array]:
    """The best bound and its point after some steps from x."""
    descent = Descent(x)
    highest, best = dual.value(Point.of(x, dual.candidates)), x
    for tau, steps in zip(np.geomspace(*CASE_TAUS, len(CASE_STEPS)), CASE_STEPS, strict=True):
        smoothed = partial(dual.evaluate, tau=float(tau) * error / dual.k)
        descent.follow(smoothed, steps, deadline)
        value = dual.value(Point.of(descent.x, dual.candidates))
        if value > highest:
            highest, best = value, descent.x
        if highest >= error or time.monotonic() >= deadline:
            break
    return highest, best


def analytic_centre(K: Array, end: float = math.inf) -> Array | None:
    """D > 0 that maximises log det(K − D) + Σ log D, by Newton's method; None if K is singular.

    end : the time after which there are no more steps, apart from the first five.
    """
    xp = namespace(K)
    scale = xp.sqrt(diagonal(K))
    if not bool(xp.all(scale > 0)):
        return None
    K = K / scale[:, None] / scale[None, :]
    if float(xp.linalg.eigvalsh(K)[0]) < SINGULAR:
        return None
    D = 0.5 / diagonal(xp.linalg.inv(K)) / K.shape[0]
    for number in range(NEWTON):
        if number >= 5 and time.monotonic() > end:
            break
        Q = xp.linalg.inv(add_diagonal(K, -D))
        gradient = 1 - D * diagonal(Q)
        curvature = add_diagonal((D[:, None] * Q) * (Q * D), 1.0)
        factor = cholesky(curvature)
        if factor is None:
            break
        change = solve_cholesky(factor, gradient[:, None])[:, 0]
        step = damped(K, D, change)
        D = D * xp.exp(step * change)
        if step == 0.0 or float(xp.max(xp.abs(change))) < 1e-3:
            break
    return D * scale**2


def damped(K: Array, D: Array, change: Array) -> float:
    """The largest of 1, ½, ¼ … by which log D may move so that K − D stays positive definite.

    A move longer by MARGIN must do so too: at the edge the next step would be lost to rounding.
    """
    xp = namespace(K)
    step = 1.0 / max(1.0, float(xp.max(xp.abs(change))))
    while step > 1e-6:
        if cholesky(add_diagonal(K, -D * xp.exp(MARGIN * step * change))) is not None:
            return step
        step /= 2
    return 0.0


def starting_point(dual: Dual, end: float = math.inf) -> Point | None:
    """A dual point from a dozen steps (z, Y) → B → (z, Y) of the primal relaxation.

    end : the time after which there are no more steps, apart from the first three.
    """
    c, n, k, xp = dual.candidates, dual.K.shape[0], dual.k, namespace(dual.K)
    own = dual.K[:c, :c]
    D = analytic_centre(own, end)
    if D is None:
        return None
    G, V = add_diagonal(own, -D), identity(n, n, own)
    z, y = zeros(c, own) + k / c, zeros(n, own) + k / n
    for step in range(WEIGHTED):
        if step >= 3 and time.monotonic() > end:
            break
        B = coefficients(D / z, G, y, V, dual.K[:c, :])
        z = filled(D * rows(B, B), k)
        values, V = xp.linalg.eigh(B.T @ G @ B)
        y = filled(values, k)
    B = coefficients(D / z, G, y, V, dual.K[:c, :])
    R = xp.sqrt(D)[:, None] * B / z[:, None] * (1 - dual.own)
    mu, theta = D * rows(B, dual.own) / z, zeros(c, own) + ANGLE
    point = Point(xp.log(D), theta, mu, R, zeros((c, n), own))
    pieces = dual.pieces(point)
    return None if pieces is None else point._replace(E=math.tan(ANGLE) * pieces.H)


def filled(squares: Array, k: int) -> Array:
    """The weights that water filling gives to the roots of some squares, at least FLOOR."""
    roots = np.sqrt(np.maximum(host(squares), 0.0))
    return like(np.maximum(water_filling(roots, k), FLOOR), squares)


def coefficients(d: Array, G: Array, y: Array, V: Array, K: Array) -> Array:
    """B with Diag(d) B + G B Y⁻¹ = K, Y = V diag(y) Vᵀ."""
    xp = namespace(K)
    root = xp.sqrt(d)
    values, P = xp.linalg.eigh(G / root[:, None] / root[None, :])
    inner = P.T @ ((K @ V) / root[:, None])
    inner = inner / (1 + xp.where(values > 0, values, 0.0)[:, None] / y[None, :])
    return ((P @ inner) / root[:, None]) @ V.T


Function = Callable[[Array], tuple[float, Array]]


class Descent:
    """Limited-memory quasi-Newton descent: where it is, the last steps, their changes of gradient.

    Points outside the domain of the function have the value ∞. Nocedal, "Updating quasi-Newton
    matrices with limited storage", Math. Comp. 35 (1980).
    """

    def __init__(self, x: Array):
        self.x = x
        self.value, self.gradient = np.inf, x
        self.pairs: list[tuple[Array, Array]] = []
        self.stuck = True

    def follow(self, function: Function, steps: int, deadline: float) -> int:
        """Some steps on a function that may differ a little from the one before; how many."""
        self.value, self.gradient = function(self.x)
        self.stuck, done = False, 0
        while done < steps and time.monotonic() < deadline:
            self.advance(function)
            if self.stuck:
                self.pairs = []
                break
            done += 1
        return done

    def direction(self) -> Array:
        """Minus the gradient, times an estimate of the inverse Hessian."""
        q, coefficients = -self.gradient, []
        for step, change in reversed(self.pairs):
            a = float(step @ q) / float(step @ change)
            q = q - a * change
            coefficients.append(a)
        if self.pairs:
            step, change = self.pairs[-1]
            q = q * (float(step @ change) / float(change @ change))
        for (step, change), a in zip(self.pairs, reversed(coefficients), strict=True):
            q = q + step * (a - float(change @ q) / float(step @ change))
        return q

    def advance(self, function: Function) -> None:
        """One step that lowers the function; `stuck` when there is none."""
        d = self.direction()
        slope = float(self.gradient @ d)
        if slope >= 0:
            d, self.pairs = -self.gradient, []
            slope = float(self.gradient @ d)
        t = 1.0 if self.pairs else min(1.0, 0.1 / max(norm(d), 1e-300))
        while t > 1e-10:
            value, gradient = function(self.x + t * d)
            if value <= self.value + 1e-4 * t * slope:
                self.accept(t * d, value, gradient)
                return
            t *= 0.4
        self.stuck = True

    def accept(self, step: Array, value: float, gradient: Array) -> None:
        """Move, and learn from the change of the gradient."""
        change = gradient - self.gradient
        if float(step @ change) > 1e-12 * norm(step) * norm(change):
            self.pairs = [*self.pairs, (step, change)][-PAIRS:]
        self.x, self.value, self.gradient = self.x + step, value, gradient
