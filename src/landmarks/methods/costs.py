"""What a step of `auto` is estimated to cost, in seconds.

By formulas and not by a clock, so that one seed gives one selection. The constants were measured by
benchmarks/scale_model.py on one core and one H200.
"""

from __future__ import annotations

import math

from .._array import free_memory, on_gpu
from ..operators.base import DENSE_MEMORY, Operator, in_parts, itemsize, product_seconds
from ..operators.dense import Dense
from ..problem import Problem
from ..proof.counting import counting_seconds
from ..residual.compiled.library import compiled
from ..residual.stored_powers import SPEED
from .annealed import Annealed
from .search.iterated import moves


def panels_fit(problem: Problem) -> bool:
    """Whether the three n × k panels of a search by swaps take at most half of the memory.

    Never if what has length n stays on the workers of a cluster.
    """
    if in_parts(problem.operator) is not None:
        return False
    like = problem.operator.like
    return (
        3 * problem.operator.n * problem.k * itemsize(like)
        <= free_memory(like, otherwise=2 * DENSE_MEMORY) // 2
    )


def frobenius_seconds(problem: Problem) -> float:
    """An estimate of the seconds for swaps on the Frobenius criterion after those on the trace.

    Infinite for the trace itself.
    """
    if problem.objective.depth < 2:
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


def round_seconds(problem: Problem) -> float:
    """An estimate of the seconds that a round of the iterated search takes.

    A move costs overhead, passes over n × k numbers, and products or its share of the powers of K,
    or passes over a residual that is kept as a matrix. Fitted to problems with n from 61 to 3000
    and k from 5 to 360 (benchmarks/versions.py).
    """
    n, m, k = problem.operator.n, problem.operator.m, problem.k
    frobenius = problem.objective.depth == 2
    if compiled():
        passes = n * k * (1.8e-9 if frobenius else 1.1e-9)
        residual = n * (m or 0) * 1e-9
        residual *= 1 + 1e3 * residual  # beyond a million numbers the cache is too small
        return 1e-4 + moves(k) * (1e-5 + passes + residual) + _products(problem)
    passes = n * k * (7e-9 if frobenius else 3e-9)
    return moves(k) * (2e-4 + passes) + n * (m or 0) * 1e-7 + _products(problem)


def _products(problem: Problem) -> float:
    """The share of products with K, or of K³, in a round; none where X is kept."""
    operator = problem.operator
    if operator.m is not None:
        return 0.0
    powers = problem.objective.depth
    if isinstance(operator, Dense) and operator.keeps_powers:
        powers = max(0, powers - 1)  # K² costs little and serves every move, greedy's too
    share = min(moves(problem.k), operator.n / (30 * SPEED))
    return powers * share * product_seconds(operator)


def cube_seconds(operator: Operator) -> float:
    """An estimate of the seconds for diag K³, which swaps on the Frobenius criterion need."""
    return 2.0 * operator.n**3 * (5e-14 if on_gpu(operator.like) else 2e-11)


def proof_seconds(problem: Problem) -> float:
    """An estimate of the seconds that the exact search takes: a count, or the search by bounds.

    Of that it is the median of what was measured: all but two picks would be enumerated at worst;
    bounds cut that down to its power 0.6. The first node takes products and eigenvalues of K.
    """
    if in_parts(problem.operator) is not None:
        return math.inf
    n, r, K = len(problem.choosable), problem.k - len(problem.include), problem.pair.operator
    worst = min(math.comb(n, max(0, r - 2)), 10**30) * n**2 * 4e-8
    first = K.n**2 * (K.n + (K.m or 0)) * 4e-10
    counted = counting_seconds(n, r, problem.objective.depth, problem.objective.repeats)
    return min(counted, 0.7 * worst**0.6) + first


def annealed_seconds(problem: Problem) -> float:
    """An estimate of the seconds that an annealed start takes on a small matrix."""
    n, m = problem.operator.n, problem.operator.m
    steps = Annealed().n_steps + 20 * Annealed().between
    return steps * n * (n if m is None else m) ** 2 * 1.5e-10
