"""The residual C = K − K̂ of a growing choice: shared by every method that picks one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from .._array import (
    Array,
    Indices,
    as_dtype_of,
    as_single,
    double,
    eps,
    free_memory,
    host,
    like,
    namespace,
    represented,
    root_mean_square,
    solve_from_right,
    take,
    zeros,
)
from ..operators.base import (
    DENSE_MEMORY,
    Operator,
    block_width,
    blocks,
    in_parts,
    in_single,
    itemsize,
    tiles_of_columns,
)
from ..operators.forms import Factored
from ..operators.pair import Pair
from ..operators.parts import draw
from ..operators.pivoted_factor import INDEFINITE, check_semidefinite
from ..problem import Problem, complete
from ..runs.state import State
from .explicit import Explicit
from .powers import Powers


class Panel(State):
    """F with K̂ = F Fᵀ, one column for each pick.

    numbers : memory for all columns; so many are filled.
    """

    def __init__(self, numbers: Array, filled: int = 0):
        self._numbers = numbers
        self._filled = filled

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


class ImplicitPanel(State):
    """The same where the n × k numbers of F would not fit: made again when it is used.

    With S picked, F = K_S R for an upper triangular R in float64, and only R is kept. The columns
    of K must be bit-identical each time. Fused products round K differently from `columns`; with
    them the residual of a smooth kernel in single precision was wrong by a third after a thousand
    picks.
    """

    def __init__(self, operator: Operator, capacity: int):
        self.operator = operator
        self.picks = np.zeros(0, dtype=np.int64)
        self._numbers = zeros((capacity, capacity), double(operator.like))

    @property
    def R(self) -> Array:
        """R with F = K_S R."""
        return self._numbers[: len(self.picks), : len(self.picks)]

    def times(self, block: Array) -> Array:
        weights = as_dtype_of(self.R @ double(block), block)
        product = zeros((self.operator.n, block.shape[1]), block)
        for rows, places, values in tiles_of_columns(self.operator, self.picks):
            product[rows, :] += values @ weights[places, :]
        return product

    def transposed_times(self, block: Array) -> Array:
        product = zeros((len(self.picks), block.shape[1]), block)
        for rows, places, values in tiles_of_columns(self.operator, self.picks):
            product[places, :] += values.T @ block[rows, :]
        return as_dtype_of(self.R.T @ double(product), block)

    def rows(self, indices: Indices, columns: Array | None = None) -> Array:
        if columns is not None:
            K = take(columns, self.picks)
        else:  # the rows of K at the picks, in the columns at the indices; no part of length n
            r, indices = len(self.picks), np.asarray(indices, dtype=np.int64)
            part = self.operator.restrict(np.concatenate([self.picks, indices]))
            K = part.columns(np.arange(r, r + len(indices)))[:r, :]
        return as_dtype_of(double(K).T @ self.R, K)

    def append(self, indices: np.ndarray, V: Array, rows: Array, L: np.ndarray) -> None:
        """As F_new = (K_J − K_S R F_Jᵀ) L⁻ᵀ, the new columns of R are −R F_Jᵀ L⁻ᵀ over L⁻ᵀ."""
        start, end = len(self.picks), len(self.picks) + len(indices)
        inverse = np.zeros((1, 1))  # of a single pick that adds nothing
        if np.any(L):
            inverse = scipy.linalg.solve_triangular(L, np.eye(len(L)), lower=True)
        turn = like(inverse.T, self._numbers)
        self._numbers[:start, start:end] = -(self.R @ double(rows).T) @ turn
        self._numbers[start:end, start:end] = turn
        self.picks = np.concatenate([self.picks, np.asarray(indices, dtype=np.int64)])


def panel(operator: Operator, capacity: int) -> Panel | ImplicitPanel:
    """F if half of the free memory holds its numbers or columns cost products; else R."""
    needed = operator.n * capacity * itemsize(operator.like)
    fits = needed <= free_memory(operator.like, otherwise=2 * DENSE_MEMORY) // 2
    if fits or "columns" not in operator.cheap:
        return Panel(zeros((operator.n, capacity), operator.like))
    return ImplicitPanel(operator, capacity)


class FromK:
    """C = K − F Fᵀ from columns and products of K; a column is accurate to the rounding of K_jj."""

    def __init__(self, pair: Pair, panel: Panel | ImplicitPanel):
        self.pair = pair
        self.operator = pair.operator
        self.panel = panel

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

    def diagonals(self, depth: int) -> list[Array]:
        """diag C, diag CΩC and, for depth 2, diag CΩCΩC from the columns of C, block by block."""
        n = self.operator.n
        parts = [
            self.diagonals_at(block, self.columns(block), depth)
            for block in blocks(n, block_width(self.operator))
        ]
        return [namespace(self.operator.like).concat(part) for part in zip(*parts, strict=True)]

    def diagonals_at(self, block: np.ndarray, C: Array, depth: int) -> list[Array]:
        """The same at a block of indices; C : the columns of C there."""
        xp, weighted = namespace(C), self.pair.weighed(C)
        found = [xp.clip(xp.linalg.diagonal(take(C, block)), min=0.0)]
        if depth > 0:
            found.append(xp.sum(C * weighted, axis=0))
        if depth == 2:
            found.append(xp.sum(weighted * self.matmul(weighted), axis=0))
        return found


class Residual(State):
    """C after some picks: its diagonal, its columns and its products.

    floor : the entries of diag C at which a column counts as represented.
    panel : F with K̂ = F Fᵀ, one column per pick.
    """

    def __init__(self, pair: Pair, capacity: int):
        operator = pair.operator
        xp = namespace(operator.like)
        self.pair = pair
        self.operator = operator
        self.picks: list[int] = []
        self.diagonal = xp.clip(operator.diagonal(), min=0.0)
        self.whole, self.largest = pair.total(self.diagonal), float(xp.max(self.diagonal))
        self.floor = floor(operator, capacity)
        self.source: Explicit | FromK
        self.basis: Array | None = None
        if isinstance(operator, Factored):
            self.source = Explicit(operator, capacity if pair.noise is not None else 0, pair)
            self.basis = zeros((self.source.R.shape[0], 0), operator.like)
            empty = zeros((operator.n, capacity), operator.like)
            self.panel: Panel | ImplicitPanel = Panel(empty)
        else:
            self.panel = panel(operator, capacity)
            self.source = FromK(pair, self.panel)

    def open_to(self, problem: Problem) -> np.ndarray:
        """Whether each column may be picked."""
        found = np.zeros(self.operator.n, dtype=bool)
        found[problem.free] = True
        return found

    def draw(
        self, allowed: np.ndarray, size: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Independent columns in proportion to weight, and their weights; None if all are zero."""
        weights = self.weights(allowed)
        if not np.any(weights):
            return None
        drawn = draw(weights, size, rng)
        return drawn, weights[drawn]

    def weights(self, allowed: np.ndarray) -> np.ndarray:
        """The residual diagonal where it is allowed and above rounding, else zero."""
        c = host(self.diagonal).astype(np.float64)
        return np.where(allowed & host(self.left), c, 0.0)

    def heaviest(self, allowed: np.ndarray, count: int) -> np.ndarray:
        """The allowed columns of which most is left."""
        weights = self.weights(allowed)
        order = np.argsort(-weights, kind="stable")[:count]
        return order[weights[order] > 0]

    def floor_at(self, indices: np.ndarray) -> np.ndarray:
        """The entries of diag C at which these columns count as represented."""
        return host(self.floor).astype(np.float64)[indices]

    def share_of(self, problem: Problem) -> Callable[[], float | None] | None:
        """What is reported as the error: the share that is left, if the trace is minimised."""
        return self.relative_error if problem.objective.additive else None

    def relative_error(self) -> float | None:
        """The trace that is left as a share of the total."""
        return self.pair.total(self.diagonal) / self.whole if self.whole > 0 else None

    @property
    def left(self) -> Array:
        """Whether each column is not represented yet."""
        return self.pair.pivots(self.diagonal) > self.floor

    @property
    def exhausted(self) -> bool:
        """Whether all candidates are represented up to rounding: the numerical rank is reached."""
        return not bool(namespace(self.diagonal).any(self.left[: self.pair.n]))

    def powers(self, depth: int) -> Powers:
        """diag K, diag KΩK, … for an objective, to be kept while columns are picked."""
        diagonals = [self.diagonal, *self.pair.diagonals(depth)[1:]]
        return Powers(
            [d + 0.0 for d in diagonals], self.floor, eps(self.operator.digits), self.pair
        )

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
        least = float(self.floor[j])
        if not bool(self.left[j]) and self.with_noise(self.source.columns([j]), j) <= least:
            v = zeros((self.operator.n,), self.operator.like)
            rows = self.panel.rows([j])
            self._append(np.asarray([j]), v[:, None], rows, np.zeros((1, 1)))
            return v
        if isinstance(self.source, Explicit):
            q = self.source.direction(int(j), len(self.picks), self.basis)
            V = self._deflate(self.source, q[:, None])
            self._append(np.asarray([j]), V, V[:0, :], np.ones((1, 1)))
            return V[:, 0]
        column, rows = self.source.columns_and_rows([j])
        pivot = max(self.with_noise(column, j), least)
        V = column / pivot**0.5
        self._append(np.asarray([j]), V, rows, np.array([[pivot**0.5]]))
        return V[:, 0]

    def with_noise(self, column: Array, j: int) -> float:
        """C_jj + ν_j from the column of C."""
        c, noise = float(column[j, 0]), self.pair.noise
        return c if noise is None else c + float(noise[j])

    def pick_block(self, indices: np.ndarray, L: np.ndarray) -> Array:
        """Choose independent columns at once, with L the Cholesky factor of C at them.

        Returns V, by which C becomes C − V Vᵀ.
        """
        L = np.tril(L)
        if isinstance(self.source, Explicit):
            R = take(self.source.R, indices, axis=1)
            V = self._deflate(self.source, solve_from_right(R, like(L, R)))
            rows = V[:0, :]
        else:
            columns, rows = self.source.columns_and_rows(indices)
            V = solve_from_right(columns, like(L, columns))
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
            one = V.shape[1] == 1  # a sum over an axis of length one takes far longer
            left = self.diagonal - (V[:, 0] * V[:, 0] if one else xp.sum(V * V, axis=1))
            known = "diagonal" in self.operator.cheap
            if known and float(xp.min(left)) < -INDEFINITE * self.largest:
                check_semidefinite(host(left), host(self.operator.diagonal()))
            self.diagonal = xp.clip(left, min=0.0)
        self.clear(indices)

    def clear(self, indices: Indices) -> None:
        """Count the columns as represented; what was measured with noise is not."""
        for j in indices:
            if self.pair.noise is None or self.pair.noise[int(j)] == 0:
                self.diagonal[int(j)] = 0.0


