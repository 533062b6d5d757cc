"""The residual C = K − K̂ of a growing choice: shared by every method that picks one by one."""

from __future__ import annotations

import numpy as np

from .._array import (
    Array,
    Indices,
    double,
    eps,
    free_memory,
    host,
    like,
    namespace,
    solve_triangular,
    take,
    zeros,
)
from ..operators.base import DENSE_MEMORY, Operator, block_width, blocks, itemsize, squared_diagonal
from ..operators.cubes import cubed_diagonal
from ..operators.forms import Factored
from ..operators.pivoted_factor import INDEFINITE, check_semidefinite
from ..problem import Problem, complete
from ..runs.state import State
from .digits import leading_digits
from .explicit import Explicit
from .implicit_panel import ImplicitPanel
from .powers import POWERS, Powers, total


class Panel(State):
    """F with K̂ = F Fᵀ, one column for each pick; memory for all of them is allocated at once."""

    def __init__(self, operator: Operator, capacity: int):
        self._numbers = zeros((operator.n, capacity), operator.like)
        self._filled = 0

    @property
    def factor(self) -> Array:
        """F."""
        return self._numbers[:, : self._filled]

    def times(self, block: Array) -> Array:
        """F @ block."""
        return self.factor @ block

    def transposed_times(self, block: Array) -> Array:
        """Fᵀ @ block."""
        return self.factor.T @ block

    def rows(self, indices: Indices, columns: Array | None = None) -> Array:
        """The rows of F at the indices J; columns are those of K at J, if available."""
        return take(self.factor, indices)

    def append(self, indices: np.ndarray, V: Array, rows: Array, L: np.ndarray) -> None:
        """Append picks J: V = C_J L⁻ᵀ are the new columns of F, where C_JJ = L Lᵀ.

        rows : those of F at J before. A single pick with L = 0 adds nothing: its V is zero.
        """
        start, self._filled = self._filled, self._filled + len(indices)
        self._numbers[:, start : self._filled] = V


def panel(operator: Operator, capacity: int) -> Panel | ImplicitPanel:
    """F if half of the free memory holds its numbers or columns cost products; else R."""
    needed = operator.n * capacity * itemsize(operator.like)
    fits = needed <= free_memory(operator.like, otherwise=2 * DENSE_MEMORY) // 2
    if fits or "columns" not in operator.cheap:
        return Panel(operator, capacity)
    return ImplicitPanel(operator, capacity)


class FromK:
    """C = K − F Fᵀ from columns and products of K; a column is accurate to the rounding of K_jj."""

    def __init__(self, operator: Operator, capacity: int):
        self.operator = operator
        self.panel = panel(operator, capacity)

    def columns(self, indices: Indices) -> Array:
        return self.columns_and_rows(indices)[0]

    def columns_and_rows(self, indices: Indices) -> tuple[Array, Array]:
        """The columns of C, and the rows of F, at the indices."""
        columns = self.operator.columns(indices)
        rows = self.panel.rows(indices, columns)
        if rows.shape[1] == 0:
            return columns, rows
        return columns - self.panel.times(rows.T), rows

    def matmul(self, block: Array) -> Array:
        return self.without_picks(self.operator.matmul(block), block)

    def without_picks(self, product: Array, block: Array) -> Array:
        """C @ block from the product K @ block."""
        return product - self.panel.times(self.panel.transposed_times(block))

    def diagonals(self, powers: int) -> list[Array]:
        xp = namespace(self.operator.like)
        parts = [self._part(block, powers) for block in self._blocks()]
        return [xp.concat(part) for part in zip(*parts, strict=True)]

    def _blocks(self) -> list[np.ndarray]:
        return list(blocks(self.operator.n, block_width(self.operator)))

    def _part(self, block: np.ndarray, powers: int) -> list[Array]:
        xp = namespace(self.operator.like)
        C = self.columns(block)
        c = xp.clip(xp.linalg.diagonal(take(C, block)), min=0.0)
        found = [c, xp.sum(C * C, axis=0)]
        return found if powers == 1 else [*found, xp.sum(C * self.matmul(C), axis=0)]


