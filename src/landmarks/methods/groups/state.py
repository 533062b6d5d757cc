"""A choice of units with its residual: the gain of adding each unit, the cost of dropping it.

A unit is a column or a group of columns. The gain of each follows from the diagonal blocks of C,
CΩC and CΩCΩC at its columns. With P = C_uu + N, picking unit u changes C to C − V Vᵀ with
V = C_:u (P⁺)^½. So the trace falls by tr(P⁺ (CΩC)_uu), and the Frobenius error by
2 tr(P⁺ (CΩCΩC)_uu) − ‖(P⁺)^½ (CΩC)_uu (P⁺)^½‖²_F. For units of one column these are the gains of
greedy selection. A column that the others of its unit represent has a zero eigenvalue in P and adds
nothing. Columns are first scaled to what is left of their own length, so that small ones count like
large ones.

The log determinant of the chosen columns rises by log det P. Without noise, lengths are in a unit
below all that can be left of a column: gains are positive, and choices of as many columns compare
as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._array import Array, eps, host, like, namespace, represented, take, zeros
from ...allowed import Allowed
from ...linalg.error import squared_residual, total
from ...operators.base import Operator, block_width
from ...operators.forms import Factored
from ...operators.pair import Pair
from ...residual.explicit import Explicit
from ...residual.factors import Factors, factorise
from ...residual.loading import ENOUGH
from ...residual.residual import FromK, Panel, floor
from ...runs.runner import passes_of


class Bucket(NamedTuple):
    """The units of one size: their numbers, and their columns, one row per unit."""

    units: np.ndarray
    columns: np.ndarray

    def rows(self, block: Array) -> Array:
        """The rows of an n × r block at each unit, stacked."""
        return namespace(block).reshape(
            take(block, self.columns.ravel()), (*self.columns.shape, block.shape[1])
        )

    def columns_of(self, matrix: Array) -> Array:
        """The columns of an r × n matrix at each unit, stacked."""
        return namespace(matrix).permute_dims(self.rows(matrix.T), (0, 2, 1))


@dataclass(frozen=True, eq=False)
class Blocks:
    """Stacks of diagonal blocks of the powers of C, one stack per size of unit and power.

    error : Σ ω_j C_jj, ‖Ω^½CΩ^½‖²_F or −log det. floor : what is left of a column that is
    represented.
    """

    pair: Pair
    buckets: list[Bucket]
    stacks: list[list[Array]]
    floor: np.ndarray
    error: float

    @classmethod
    def of(cls, pair: Pair, allowed: Allowed, depth: int) -> Blocks:
        """The blocks of K and its powers: one pass over K; Frobenius takes a product per column."""
        operator = pair.operator
        sizes = np.array([len(members) for members in allowed.members])
        buckets = [
            Bucket(which, np.stack([allowed.members[u] for u in which]))
            for s in np.unique(sizes)
            for which in [np.flatnonzero(sizes == s)]
        ]
        least = host(floor(operator, allowed.most)).astype(np.float64)
        if isinstance(operator, Factored):
            return cls(pair, buckets, [], least, 0.0).of_factor(operator.X, depth)
        passes, name = passes_of(operator.ledger), f"blocks of K, depth {depth}"
        if name not in passes:
            K = residual(pair, zeros((operator.n, 0), operator.like))
            passes[name] = [_stacks(K, bucket, depth) for bucket in buckets]
        return cls(pair, buckets, passes[name], least, total(pair, depth) if depth else 0.0)

    @cached_property
    def log_unit(self) -> float:
        """The logarithm of the unit of squared lengths for log determinants."""
        if self.pair.noise is not None:
            return 0.0  # with its noise a candidate has at least one already
        least = float(np.min(self.floor[: self.pair.n]))
        return float(np.log(max(least * eps(self.pair.operator.like), np.finfo(float).tiny)))

    def of_residual(self, F: Array) -> Blocks:
        """The blocks of C = K − F Fᵀ from its columns, where little is left of K."""
        depth, pair = len(self.stacks[0]) - 1, self.pair
        stacks = [_stacks(residual(pair, F), bucket, depth) for bucket in self.buckets]
        if depth == 2:
            error = squared_residual(pair, F, block_width(pair.operator))
        else:
            left = pair.operator.diagonal() - namespace(F).sum(F * F, axis=1)
            error = pair.total(namespace(F).clip(left, min=0.0))
        return replace(self, stacks=stacks, error=error)

    def of_factor(self, R: Array, depth: int) -> Blocks:
        """The blocks of C = RᵀR and its powers: sums of products of R, which lose no digits."""
        xp = namespace(R)
        images = [R]
        gram = R @ self.pair.weighed(R.T)  # R Ω Rᵀ
        for _ in range(depth):
            images.append(gram @ images[-1])
        stacks = []
        for bucket in self.buckets:
            left = xp.matrix_transpose(bucket.columns_of(R))
            stacks.append([left @ bucket.columns_of(image) for image in images])
        error = float(xp.linalg.trace(gram)) if depth == 1 else float(xp.sum(gram * gram))
        error = error if depth else 0.0
        return replace(self, stacks=stacks, error=error)

    def changed(self, sign: float, x: list[Array]) -> Blocks:
        """The blocks when C becomes C + sign · V Vᵀ, with x = [V, CΩV, (CΩCΩV)].

        With x = [V] alone the error stays as it is.
        """
        xp, T, error = namespace(x[0]), namespace(x[0]).matrix_transpose, self.error
        if len(x) > 1:
            weighted = self.pair.weighed(x[0])
            G, H = x[0].T @ weighted, weighted.T @ x[1]
            change = sign * float(xp.linalg.trace(G))
            if len(x) == 3:
                change = 2 * sign * float(xp.linalg.trace(H)) + float(xp.sum(G * G))
            error = max(0.0, error + change)
        stacks = []
        for bucket, stack in zip(self.buckets, self.stacks, strict=True):
            v, *images = (bucket.rows(block) for block in x)
            changes = [sign * (v @ T(v))]
            if images:
                p, vG = images[0], v @ G
                changes.append(sign * (p @ T(v) + v @ T(p)) + vG @ T(v))
            if len(images) == 2:
                q, pGv = images[1], p @ G @ T(v)
                own = q @ T(v) + v @ T(q) + p @ T(p) + vG @ T(vG)
                changes.append(sign * own + pGv + T(pGv) + v @ H @ T(v))
            stacks.append([block + part for block, part in zip(stack, changes, strict=True)])
        return replace(self, stacks=stacks, error=error)

    def gains(self) -> np.ndarray:
        """By how much each unit would lower the error."""
        gains = np.zeros(sum(len(bucket.units) for bucket in self.buckets))
        for bucket, stack in zip(self.buckets, self.stacks, strict=True):
            gains[bucket.units] = host(self._gains(bucket, stack))
        return gains

    def _gains(self, bucket: Bucket, stack: list[Array]) -> Array:
        """tr(P⁺ A), or 2 tr(P⁺ B) − tr(P⁺ A P⁺ A), in the eigenvectors of each scaled block."""
        xp = namespace(stack[0])
        inverse, U = directions(stack[0], bucket.columns, self.pair, self.floor)
        if len(stack) == 1:
            whole = xp.all(inverse > 0, axis=1)[:, None]  # else the gain is zero: −∞ in truth
            lengths = xp.where(whole, xp.sum(U * U, axis=2) * inverse, xp.ones_like(inverse))
            return -xp.sum(xp.where(whole, xp.log(lengths) + self.log_unit, 0 * inverse), axis=1)
        A, last = (xp.matrix_transpose(U) @ block @ U for block in (stack[1], stack[-1]))
        along = xp.clip(xp.sum(inverse * _diagonals(last), axis=1), min=0.0)
        if len(stack) == 2:
            return along
        both = inverse[:, :, None] * inverse[:, None, :] * A * A
        return xp.clip(2 * along - xp.sum(both, axis=(1, 2)), min=0.0)


def directions(C: Array, columns: np.ndarray, pair: Pair, floor: np.ndarray) -> tuple[Array, Array]:
    """Λ⁺ and U with P⁺ = U Λ⁺ Uᵀ for a stack of blocks P = C_uu + N of the columns of units.

    Columns are scaled to what is left of their own length. Directions that rounding may have made
    get zero: what is left of a column is right to its floor.
    """
    xp = namespace(C)
    P = (C + xp.matrix_transpose(C)) / 2
    if pair.noise is not None:
        identity = like(np.eye(columns.shape[1]), C)
        P = P + like(pair.noise[columns], C)[:, :, None] * identity[None, :, :]
    least, left = like(floor[columns], C), _diagonals(P)
    there = left > least
    length = xp.where(there, left, xp.ones_like(left))
    if columns.shape[1] == 1:
        return xp.where(there, 1 / length, xp.zeros_like(left)), xp.ones_like(P)
    scale = xp.where(there, 1 / xp.sqrt(length), xp.zeros_like(left))
    values, U = xp.linalg.eigh(P * scale[:, :, None] * scale[:, None, :])
    doubt = xp.max(xp.where(there, least / length, xp.zeros_like(left)), axis=1)
    tolerance = columns.shape[1] * (represented(0, eps(C)) + doubt)
    kept = values > tolerance[:, None]
    safe = xp.where(kept, values, xp.ones_like(values))
    inverse = xp.where(kept, 1 / safe, xp.zeros_like(values))
    return inverse, scale[:, :, None] * U


def residual(pair: Pair, F: Array) -> FromK:
    """C = K − F Fᵀ."""
    return FromK(pair, Panel(F, F.shape[1]))


def _stacks(C: FromK, bucket: Bucket, depth: int) -> list[Array]:
    """The blocks of C, CΩC (and CΩCΩC) at the units, some units at a time."""
    xp, size = namespace(C.operator.like), bucket.columns.shape[1]
    width = max(1, block_width(C.operator) // size)
    parts = []
    for start in range(0, len(bucket.columns), width):
        members = bucket.columns[start : start + width]
        columns = C.columns(members.ravel())
        weighted = C.pair.weighed(columns)
        sides = [columns, C.matmul(weighted)] if depth == 2 else [columns][:depth]
        rows = Bucket(members, members).rows(columns)
        own = xp.stack([rows[i, :, i * size : (i + 1) * size] for i in range(len(members))])
        left = xp.matrix_transpose(_by_unit(weighted, members.shape))
        parts.append([own, *(left @ _by_unit(side, members.shape) for side in sides)])
    return [xp.concat(blocks) for blocks in zip(*parts, strict=True)]


def _by_unit(columns: Array, shape: tuple[int, ...]) -> Array:
    """n × (g s) columns as a stack of g blocks n × s."""
    xp = namespace(columns)
    return xp.permute_dims(xp.reshape(columns, (columns.shape[0], *shape)), (1, 0, 2))


def _diagonals(stack: Array) -> Array:
    return namespace(stack).linalg.diagonal(stack)


class Basis(NamedTuple):
    """The independent ones among chosen columns, and F, KF (and K²F) of them."""

    factors: Factors
    images: list[Array]


@dataclass(frozen=True, eq=False)
class UnitState:
    """Chosen units, F with C = K − F Fᵀ, and the blocks of C. Changes make a new state."""

    pair: Pair
    allowed: Allowed
    of_K: Blocks
    chosen: tuple[int, ...]
    F: Array
    blocks: Blocks
    basis: Basis | None = None

    @classmethod
    def empty(cls, pair: Pair, allowed: Allowed, depth: int) -> UnitState:
        """Nothing chosen."""
        blocks = Blocks.of(pair, allowed, depth)
        nothing = zeros((pair.operator.n, 0), pair.operator.like)
        return cls(pair, allowed, blocks, (), nothing, blocks)

    @property
    def operator(self) -> Operator:
        """K."""
        return self.pair.operator

    @property
    def error(self) -> float:
        """Σ ω_j C_jj, ‖Ω^½CΩ^½‖²_F or −log det."""
        return self.blocks.error

    def share(self, error: float) -> float | None:
        """An error over that of choosing nothing; None for a log determinant."""
        return error / (self.of_K.error or 1.0) if self.depth else None

    @property
    def depth(self) -> int:
        """How many products with a block the change of the blocks needs."""
        return len(self.blocks.stacks[0]) - 1

    def added(self, unit: int) -> UnitState:
        """With one unit more: its columns of K and a product with each, two for Frobenius."""
        if isinstance(self.operator, Factored):
            return self.loaded([*self.chosen, int(unit)])
        members = self.allowed.members[unit]
        left_over = residual(self.pair, self.F)
        columns = left_over.columns(members)
        C = host(take(columns, members)).astype(np.float64)[None]
        inverse, U = directions(C, np.asarray(members)[None], self.pair, self.blocks.floor)
        left = inverse[0] > 0
        V = columns @ like(U[0][:, left] * np.sqrt(inverse[0][left]), columns)
        x = [V]
        for _ in range(self.depth):
            x.append(left_over.matmul(self.pair.weighed(x[-1])))
        F = namespace(V).concat([self.F, V], axis=1)
        blocks = self._sharp(self.blocks.changed(-1.0, x), F)
        if self.depth == 0:
            blocks = replace(blocks, error=self.error - float(self.blocks.gains()[unit]))
        return replace(self, chosen=(*self.chosen, int(unit)), F=F, blocks=blocks, basis=None)

    def _sharp(self, blocks: Blocks, F: Array) -> Blocks:
        """The blocks from the columns of C, where little of K is left: others lost their digits."""
        if self.depth == 0 or blocks.error > ENOUGH**self.depth * self.of_K.error:
            return blocks
        return self.of_K.of_residual(F) if "columns" in self.operator.cheap else blocks

    def loaded(self, chosen: Sequence[int]) -> UnitState:
        """Other units, from scratch: a product for each of their columns, two for Frobenius."""
        if len(chosen) == 0:
            return replace(self, chosen=(), F=self.F[:, :0], blocks=self.of_K, basis=None)
        if isinstance(self.operator, Factored):
            return self._loaded_from(self.operator, tuple(chosen))
        basis = self._basis(chosen)
        blocks = self._sharp(self.of_K.changed(-1.0, basis.images), basis.factors.F)
        if self.depth == 0:
            blocks = self._with_volume(blocks, chosen, 1 / np.diagonal(basis.factors.factor))
        return replace(self, chosen=tuple(chosen), F=basis.factors.F, blocks=blocks, basis=basis)

    def _with_volume(self, blocks: Blocks, chosen: Sequence[int], R: np.ndarray) -> Blocks:
        """The blocks with −log det P_SS as error; R is the diagonal of a factor of P_SS⁻¹."""
        size = len(self.allowed.columns(list(chosen)))
        if len(R) < size:
            return replace(blocks, error=np.inf)
        volume = size * self.of_K.log_unit + 2 * float(np.sum(np.log(np.abs(R))))
        return replace(blocks, error=volume)

    def _loaded_from(self, operator: Factored, chosen: tuple[int, ...]) -> UnitState:
        """Other units, with the residual of the columns as a matrix of its own."""
        columns = self.allowed.columns(list(chosen))
        source = Explicit(operator, len(columns), self.pair)
        kept, _ = source.load(columns, host(operator.floor(len(columns))), len(columns))
        blocks = self.of_K.of_factor(source.R, self.depth)
        if self.depth == 0:  # DᵀD = P_SS⁻¹
            R = np.linalg.qr(host(source.D)[:, : len(kept)], mode="r")
            blocks = self._with_volume(blocks, chosen, np.diagonal(R))
        return replace(self, chosen=chosen, blocks=blocks, basis=None)

    def without(self, out: Sequence[int]) -> Blocks:
        """The blocks of the residual without some units; products only for dependent columns."""
        if isinstance(self.operator, Factored):
            return self.loaded([u for u in self.chosen if u not in out]).blocks
        factors = self._own_basis.factors
        faint = self.depth > 0 and self.error <= ENOUGH**self.depth * self.of_K.error
        if faint or len(factors.order) < len(self.allowed.columns(list(self.chosen))):
            # what was superfluous may be needed now
            return self.loaded([u for u in self.chosen if u not in out]).blocks
        places = np.flatnonzero(np.isin(factors.order, self.allowed.columns(list(out))))
        root = np.linalg.cholesky(factors.inverse[np.ix_(places, places)])
        turn = like(np.linalg.inv(root).T, self.operator.like)
        changed = self.blocks.changed(
            1.0, [take(rows, places, axis=1) @ turn for rows in self._rows]
        )
        if self.depth > 0:
            return changed
        lost = len(places) * self.of_K.log_unit + 2 * float(np.sum(np.log(np.diagonal(root))))
        return replace(changed, error=self.error - lost)

    def _basis(self, chosen: Sequence[int]) -> Basis:
        columns = self.allowed.columns(list(chosen))
        floors = host(floor(self.operator, len(columns)))[columns]
        factors = factorise(self.pair, columns, floors)
        images = [factors.F]
        for _ in range(self.depth):
            images.append(self.operator.matmul(self.pair.weighed(images[-1])))
        return Basis(factors, images)

    @cached_property
    def _own_basis(self) -> Basis:
        return self.basis or self._basis(self.chosen)

    @cached_property
    def _rows(self) -> list[Array]:
        """Wᵀ, CΩWᵀ (and CΩCΩWᵀ), one column per independent chosen column."""
        F, *images = self._own_basis.images
        G = F.T @ self.pair.weighed(F)
        x = [F, *(image - F @ G for image in images[:1])]
        if self.depth == 2:
            x.append(images[1] - images[0] @ G - F @ (F.T @ self.pair.weighed(x[1])))
        return [block @ like(self._own_basis.factors.inverse_factor, F) for block in x]
