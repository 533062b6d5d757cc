"""The dual bound after a few branchings: the least over the cases that a candidate is in or out.

Cases are taken from the point of the dual problem where their parent ended. There the bound of a
case is that of its parent or better, since fewer choices are left.
"""

import heapq
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ..._array import Array, host
from .ascent import Descent
from .bound import Dual, Point

TAUS = (4e-3, 3e-4)  # smoothing at the beginning and at the end of a case, relative to error/k
MEMORY = 2**30  # bytes that the points of the cases may take
STEPS = (25, 25, 25, 25)  # steps of the ascent of a case; the smoothing is lowered after each block


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
    most = MEMORY // (8 * x.shape[0])
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
            value, point = ascend(child, parent.x, error, deadline)
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
    w = np.where(open_to, dual.chosen(host(pieces.c), TAUS[1] * error / dual.k)[1], -1.0)
    sides = []
    for side in (1, -1):
        after = fixed.copy()
        after[int(np.argmax(w))] = side
        if np.sum(after >= 0) >= dual.k:
            sides.append(dual.restricted(after))
    return sides


def ascend(dual: Dual, x: Array, error: float, deadline: float) -> tuple[float, Array]:
    """The best bound and its point after some steps from x."""
    descent = Descent(x)
    highest, best = dual.value(Point.of(x, dual.candidates)), x
    for tau, steps in zip(np.geomspace(*TAUS, len(STEPS)), STEPS, strict=True):
        smoothed = partial(dual.evaluate, tau=float(tau) * error / dual.k)
        descent.follow(smoothed, steps, deadline)
        value = dual.value(Point.of(descent.x, dual.candidates))
        if value > highest:
            highest, best = value, descent.x
        if highest >= error or time.monotonic() >= deadline:
            break
    return highest, best
