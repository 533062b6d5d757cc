"""What a step of `auto` is estimated to cost, in seconds.

By formulas and not by a clock, so that one seed gives one selection. The constants were measured by
benchmarks/scale_model.py on one core and one H200.
"""

from __future__ import annotations

import math

import numpy as np

from .._array import on_gpu
from ..operators.base import Operator, in_parts, itemsize, product_seconds
from ..operators.dense import Dense
from ..problem import Problem
from ..proof.counting import counting_seconds
from ..residual.compiled.library import compiled
from ..residual.stored_powers import powers_seconds
from .search.iterated import moves

PANELS = 8 * 2**30  # bytes that the n × k panels of a search may take


def panels_fit(problem: Problem) -> bool:
    """Whether the three n × k panels of a search by swaps are small enough.

    Never if what has length n stays on the workers of a cluster.
    """
    operator = problem.operator
    if in_parts(operator) is not None and not in_parts(operator).vectors_here:
        return False
    return 3 * operator.n * problem.k * itemsize(operator.like) <= PANELS // 2


def frobenius_seconds(problem: Problem) -> float:
    """An estimate of the seconds for swaps on the Frobenius criterion after those on the trace.

    Infinite for the trace itself.
    """
    if problem.objective.cheaper is None:
        return math.inf
    return greedy_seconds(problem) + 3 * swap_seconds(problem) + cube_seconds(problem.operator)


def greedy_seconds(problem: Problem) -> float:
    """An estimate of the seconds that greedy takes."""
    return 1.2 * problem.k * product_seconds(problem.operator)


def swap_seconds(problem: Problem) -> float:
    """An estimate of the seconds that swaps on the trace take."""
    return 0.7 * problem.k * product_seconds(problem.operator)


def rounds_within(problem: Problem, seconds: float) -> int:
    """How many rounds of the iterated search are estimated to take so long.

    A move costs overhead, passes over n × k numbers, and products with K, unless its powers are
    formed first, or passes over a residual that is kept as a matrix. Fitted to problems with n from
    61 to 3000 and k from 5 to 360 on one core (benchmarks/versions.py); on a card it is counted.
    """
    operator, k, depth = problem.operator, problem.k, problem.objective.depth
    n, m = operator.n, operator.m or 0
    in_c = compiled() and (isinstance(operator, Dense) or m > 0)
    overhead, entry = (1e-5, 1.1e-9 if depth < 2 else 1.8e-9) if in_c else (2e-4, 3e-9)
    if on_gpu(operator.like):
        overhead, entry = 2e-3, 3e-11
    rows = n * m * 1e-9
    rows *= 1 + 1e3 * rows  # beyond a million numbers the cache is too small
    without = 1e-4 + moves(k) * (overhead + n * k * entry + rows)
    if m:
        return int(seconds / without)
    product = product_seconds(operator)
    found = seconds / (without + moves(k) * depth * product)
    if isinstance(operator, Dense) and operator.keeps_powers:
        found = max(found, (seconds - powers_seconds(operator, depth)) / without)
    return int(found)


def cube_seconds(operator: Operator) -> float:
    """An estimate of the seconds for diag K³, which swaps on the Frobenius criterion need."""
    return operator.n**3 * (3.5e-14 if on_gpu(operator.like) else 4e-11)


def proof_seconds(problem: Problem) -> float:
    """An estimate of the seconds that the exact search takes: a count, or the search by bounds.

    Of that it is the median of what was measured: all but two picks would be enumerated at worst;
    bounds cut that down to its power 0.6. The first node takes products and eigenvalues of K.
    """
    if in_parts(problem.operator) is not None:
        return math.inf
    allowed, K = problem.allowed, problem.pair.operator
    first = K.n**2 * (K.n + (K.m or 0)) * 4e-10
    fixed = len(problem.include) if allowed.repeats else len(allowed.fixed)
    n, r = int(np.sum(allowed.open)) - fixed * (not allowed.repeats), allowed.most - fixed
    sizes = [r]
    if not allowed.sized:
        spent = np.cumsum(np.sort(np.delete(allowed.costs, allowed.fixed)))
        sizes = list(range(min(r, int(np.sum(spent <= allowed.left([])[1]))) + 1))
    depth, columns = problem.objective.depth, len(problem.choosable)
    every = [counting_seconds(n, size, depth, allowed.repeats) for size in sizes]
    if not allowed.single:  # which columns of a group the others represent is asked in 106 bits
        return sum(every) * (columns / max(n, 1)) ** 2 + first + 6e-8 * columns * K.n**2
    if not allowed.sized:
        return sum(every) + first
    worst = min(math.comb(n, max(0, r - 2)), 10**30) * n**2 * 4e-8
    return min(sum(every), 0.7 * worst**0.6) + first
