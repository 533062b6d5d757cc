"""Randomly pivoted Cholesky: pivots drawn in proportion to the residual diagonal.

Chen, Epperly, Tropp and Webber, Comm. Pure Appl. Math. 78 (2025). The block version proposes
several pivots at once and rejects some, so that the distribution of the accepted ones stays the
same: Epperly, Tropp and Webber (2024), arXiv:2410.03969.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._check import is_whole
from ...objectives.objective import Trace
from ...problem import DRAWN, Choice, Problem, brief, complete
from ...residual.factors import independent
from ...residual.residual import residual_of
from ...runs.runner import Step, run
from .uniform import Uniform


@dataclass(frozen=True)
class RPCholesky:
    """Draw pivots in proportion to the residual diagonal; reads diag K and k columns of K.

    Parameters
    ----------
    block : the number of pivots proposed at a time. 1 draws one after the other. More read K in
        blocks, and the result has the same distribution. None is k/8, or 1 if every column costs a
        product.

    Examples
    --------
    >>> sorted(lm.select(np.diag([1.0, 0.0, 2.0]), 2, method=lm.RPCholesky()).indices.tolist())
    [0, 2]
    """

    block: int | None = None
    honours: ClassVar[frozenset[str]] = DRAWN
    __repr__ = brief

    def __post_init__(self) -> None:
        if self.block is not None and (not is_whole(self.block) or self.block < 1):
            raise ValueError(f"block must be a positive integer or None, got {self.block!r}")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        residual = residual_of(problem, problem.unscaled.readable(problem.k))
        allowed = residual.open_to(problem)
        # a width at which the products of blocks pay and few proposals are rejected
        automatic = max(1, problem.k // 8) if "columns" in problem.operator.cheap else 1
        width = self.block or automatic
        if run("rpcholesky", pivots(problem, residual, allowed, width, rng), residual):
            return Choice(complete(problem, residual.picks))
        drawn = residual.draw(allowed, 2 * problem.k, rng)
        rest = [*(() if drawn is None else drawn[0]), *residual.heaviest(allowed, problem.k)]
        distinct = list(dict.fromkeys(map(int, [*residual.picks, *rest])))
        return Choice(complete(problem, distinct[: problem.k]))


def quick_draw(problem: Problem, rng: np.random.Generator) -> Choice:
    """A choice that reads k columns of K, or none where each costs a product."""
    if problem.constraints:
        return Choice(complete(problem, []))
    k = min(problem.k, len(problem.candidates))
    plain = replace(problem, objective=Trace(), k=k, warned={*problem.warned, "rank"})
    method = RPCholesky() if "columns" in problem.operator.cheap else Uniform()
    return Choice(complete(problem, method.choose(plain, rng).indices))


def pivots(
    problem: Problem,
    residual: Any,
    allowed: Any,
    width: int,
    rng: np.random.Generator,
) -> Iterator[Step]:
    """Up to `width` pivots at a step; those that must be included come before the first.

    residual : in memory, or in parts on the workers of a cluster.
    """
    for j in problem.include[len(residual.picks) :]:
        residual.pick(j)
    while len(residual.picks) < problem.k:
        drawn = residual.draw(allowed, width, rng)
        if drawn is None:
            return
        if width == 1:
            residual.pick(int(drawn[0][0]))
        else:
            proposals, weights = drawn
            pick_block(residual, proposals, weights, problem.k - len(residual.picks), rng)
        yield Step(len(residual.picks), problem.k, residual.share_of(problem))


def pick_block(
    residual: Any,
    proposals: np.ndarray,
    weights: np.ndarray,
    limit: int,
    rng: np.random.Generator,
) -> None:
    """Pick each proposal with the chance of its residual now over the weight it was drawn by."""
    C = residual.principal(proposals)
    floor = residual.floor_at(proposals)
    thresholds = np.maximum(rng.random(len(proposals)) * weights, floor)
    kept, L = independent(C, thresholds)  # each if its pivot is above its threshold
    kept, L = kept[:limit], L[:limit, :limit]
    residual.clear(proposals[np.diag(C) <= floor])  # or rounding could propose them for ever
    if len(kept) > 0:
        residual.pick_block(proposals[kept], L)
