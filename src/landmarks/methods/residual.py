"""The residual C = K − K̂ of a growing choice, by partial Cholesky: shared by every method that picks one by one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._array import Array, Indices, like, namespace, rank_tolerance, solve_triangular, take, zeros
from ..operators.base import Operator
from .problem import Problem, complete


class Residual:
    """C = K − F Fᵀ after some picks: its diagonal, its columns and its products, at O(n) memory per pick."""

    kept: ClassVar = ("picks", "factor", "diagonal")

    def __init__(self, operator: Operator, capacity: int):
        xp = namespace(operator.like)
        self.operator = operator
        self.picks: list[int] = []
        self.diagonal = xp.clip(operator.diagonal(), min=0.0)
        self.whole = float(xp.sum(self.diagonal))
        self.tolerance = rank_tolerance(operator.like) * float(xp.max(self.diagonal))
        self._factor = zeros((operator.n, capacity), operator.like)

    @property
    def factor(self) -> Array:
        """F, one column per pick."""
        return self._factor[:, : len(self.picks)]

    @factor.setter
    def factor(self, F: Array) -> None:
        self._factor[:, : len(self.picks)] = F

    def relative_error(self, problem: Problem) -> float | None:
        """tr C as a part of tr K; None for another criterion."""
        known = problem.criterion == "trace" and self.whole > 0
        return float(namespace(self.diagonal).sum(self.diagonal)) / self.whole if known else None

    @property
    def exhausted(self) -> bool:
        """Whether every column is represented up to rounding: the numerical rank is reached."""
        return float(namespace(self.diagonal).max(self.diagonal)) <= self.tolerance

    def columns(self, indices: Indices) -> Array:
        """Columns of C."""
        return self.operator.columns(indices) - self.factor @ take(self.factor, indices).T

    def matmul(self, block: Array) -> Array:
        """C @ block."""
        return self.operator.matmul(block) - self.factor @ (self.factor.T @ block)

    def pick(self, j: int) -> Array:
        """Choose column j; returns v = C_:j/√C_jj, by which C becomes C − v vᵀ."""
        xp = namespace(self.diagonal)
        column = self.columns([j])[:, 0]
        pivot = float(column[j])
        v = column / pivot**0.5 if pivot > self.tolerance else zeros((self.operator.n,), column)
        self._factor[:, len(self.picks)] = v
        self.picks.append(j)
        self.diagonal = xp.clip(self.diagonal - v * v, min=0.0)
        self.diagonal[j] = 0.0
        return v

    def pick_block(self, indices: np.ndarray, L: np.ndarray) -> None:
        """Choose independent columns at once; L is the Cholesky factor of C at them."""
        xp, start = namespace(self.diagonal), len(self.picks)
        columns = self.columns(indices)
        V = solve_triangular(like(np.tril(L), columns), columns.T).T
        self._factor[:, start : start + len(indices)] = V
        self.picks += [int(j) for j in indices]
        self.diagonal = xp.clip(self.diagonal - xp.sum(V * V, axis=1), min=0.0)
        self.clear(indices)

    def clear(self, indices: Indices) -> None:
        """Count the columns as represented."""
        for j in indices:
            self.diagonal[int(j)] = 0.0


def filled(problem: Problem, picks: list[int], scores: np.ndarray) -> np.ndarray:
    """The picks of a run that was stopped, filled up to k by falling score."""
    rest = np.setdiff1d(problem.free, picks)
    rest = rest[np.argsort(-scores[rest], kind="stable")]
    return np.concatenate([np.asarray(picks, dtype=np.int64), rest])[: problem.k]


def independent(problem: Problem, ranking: np.ndarray) -> np.ndarray:
    """The first k of a ranking; one that those before it represent already gives way to the next."""
    residual = Residual(problem.operator, problem.k)
    for j in ranking:
        if len(residual.picks) == problem.k or residual.exhausted:
            break
        if j in problem.include or float(residual.diagonal[int(j)]) > residual.tolerance:
            residual.pick(int(j))
    return complete(problem, residual.picks)
