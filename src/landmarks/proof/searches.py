"""What searches prove in a share of the time: the exact one, and the lookahead pick after pick."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ..problem import Problem
from .chains import look_further
from .conditioned import Conditioned
from .tree import Tree

SOLVED = 40  # candidates up to which the exact search gets half of the time
PAIRS = 10**5  # choices of all but two picks up to which it does with more candidates
FEW = 5  # picks up to which the lookahead gets half of what is left; above, a tenth


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


def searches(
    problem: Problem, root: Conditioned, indices: np.ndarray, error: float, last: bool
) -> Iterator[Bound]:
    """The exact search where it may end, and the lookahead pick after pick.

    last : whether nothing comes after them, so that they get all of the time.
    """
    n, r = len(problem.free), problem.k - len(problem.include)
    if n <= SOLVED or math.comb(n, max(min(r, n - r) - 2, 0)) <= PAIRS:
        yield searched(problem, root, indices, 0.5)
    share = 0.5 if r <= FEW else 0.1
    yield chained(ending(problem, 1.0 if last else share), root, error)


def ending(problem: Problem, share: float) -> Problem:
    """The problem with a share of the time that is left."""
    if problem.deadline is None:
        return problem
    return replace(problem, deadline=problem.deadline - (1 - share) * problem.time_left)


def chained(problem: Problem, root: Conditioned, error: float) -> Bound:
    """What the lookahead, taken further where it is lowest, proves by the deadline."""
    own, _ = root.pick_all(problem.include)
    r = problem.k - len(problem.include)
    bound, nodes = look_further(problem, own, r, error)
    return Bound(min(bound, error), "lookahead", nodes, final=bound >= error)


def searched(problem: Problem, root: Conditioned, indices: np.ndarray, share: float) -> Bound:
    """What the exact search proves in a share of the time left."""
    tree = Tree(ending(problem, share), root)
    tree.offer(*tree.split(indices))
    bound = tree.search()
    return Bound(min(bound, tree.error), "search", tree.nodes, final=bound >= tree.cutoff)
