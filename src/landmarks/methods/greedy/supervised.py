"""Landmarks chosen for a target: each pick helps to represent the kernel and to predict the target.

The features of the choice S give K̂ = F Fᵀ, and ridge regression of y on them has the error yᵀM⁻¹y
with M = αI + K̂. A pick v, by which K̂ becomes K̂ + v vᵀ, lowers it by (vᵀM⁻¹y)²/(1 + vᵀM⁻¹v): the
greedy regression of Smola and Bartlett (NIPS 2001). On its own, this gain ignores what the target
at these points does not show. Bach and Jordan (ICML 2005) add the gain in the trace with a weight.
Here the two gains, each relative to the current error, are multiplied, so there is no weight to
set.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg

from ... import _check
from ..._array import Array, host, like, namespace
from ...problem import INCLUDE_EXCLUDE, Choice, Problem, brief
from ...residual.residual import Residual
from .greedy import ErrorGains, Gains, over_diagonal, pursue

FAINT = 1e-8  # a smaller share of the target counts as zero: then the trace alone decides


@dataclass(frozen=True, eq=False)
class Supervised:
    """Add, one at a time, the point that most improves the approximation and a regression on it.

    Parameters
    ----------
    target : what the landmarks should help to predict: a number for each point, or a row of them.
        For classes give a column of zeros and ones for each class, as
        `sklearn.preprocessing.LabelBinarizer` does. Columns are centred but not scaled: those with
        larger variance weigh more.
    noise : the penalty α of the regression, in units of the mean of diag K.

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)[:, None]
    >>> y = np.where(x[:, 0] < 0.5, 0.0, np.sin(40 * x[:, 0]))  # nothing to learn on the left
    >>> chosen = lm.select(lm.kernel(x, lm.rbf(sigma=0.05)), 8, method=lm.Supervised(y)).indices
    >>> int(np.sum(chosen >= 25))
    8
    """

    target: Any
    noise: float = 1.0
    honours: ClassVar[frozenset[str]] = INCLUDE_EXCLUDE
    __repr__ = brief

    def __post_init__(self) -> None:
        _check.positive(self.noise, "noise")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        Y = self._centred(problem.operator.n)
        residual = Residual(problem.searched, problem.k)
        if residual.exhausted:  # K = 0 has no unit for the noise
            return pursue(problem, residual, ErrorGains(residual), "supervised")
        alpha = self.noise * residual.whole / problem.operator.n
        gains = SupervisedGains(residual, like(Y, residual.operator.like), alpha)
        return pursue(problem, residual, gains, "supervised")

    def _centred(self, n: int) -> np.ndarray:
        """The target with a row for each point, its columns centred, of mean square 1."""
        Y = _check.as_numpy(self.target, "target")
        if Y.ndim not in (1, 2) or len(Y) != n:
            raise ValueError(
                f"target must have a value, or a row of values, for each of the {n} points, "
                f"got shape {Y.shape}"
            )
        Y = _check.matrix(Y.reshape(n, -1), "target").astype(np.float64)
        Y = np.ldexp(
            Y, -int(np.frexp(np.max(np.abs(Y)))[1])
        )  # whose squares neither overflow nor vanish
        Y = Y - np.mean(Y, axis=0)
        size = np.sqrt(np.sum(Y * Y) / n)
        if size <= n * np.finfo(np.float64).eps:
            raise ValueError(
                "target is constant: there is nothing to predict; use a method without a target"
            )
        return Y / size


class SupervisedGains(Gains):
    """The gain in the trace, as a part of tr C, times the gain in yᵀM⁻¹y, as a part of it."""

    def __init__(self, residual: Residual, Y: Array, alpha: float):
        self.residual = residual
        self.Y = Y
        self.alpha = alpha
        self.trace = ErrorGains(residual)
        self.Z = Y / alpha  # M⁻¹Y
        self.CZ = residual.operator.matmul(self.Z)
        self.spread = self.trace.powers.diagonals[1] / alpha  # diag C M⁻¹ C
        self.L = np.zeros((0, 0))  # the Cholesky factor of αI + FᵀF

    def scores(self) -> Array:
        """The worth of every column; zero for those already represented."""
        xp = namespace(self.Z)
        represented = self.trace.scores() / xp.sum(self.residual.diagonal)
        pull = over_diagonal(xp.sum(self.CZ * self.CZ, axis=1), self.residual)
        explained = (
            pull
            / (1 + over_diagonal(xp.clip(self.spread, min=0.0), self.residual))
            / xp.sum(self.Y * self.Z)
        )
        return represented * (explained + FAINT)

    def update(self, v: Array) -> None:
        """Update after C became C − v vᵀ and M became M + v vᵀ; the residual holds the new C."""
        xp = namespace(v)
        h, s = self._solved(v)
        C = self.residual.matmul(xp.stack([v, h], axis=1))  # with the new C
        self.trace.take_in([v, C[:, 0] + xp.sum(v * v) * v])
        Ch = C[:, 1]
        vh = xp.sum(v * h)
        hY = h @ self.Y
        old_Ch = Ch + vh * v
        self.spread = self.spread - 2 * v * old_Ch + vh * v * v - Ch * Ch / s
        self.Z = self.Z - h[:, None] * hY / s
        self.CZ = self.CZ - old_Ch[:, None] * hY / s - v[:, None] * (v @ self.Z)

    def _solved(self, v: Array) -> tuple[Array, float]:
        """h = M⁻¹v and 1 + vᵀM⁻¹v by Woodbury's formula; L is then updated with v."""
        r = len(self.L)
        Fv = host(self.residual.panel.transposed_times(v[:, None]))[:, 0].astype(np.float64)
        w = scipy.linalg.solve_triangular(self.L, Fv[:r], lower=True)
        x = np.append(scipy.linalg.solve_triangular(self.L, w, lower=True, trans="T"), 0.0)
        h = (v - self.residual.panel.times(like(x[:, None], v))[:, 0]) / self.alpha
        pivot = max(self.alpha + float(Fv[r] - w @ w), self.alpha)
        self.L = np.block([[self.L, np.zeros((r, 1))], [w[None, :], np.sqrt(pivot)]])
        return h, pivot / self.alpha
