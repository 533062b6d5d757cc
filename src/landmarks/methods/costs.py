"""What a step of `auto` is estimated to cost, in seconds.

By formulas and not by a clock, so that one seed gives one selection. The constants were measured by
benchmarks/scale_model.py on one core and one H200.
"""

from __future__ import annotations

import math

from .._array import free_memory, on_gpu
from ..operators.base import DENSE_MEMORY, Operator, itemsize
from ..problem import Problem
from ..residual.powers import POWERS
from ..residual.stored_powers import SPEED
from .annealed.annealed import Annealed
from .search.iterated import moves


def panels_fit(problem: Problem) -> bool:
    """Whether the three n × k panels of a search by swaps take at most half of the memory."""
    like = problem.operator.like
    return (
        3 * problem.operator.n * problem.k * itemsize(like)
        <= free_memory(like, otherwise=2 * DENSE_MEMORY) // 2
    )


def frobenius_seconds(problem: Problem) -> float:
    """An estimate of the seconds for swaps on the Frobenius criterion after those on the trace.

    Infinite for the trace itself.
    """
    if problem.criterion == "trace":
        return math.inf
    return greedy_seconds(problem) + 3 * swap_seconds(problem) + cube_seconds(problem.operator)


def greedy_seconds(problem: Problem) -> float:
    """An estimate of the seconds that greedy takes."""
    return 1.2 * problem.k * product_seconds(problem.operator)


def swap_seconds(problem: Problem) -> float:
    """An estimate of the seconds that swaps on the trace take."""
    return 0.7 * problem.k * product_seconds(problem.operator)


def candidates_seconds(problem: Problem) -> float:
    """An estimate of the seconds of an annealed start that weighs some candidates at a time."""
    steps = Annealed().n_rounds * Annealed().n_steps / 2
    return 30 * product_seconds(problem.operator) + steps * (6 * problem.k) ** 3 * 1.5e-10


def product_seconds(operator: Operator) -> float:
    """An estimate of the seconds that one product with K takes."""
    return operator.product_seconds()


def round_seconds(problem: Problem) -> float:
    """An estimate of the seconds that a round of the iterated search takes.

    A move costs overhead, passes over n × k numbers, and products or its share of the powers of K.
    Fitted to problems with n from 61 to 3000 and k from 5 to 360 (benchmarks/versions.py).
    """
    n, k = problem.operator.n, problem.k
    powers = POWERS[problem.criterion]
    passes = n * k * (3e-9 if powers == 1 else 7e-9)
    if problem.operator.m is not None:  # the residual is kept as a matrix
        return moves(k) * (2e-4 + passes) + n * problem.operator.m * 1e-7
    products = powers * min(moves(k), n / (30 * SPEED)) * product_seconds(problem.operator)
    return moves(k) * (2e-4 + passes) + products


def cube_seconds(operator: Operator) -> float:
    """An estimate of the seconds for diag K³, which swaps on the Frobenius criterion need."""
    return 2.0 * operator.n**3 * (5e-14 if on_gpu(operator.like) else 2e-11)


def proof_seconds(problem: Problem) -> float:
    """An estimate of the seconds that the exact search takes: the median of what was measured.

    All but two picks would be enumerated at worst; bounds cut that down to its power 0.6. The first
    node takes products and eigenvalues of all of K.
    """
    n, r = len(problem.free), problem.k - len(problem.include)
    worst = min(math.comb(n, max(0, r - 2)), 10**30) * n**2 * 4e-8
    first = problem.operator.n**2 * (problem.operator.n + (problem.operator.m or 0)) * 4e-10
    return 0.7 * worst**0.6 + first


def annealed_seconds(problem: Problem) -> float:
    """An estimate of the seconds that an annealed start takes on a small matrix."""
    n, m = problem.operator.n, problem.operator.m
    steps = Annealed().n_steps + 20 * Annealed().between
    return steps * n * (n if m is None else m) ** 2 * 1.5e-10
