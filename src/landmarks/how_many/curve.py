"""Error against k: the whole curve from one greedy pass, and the smallest k that is good enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import _check
from .._array import Array, host
from ..constraints import check_size, constrained
from ..linalg.error import CRITERIA, total
from ..methods.greedy.greedy import ErrorGains
from ..methods.greedy.pursuit import pursue
from ..operators.convert import as_operator
from ..problem import Problem
from ..residual.represent import searchable
from ..residual.residual import Residual


@dataclass(frozen=True, eq=False)
class Curve:
    """The errors of nested choices: for each k the first k of the indices.

    relative : the error as a part of the whole, one for each k; it never rises.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> curve = lm.path(np.diag([5.0, 4.0, 0.2, 0.1]), range(1, 5))
    >>> curve.knee(), curve.smallest(error=0.01)
    (2, 2)
    """

    ks: np.ndarray
    indices: np.ndarray
    relative: np.ndarray
    criterion: str

    def smallest(self, error: float) -> int:
        """The smallest k of the curve whose relative error is at most the given one."""
        reached = np.flatnonzero(self.relative <= error)
        if len(reached) == 0:
            raise ValueError(
                f"no k up to {self.ks[-1]} has a relative error of at most {error}; the last has {self.relative[-1]:.3g}"
            )
        return int(self.ks[reached[0]])

    def knee(self) -> int:
        """The k after which the curve flattens: farthest below the line from k = 0, where all is left, to its last point."""
        x = self.ks / self.ks[-1]
        y = (self.relative - self.relative[-1]) / max(1 - self.relative[-1], np.finfo(float).tiny)
        return int(self.ks[np.argmax(1 - x - y)])


def path(
    A: Any, ks: Iterable[int], *, criterion: str = "trace", include: Any = (), exclude: Any = ()
) -> Curve:
    """The error for many k in one sweep: greedy selection up to the largest, at the cost of that one.

    Parameters
    ----------
    A : as for `select`.
    ks : the numbers of columns that are asked for.
    criterion, include, exclude : as for `select`.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> curve = lm.path(np.diag([3.0, 2.0, 1.0]), [1, 2, 3])
    >>> curve.relative.round(3).tolist(), curve.smallest(error=0.1)
    ([0.357, 0.071, 0.0], 2)
    """
    operator = as_operator(A)
    sizes = np.array(sorted({_check.subset_size(k, operator.n) for k in ks}), dtype=np.int64)
    if len(sizes) == 0:
        raise ValueError("ks must list at least one number of columns")
    problem = constrained(
        operator, _check.choice(criterion, CRITERIA, "criterion"), include, exclude
    )
    check_size(int(sizes[-1]), problem)
    return sweep(problem, sizes)


def sweep(problem: Problem, sizes: np.ndarray) -> Curve:
    """The greedy curve of a problem at rising sizes; problem.k is ignored."""
    problem = replace(problem, k=int(sizes[-1]))
    residual = Residual(searchable(problem.operator, problem.k), problem.k)
    gains = Watched(ErrorGains(residual), problem.criterion)
    indices = pursue(problem, residual, gains).indices
    whole = total(problem.operator, problem.criterion)
    errors = np.array([whole, *gains.errors])
    errors = np.concatenate(
        [errors, np.full(problem.k + 1 - len(errors), errors[-1])]
    )  # beyond the rank nothing helps
    relative = np.minimum.accumulate(np.clip(errors, 0.0, None)) / (whole or 1.0)
    return Curve(sizes, indices, relative[sizes], problem.criterion)


class Watched:
    """Gains that note the error after each pick: Σc for the trace, Σ diag C² for the Frobenius criterion."""

    kept: ClassVar = ("gains", "errors")

    def __init__(self, gains: ErrorGains, criterion: str):
        self.gains, self.criterion = gains, criterion
        self.errors: list[float] = []

    def scores(self) -> Array:
        """The scores of the gains."""
        return self.gains.scores()

    def best(self, allowed: Array) -> int | None:
        """The column of the largest gain."""
        return self.gains.best(allowed)

    def update(self, v: Array) -> None:
        """Update the gains and note the error."""
        self.gains.update(v)
        diagonal = (
            self.gains.residual.diagonal
            if self.criterion == "trace"
            else self.gains.powers.diagonals[1]
        )
        self.errors.append(float(np.sum(host(diagonal).astype(np.float64))))