class Residual(State):
    """C after some picks: its diagonal, its columns and its products.

    floor : the entries of diag C at which a column counts as represented.
    panel : F with K̂ = F Fᵀ, one column per pick.
    """

    def __init__(self, operator: Operator, capacity: int):
        xp = namespace(operator.like)
        self.operator = operator
        self.picks: list[int] = []
        self.diagonal = xp.clip(operator.diagonal(), min=0.0)
        self.whole, self.largest = total(self.diagonal), float(xp.max(self.diagonal))
        self.floor = floor(operator, capacity)
        self.source: Explicit | FromK
        self.basis: Array | None = None
        if isinstance(operator, Factored):
            self.source = Explicit(operator, 0)
            self.basis = zeros((operator.m, 0), operator.like)
            self.panel: Panel | ImplicitPanel = Panel(operator, capacity)
        else:
            self.source = FromK(operator, capacity)
            self.panel = self.source.panel

    def relative_error(self, problem: Problem) -> float | None:
        """tr C / tr K; None for another criterion."""
        if problem.criterion != "trace" or self.whole <= 0:
            return None
        return total(self.diagonal) / self.whole

    @property
    def left(self) -> Array:
        """Whether each column is not represented yet."""
        return self.diagonal > self.floor

    @property
    def exhausted(self) -> bool:
        """Whether every column is represented up to rounding: the numerical rank is reached."""
        return not bool(namespace(self.diagonal).any(self.left))

    def powers(self, criterion: str) -> Powers:
        """The diagonals of K and its powers, to be kept while columns are picked."""
        operator = self.operator
        if isinstance(operator, Factored):
            diagonals = operator.powers(POWERS[criterion])
        else:
            cubes = [cubed_diagonal(operator)] if criterion == "frobenius" else []
            diagonals = [self.diagonal, squared_diagonal(operator), *cubes]
        return Powers([d + 0.0 for d in diagonals], self.floor, eps(operator.digits))

    def matmul(self, block: Array) -> Array:
        """C @ block."""
        return self.source.matmul(block)

    def leading_digits(self, block: Array) -> tuple[Array, float]:
        """C @ block with fewer digits where that is far cheaper; how far its entries may be off."""
        if isinstance(self.source, Explicit):
            return self.source.matmul(block), 0.0
        product, off = leading_digits(self.operator, block)
        return self.source.without_picks(product, block), off

    def principal(self, indices: np.ndarray) -> np.ndarray:
        """C at the indices, on the host in float64."""
        if isinstance(self.source, Explicit):
            R = host(take(self.source.R, indices, axis=1)).astype(np.float64)
            return R.T @ R
        K = double(self.operator.restrict(indices).columns(np.arange(len(indices))))
        F = double(self.panel.rows(indices))
        return host(K - F @ F.T)

    def pick(self, j: int) -> Array:
        """Choose column j; returns v = C_:j/√C_jj, by which C becomes C − v vᵀ."""
        if not bool(self.left[j]) and self.source_pivot(j) <= float(self.floor[j]):
            v = zeros((self.operator.n,), self.operator.like)
            rows = self.panel.rows([j])
            self._append(np.asarray([j]), v[:, None], rows, np.zeros((1, 1)))
            return v
        if isinstance(self.source, Explicit):
            V = self._deflate(self.source, self.source.direction(int(j), self.basis)[:, None])
            self._append(np.asarray([j]), V, V[:0, :], np.ones((1, 1)))
            return V[:, 0]
        column, rows = self.source.columns_and_rows([j])
        pivot = max(float(column[j, 0]), float(self.floor[j]))
        V = column / pivot**0.5
        self._append(np.asarray([j]), V, rows, np.array([[pivot**0.5]]))
        return V[:, 0]

    def source_pivot(self, j: int) -> float:
        """C_jj from the column itself."""
        return float(self.source.columns([j])[j, 0])

    def pick_block(self, indices: np.ndarray, L: np.ndarray) -> Array:
        """Choose independent columns at once, with L the Cholesky factor of C at them.

        Returns V, by which C becomes C − V Vᵀ.
        """
        L = np.tril(L)
        if isinstance(self.source, Explicit):
            R = take(self.source.R, indices, axis=1)
            V = self._deflate(self.source, solve_triangular(like(L, R), R.T).T)
            rows = V[:0, :]
        else:
            columns, rows = self.source.columns_and_rows(indices)
            V = solve_triangular(like(L, columns), columns.T).T
        self._append(indices, V, rows, L)
        return V

    def _deflate(self, source: Explicit, directions: Array) -> Array:
        """Take orthonormal directions out of an explicit residual; returns V with C − V Vᵀ."""
        V = source.R.T @ directions
        for i in range(directions.shape[1]):
            source.deflate(directions[:, i], V[:, i])
        self.basis = namespace(V).concat([self.basis, directions], axis=1)
        return V

    def _append(self, indices: np.ndarray, V: Array, rows: Array, L: np.ndarray) -> None:
        xp = namespace(self.diagonal)
        self.panel.append(indices, V, rows, L)
        self.picks += [int(j) for j in indices]
        if isinstance(self.source, Explicit):
            self.diagonal = self.source.lengths()
        else:
            left = self.diagonal - xp.sum(V * V, axis=1)
            known = "diagonal" in self.operator.cheap
            if known and float(xp.min(left)) < -INDEFINITE * self.largest:
                check_semidefinite(host(left), host(self.operator.diagonal()))
            self.diagonal = xp.clip(left, min=0.0)
        self.clear(indices)

    def clear(self, indices: Indices) -> None:
        """Count the columns as represented."""
        for j in indices:
            self.diagonal[int(j)] = 0.0


def floor(operator: Operator, k: int) -> Array:
    """C_jj up to which a column is represented: the rounding of that column itself."""
    if isinstance(operator, Factored):
        return operator.floor(k)
    unit = 8 * (k + 8) * eps(operator.digits)
    return unit * namespace(operator.like).clip(operator.diagonal(), min=0.0)


def filled(problem: Problem, picks: list[int], scores: np.ndarray) -> np.ndarray:
    """The picks of a run that was stopped, filled up to k by falling score."""
    rest = np.setdiff1d(problem.free, picks)
    rest = rest[np.argsort(-scores[rest], kind="stable")]
    return np.concatenate([np.asarray(picks, dtype=np.int64), rest])[: problem.k]


def independent(problem: Problem, ranking: np.ndarray) -> np.ndarray:
    """The first k columns of a ranking that the ones before them do not represent already."""
    residual = Residual(problem.operator, problem.k)
    for j in ranking:
        if len(residual.picks) == problem.k or residual.exhausted:
            break
        if j in problem.include or bool(residual.left[int(j)]):
            residual.pick(int(j))
    return complete(problem, residual.picks)
