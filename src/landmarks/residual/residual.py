"""The residual C = K − K̂ of a growing choice, by partial Cholesky: shared by every method that picks one by one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .._array import Array, Indices, host, like, namespace, rank_tolerance, solve_triangular, zeros
from ..operators.base import Operator
from ..problem import Problem, complete
from .panel import panel


class Residual:
    """C = K − F Fᵀ after some picks: its diagonal, its columns and its products."""

    kept: ClassVar = ("picks", "panel", "diagonal")

    def __init__(self, operator: Operator, capacity: int):
        xp = namespace(operator.like)
        self.operator = operator
        self.picks: list[int] = []
        self.diagonal = xp.clip(operator.diagonal(), min=0.0)
        self.whole = float(xp.sum(self.diagonal))
        self.tolerance = rank_tolerance(operator.digits) * float(xp.max(self.diagonal))
        self.panel = panel(operator, capacity)

    def relative_error(self, problem: Problem) -> float | None:
        """tr C as a part of tr K; None for another criterion."""
        known = problem.criterion == "trace" and self.whole > 0
        return float(namespace(self.diagonal).sum(self.diagonal)) / self.whole if known else None

    @property
    def exhausted(self) -> bool:
        """Whether every column is represented up to rounding: the numerical rank is reached."""
        return float(namespace(self.diagonal).max(self.diagonal)) <= self.tolerance

    def matmul(self, block: Array) -> Array:
        """C @ block."""
        return self.operator.matmul(block) - self.panel.times(self.panel.transposed_times(block))

    def principal(self, indices: np.ndarray) -> np.ndarray:
        """C at the indices, on the host in float64, from len(indices)² entries of K."""
        K = host(self.operator.restrict(indices).columns(np.arange(len(indices)))).astype(
            np.float64
        )
        F = host(self.panel.rows(indices)).astype(np.float64)
        return K - F @ F.T

    def pick(self, j: int) -> Array:
        """Choose column j; returns v = C_:j/√C_jj, by which C becomes C − v vᵀ."""
        column, rows = self._columns([j])
        pivot = float(column[j, 0])
        pivot = pivot if pivot > self.tolerance else 0.0
        v = column[:, 0] / pivot**0.5 if pivot else zeros((self.operator.n,), column)
        self._append(np.asarray([j]), v[:, None], rows, np.array([[pivot**0.5]]))
        return v

    def pick_block(self, indices: np.ndarray, L: np.ndarray) -> None:
        """Choose independent columns at once; L is the Cholesky factor of C at them."""
        columns, rows = self._columns(indices)
        V = solve_triangular(like(np.tril(L), columns), columns.T).T
        self._append(indices, V, rows, np.tril(L))

    def _columns(self, indices: Indices) -> tuple[Array, Array]:
        """Columns of C, and the rows of F at the same indices."""
        columns = self.operator.columns(indices)
        rows = self.panel.rows(indices, columns)
        return (columns - self.panel.times(rows.T) if self.picks else columns), rows

    def _append(self, indices: np.ndarray, V: Array, rows: Array, L: np.ndarray) -> None:
        xp = namespace(self.diagonal)
        self.panel.append(indices, V, rows, L)
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
