"""The diagonal blocks of C, C² and C³ at units of columns, which give the gain of every unit.

Picking unit u changes C to C − V Vᵀ with V = C_:u (C_uu⁺)^½. So the trace falls by
tr(C_uu⁺ (C²)_uu), and ‖C‖²_F by 2 tr(C_uu⁺ (C³)_uu) − ‖(C_uu⁺)^½ (C²)_uu (C_uu⁺)^½‖²_F. For units
of one column these are the gains of greedy selection. A column that the others of its unit
represent has a zero eigenvalue in C_uu and adds nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._array import Array, host, namespace, rank_tolerance, take
from ...operators.base import Operator, block_width
from ...operators.forms import Factored
from ...residual.powers import POWERS
from ...runs.runner import once_per_run
from .units import Units

FLOOR = 64  # units in the last place of the longest column: smaller directions are rounding


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


class Blocks:
    """Stacks of diagonal blocks of the powers of C, one stack per size of unit and power.

    tolerance : the eigenvalue of C_uu below which a direction counts as represented.
    """

    def __init__(self, buckets: list[Bucket], stacks: list[list[Array]], tolerance: float):
        self.buckets = buckets
        self.stacks = stacks
        self.tolerance = tolerance

    @classmethod
    def of(cls, operator: Operator, units: Units, criterion: str) -> Blocks:
        """The blocks of K and its powers: one pass over K; Frobenius takes a product per column."""
        sizes = np.array([len(members) for members in units.members])
        buckets = [
            Bucket(which, np.stack([units.members[u] for u in which]))
            for s in np.unique(sizes)
            for which in [np.flatnonzero(sizes == s)]
        ]
        if isinstance(operator, Factored):
            floor = float(namespace(operator.like).max(operator.floor(len(sizes))))
            return cls(buckets, [], floor).of_factor(operator.X, POWERS[criterion])
        powers = POWERS[criterion]
        stacks = once_per_run(
            f"blocks of K, {criterion}",
            operator.ledger,
            lambda: [_stacks_of_K(operator, bucket, powers) for bucket in buckets],
        )
        largest = float(namespace(operator.like).max(operator.diagonal()))
        return cls(buckets, stacks, rank_tolerance(operator.digits) * max(largest, 0.0))

    def of_factor(self, R: Array, powers: int) -> Blocks:
        """The blocks of C = RᵀR and its powers: sums of products of R, which lose no digits."""
        xp = namespace(R)
        images = [R]
        gram = R @ R.T
        for _ in range(powers):
            images.append(gram @ images[-1])
        stacks = []
        for bucket in self.buckets:
            left = xp.matrix_transpose(bucket.columns_of(R))
            stacks.append([left @ bucket.columns_of(image) for image in images])
        return Blocks(self.buckets, stacks, self.tolerance)

    @property
    def error(self) -> float:
        """tr C, or ‖C‖²_F = tr C², over all columns."""
        power = len(self.stacks[0]) - 2
        return sum(
            float(np.sum(np.maximum(_diagonals(host(stacks[power])), 0.0)))
            for stacks in self.stacks
        )

    def changed(self, sign: float, x: list[Array]) -> Blocks:
        """The blocks when C becomes C + sign · V Vᵀ, with x = [V, CV, (C²V)]."""
        G = x[0].T @ x[0]
        H = x[0].T @ x[1]
        stacks = [
            _changed(stack, sign, [bucket.rows(block) for block in x], G, H)
            for bucket, stack in zip(self.buckets, self.stacks, strict=True)
        ]
        return Blocks(self.buckets, stacks, self.tolerance)

    def gains(self) -> np.ndarray:
        """By how much each unit would lower the error."""
        gains = np.zeros(sum(len(bucket.units) for bucket in self.buckets))
        for bucket, stack in zip(self.buckets, self.stacks, strict=True):
            gains[bucket.units] = host(_gains(stack, self.tolerance))
        return gains


def _stacks_of_K(operator: Operator, bucket: Bucket, powers: int) -> list[Array]:
    """The blocks of K, K² (and K³) at the units, some units at a time."""
    xp = namespace(operator.like)
    width = max(1, block_width(operator) // bucket.columns.shape[1])
    parts = [
        _powers_at(operator, bucket.columns[start : start + width], powers)
        for start in range(0, len(bucket.columns), width)
    ]
    return [xp.concat(blocks) for blocks in zip(*parts, strict=True)]


def _powers_at(operator: Operator, members: np.ndarray, powers: int) -> list[Array]:
    xp = namespace(operator.like)
    bucket = Bucket(members, members)
    columns = operator.columns(members.ravel())
    images = [columns] if powers == 1 else [columns, operator.matmul(columns)]
    sides = [_by_unit(block, members.shape) for block in images]
    rows, size = bucket.rows(columns), members.shape[1]
    at_units = xp.stack([rows[i, :, i * size : (i + 1) * size] for i in range(len(members))])
    return [at_units, *(xp.matrix_transpose(sides[0]) @ side for side in sides)]


def _by_unit(columns: Array, shape: tuple[int, ...]) -> Array:
    """n × (g s) columns as a stack of g blocks n × s."""
    xp = namespace(columns)
    return xp.permute_dims(xp.reshape(columns, (columns.shape[0], *shape)), (1, 0, 2))


def _changed(stack: list[Array], sign: float, x: list[Array], G: Array, H: Array) -> list[Array]:
    T = namespace(G).matrix_transpose
    v = x[0]
    p = x[1]
    vG = v @ G
    changes = [sign * (v @ T(v)), sign * (p @ T(v) + v @ T(p)) + vG @ T(v)]
    if len(x) == 3:
        q = x[2]
        pGv = p @ G @ T(v)
        changes.append(
            sign * (q @ T(v) + v @ T(q) + p @ T(p) + vG @ T(vG)) + pGv + T(pGv) + v @ H @ T(v)
        )
    return [block + change for block, change in zip(stack, changes, strict=True)]


def _gains(stack: list[Array], tolerance: float) -> Array:
    """tr(C⁺ A), or 2 tr(C⁺ B) − tr(C⁺ A C⁺ A), in the eigenvectors of each block of C."""
    xp = namespace(stack[0])
    values, U = xp.linalg.eigh((stack[0] + xp.matrix_transpose(stack[0])) / 2)
    left = values > tolerance
    inverse = xp.where(
        left, 1 / xp.where(left, values, xp.ones_like(values)), xp.zeros_like(values)
    )
    A, last = (xp.matrix_transpose(U) @ block @ U for block in (stack[1], stack[-1]))
    along = xp.clip(xp.sum(inverse * _diagonals(last), axis=1), min=0.0)
    if len(stack) == 2:
        return along
    return xp.clip(
        2 * along - xp.sum(inverse[:, :, None] * inverse[:, None, :] * A * A, axis=(1, 2)), min=0.0
    )


def _diagonals(stack: Array) -> Array:
    return namespace(stack).linalg.diagonal(stack)
