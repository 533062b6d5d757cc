"""The regularised system (K + ridge · I) x = b, by products with K alone."""

import warnings
from dataclasses import dataclass

from .._array import Array
from .._check import positive
from ..errors import ConvergenceWarning
from ..operators.base import Operator
from .solvers.block_cg import BlockCG, Root
from .solvers.solution import Solution


@dataclass(frozen=True)
class Regularised:
    """K + ridge · I in the units of the data."""

    operator: Operator
    ridge: float

    @property
    def n(self) -> int:
        return self.operator.n

    def matmul(self, block: Array) -> Array:
        return self.operator.matmul(block) * 2.0**self.operator.exponent + self.ridge * block


def solve_regularised(
    operator: Operator,
    block: Array,
    ridge: float,
    *,
    precondition: Root | None = None,
    tolerance: float = 1e-6,
    max_steps: int = 1000,
) -> Solution:
    """Solve (K + ridge · I) x = block by block conjugate gradients, as in kernel ridge regression.

    Parameters
    ----------
    operator : K, made by `kernel`, `psd`, `data`, …
    block : the n × b right-hand sides, or one of length n, in the array library of the operator.
    ridge : positive.
    precondition : such as `selection.nystrom().preconditioner(ridge)`.
    tolerance : the relative residual ‖r‖/‖b‖ of each column.

    Examples
    --------
    >>> from landmarks.linalg.regularised import solve_regularised
    >>> points = np.random.default_rng(0).standard_normal((400, 2))
    >>> K = lm.kernel(points, lm.rbf(sigma=2.0))
    >>> P = lm.select(K, 40, method="greedy").nystrom().preconditioner(ridge=1e-3)
    >>> alone = solve_regularised(K, points[:, 0], 1e-3)
    >>> helped = solve_regularised(K, points[:, 0], 1e-3, precondition=P)
    >>> helped.converged, 3 * helped.steps < alone.steps
    (True, True)
    """
    positive(ridge, "ridge")
    if block.ndim not in (1, 2) or block.shape[0] != operator.n:
        raise ValueError(
            f"the right-hand side must have n = {operator.n} rows, got shape {tuple(block.shape)}"
        )
    system = Regularised(operator, ridge)
    solver = BlockCG(tolerance, max_steps, precondition)
    columns = block[:, None] if block.ndim == 1 else block
    solution = solver.prepare(system)(columns)
    if not solution.converged:
        warnings.warn(
            f"conjugate gradients stopped after {solution.steps} steps at a residual of "
            f"{solution.residual:.1e} > {tolerance:.1e}; raise max_steps or ridge, or give a "
            "preconditioner with more landmarks",
            ConvergenceWarning,
            stacklevel=2,
        )
    x = solution.x[:, 0] if block.ndim == 1 else solution.x
    return Solution(x, solution.steps, solution.residual, solution.converged)