def floor(operator: Operator, k: int) -> Array:
    """C_jj up to which a column is represented: the rounding of that column itself."""
    if isinstance(operator, Factored):
        return operator.floor(k)
    share = represented(k, eps(operator.digits))
    return share * namespace(operator.like).clip(operator.diagonal(), min=0.0)


def leading_digits(operator: Operator, block: Array) -> tuple[Array, float]:
    """K @ block, in float32 if that is far cheaper, and how far an entry may be off.

    The second is the error relative to the norm of the product, spread evenly over its entries.
    On a graphics card a product of float64 points costs 4 to 13 times that of the same points in
    float32, whose relative error is below 1e-5. That is enough for scores from random probes, and
    for gains that differ by more; who uses it switches to float64 where the error could matter.
    """
    rough = in_single(operator)
    if rough is None:
        product, error = operator.matmul(block), operator.product_error
    else:
        product, error = double(rough.matmul(as_single(block))), rough.product_error
        operator.ledger.in_single += block.shape[1]
    return product, error * root_mean_square(product)


def residual_of(problem: Problem, pair: Pair) -> Any:
    """The residual before the first pick: in memory, or in parts where the operator has them."""
    if in_parts(pair.operator) is not None:
        return in_parts(pair.operator).residual(problem.k, problem.exclude)
    return Residual(pair, problem.k)


def filled(problem: Problem, picks: list[int], scores: np.ndarray) -> np.ndarray:
    """The picks of a run that was stopped, filled up to k by falling score."""
    rest = np.setdiff1d(problem.free, picks)
    rest = rest[np.argsort(-scores[rest], kind="stable")]
    return complete(problem, [*picks, *rest][: problem.k])


def independent(problem: Problem, ranking: np.ndarray) -> np.ndarray:
    """The first k columns of a ranking that the ones before them do not represent already."""
    residual = Residual(problem.unscaled, problem.k)
    for j in ranking:
        if len(residual.picks) == problem.k or residual.exhausted:
            break
        if j in problem.include or bool(residual.left[int(j)]):
            residual.pick(int(j))
    return complete(problem, residual.picks)
