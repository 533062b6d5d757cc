"""What a worker holds of a kernel matrix, and what it answers about it.

A shard is a part of the points with their rows of the residual C = K − F Fᵀ: the diagonal, the rows
of F and, for nuclear scores, those of CZ for random signs Z. It depends only on its points and on
the picks so far. Every function returns a new shard and changes none, so that a shard which is lost
with its worker is made again from its points and the picks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ... import _check
from ..._array import Array, host, like, namespace, on_gpu, solve_from_right, take, zeros
from ...kernels import Kernel, diagonal_values, in_widths, largest_norm
from ..gpu import fused
from ..parts import drawn_inside
from ..parts import signs as signs_of
from ..pivoted_factor import INDEFINITE, check_semidefinite

TILE = 512  # rows and columns of kernel values at a time: 2 MB
CARD_TILE = 2**15  # the same on a card, where many short steps take long


@dataclass(frozen=True)
class Rule:
    """How the kernel of two blocks of points is evaluated.

    centre : what is subtracted from the points of a stationary kernel, so that fewer digits cancel.
    device : where it is evaluated: None for NumPy, else a device of torch.
    exponent : of two, by which the values are divided.
    """

    h: Kernel
    centre: np.ndarray | None
    device: str | None
    precision: str
    exponent: int = 0

    def placed(self, points: np.ndarray) -> Array:
        """The points as h takes them, in float64."""
        points = points.astype(np.float64)
        return self.moved(points if self.centre is None else points - self.centre)

    def spread(self, points: np.ndarray) -> np.ndarray:
        """The points whose distances the kernel sees, on the host."""
        points = host(self.placed(points))
        sigma = getattr(self.h, "sigma", 1.0)
        return in_widths(points, sigma) if isinstance(sigma, tuple) else points

    def moved(self, array: np.ndarray) -> Array:
        """The array where the kernel is evaluated."""
        if self.device is None:
            return array
        import torch

        return torch.asarray(array, dtype=torch.float64, device=self.device)

    def block(self, x: Array, y: Array) -> Array:
        """The values h(x, y) of a tile."""
        return _check.scaled(self.h(x, y), self.exponent)

    def product(self, x: Array, y: Array, V: Array) -> Array:
        """h(x, y) @ V, tile by tile; fused on a card."""
        if fused.available(x) and fused.supported(self.h):
            left, right = fused.prepare(x, self.h), fused.prepare(y, self.h)
            return fused.product(self.h, left, right, V, precision=self.precision)
        found = zeros((x.shape[0], V.shape[1]), x)
        for rows in tiles(x):
            for cols in tiles(y):
                found[rows, :] += self.block(x[rows, :], y[cols, :]) @ V[cols, :]
        return found

    def diagonal(self, x: Array) -> Array:
        """The values h(x_i, x_i)."""
        return _check.scaled(diagonal_values(self.h, x), self.exponent)

    def largest_norm(self, points: np.ndarray) -> float:
        """The largest squared norm of the points, in units of the kernel's width."""
        return largest_norm(self.h, self.placed(points))


def tiles(x: Array, card: int = TILE) -> list[slice]:
    """The rows of x in tiles, of so many rows on a card."""
    n, step = x.shape[0], card if on_gpu(x) else TILE
    return [slice(a, min(n, a + step)) for a in range(0, n, step)]


class Block(NamedTuple):
    """Picks J: their numbers, points as they were read, F_J before, and L with C_JJ = L Lᵀ."""

    indices: np.ndarray
    points: np.ndarray
    rows: np.ndarray
    L: np.ndarray


class Looked(NamedTuple):
    """What is known of some rows: their numbers, points, rows of F and of CZ, diag K, diag C."""

    indices: np.ndarray
    points: np.ndarray
    rows: np.ndarray
    CZ: np.ndarray
    whole: np.ndarray
    diagonal: np.ndarray


class Sums(NamedTuple):
    """Sums over a shard: of the weights of a draw, of diag C, and of the squares of CZ."""

    weight: float
    trace: float
    squares: float


@dataclass(frozen=True)
class Shard:
    """Rows start … of K and of the residual of the picks so far.

    points : as they were read.
    unit : the share of K_jj up to which a residual C_jj is rounding.
    closed : the places that may not be picked.
    factor : the rows of F, in the blocks that were appended.
    CZ : its rows; None unless there are probes.
    off : what an entry of CZ may be off by.
    """

    points: np.ndarray
    start: int
    unit: float
    whole: Array
    diagonal: Array
    closed: tuple[int, ...] = ()
    factor: tuple[Array, ...] = ()
    CZ: Any = None
    off: float = 0.0

    def __sizeof__(self) -> int:
        parts = [self.points, self.whole, self.diagonal, *self.factor]
        parts += [] if self.CZ is None else [self.CZ]
        here = [part for part in parts if not on_gpu(part)]  # dask counts the worker's own memory
        return 256 + sum(int(np.prod(part.shape)) * part.dtype.itemsize for part in here)

    def inside(self, indices: np.ndarray) -> np.ndarray:
        """The places in the shard of those indices that are in it."""
        indices = np.asarray(indices, dtype=np.int64) - self.start
        return indices[(indices >= 0) & (indices < len(self.points))]

    @property
    def left(self) -> Array:
        """Whether each row is not represented yet."""
        return self.diagonal > self.unit * self.whole

    def weights(self) -> np.ndarray:
        """C_jj where it is above rounding and may be picked, else zero; on the host."""
        return self._open(np.where(host(self.left), host(self.diagonal), 0.0))

    def scores(self) -> np.ndarray:
        """The estimated gains (C²)_jj/C_jj, with the squares from the probes; on the host."""
        xp = namespace(self.CZ)
        c = self.diagonal
        squares = xp.clip(xp.mean(self.CZ * self.CZ, axis=1) - self.off**2, min=0.0)
        squares = xp.maximum(squares, c * c)
        gains = xp.where(self.left, squares / xp.where(self.left, c, xp.ones_like(c)), 0.0)
        return self._open(np.array(host(gains)))

    def _open(self, values: np.ndarray) -> np.ndarray:
        values[list(self.closed)] = 0.0
        return values

    def signs(self, key: int, count: int) -> Array:
        """The rows of the random signs Z."""
        Z = signs_of(key, count, self.start, self.start + len(self.points))
        return like(Z, self.diagonal)

    def all_rows(self) -> Array:
        """The rows of F."""
        return namespace(self.diagonal).concat(
            [zeros((len(self.points), 0), self.diagonal), *self.factor], axis=1
        )


# What makes a shard


def begun(points: np.ndarray, start: int, rule: Rule, unit: float, closed: np.ndarray) -> Shard:
    """A shard before the first pick."""
    diagonal = rule.diagonal(rule.placed(points))
    whole = namespace(diagonal).clip(diagonal, min=0.0)
    shard = Shard(points, start, unit, whole, whole)
    return replace(shard, closed=tuple(shard.inside(closed).tolist()))


def with_picks(shard: Shard, rule: Rule, block: Block) -> Shard:
    """The shard after the picks of a block; CZ is not brought up to date."""
    x, y, L = rule.placed(shard.points), rule.placed(block.points), rule.moved(block.L)
    rows = rule.moved(block.rows)
    V = zeros((len(shard.points), len(block.indices)), shard.diagonal)
    for part in tiles(x, CARD_TILE):  # a copy of all rows of V would take as much memory again
        C, start = rule.block(x[part, :], y), 0
        for F in shard.factor:
            C = C - F[part, :] @ rows[:, start : start + F.shape[1]].T
            start += F.shape[1]
        V[part, :] = solve_from_right(C, L)
    xp = namespace(V)
    left = shard.diagonal - xp.sum(V * V, axis=1)
    if float(xp.min(left)) < -INDEFINITE * float(xp.max(shard.whole)):
        check_semidefinite(host(left), host(shard.whole), shard.start)
    after = replace(shard, diagonal=xp.clip(left, min=0.0), factor=(*shard.factor, V))
    return cleared(after, block.indices)


def cleared(shard: Shard, indices: np.ndarray) -> Shard:
    """The shard with these rows counted as represented."""
    places = shard.inside(indices)
    if len(places) == 0:
        return shard
    diagonal = shard.diagonal + 0.0
    diagonal[places] = 0.0
    return replace(shard, diagonal=diagonal)


def with_product(
    shard: Shard, rule: Rule, points: np.ndarray, start: int, key: int, count: int
) -> Shard:
    """CZ plus the product of K with the signs of points that pass by; the first has that number."""
    Z = rule.moved(signs_of(key, count, start, start + len(points)))
    found = rule.product(rule.placed(shard.points), rule.placed(points), Z)
    return replace(shard, CZ=found if shard.CZ is None else shard.CZ + found)


def times_signs(shard: Shard, first: int, key: int, count: int) -> np.ndarray:
    """VᵀZ for the blocks V of the factor, from one of them on."""
    Z = shard.signs(key, count)
    return np.concatenate([np.zeros((0, count)), *(host(V.T @ Z) for V in shard.factor[first:])])


def taken_out(shard: Shard, first: int, VZ: np.ndarray) -> Shard:
    """CZ less V (VᵀZ) for these blocks."""
    CZ, start = shard.CZ, 0
    for V in shard.factor[first:]:
        CZ = CZ - V @ like(VZ[start : start + V.shape[1]], CZ)
        start += V.shape[1]
    return replace(shard, CZ=CZ)


# What a shard answers


def sums(shard: Shard) -> Sums:
    """What a draw, the trace and the accuracy of CZ are found from."""
    CZ = shard.CZ
    squares = 0.0 if CZ is None else float(namespace(CZ).sum(CZ * CZ))
    return Sums(
        float(shard.weights().sum()), float(namespace(shard.diagonal).sum(shard.diagonal)), squares
    )


def drawn(shard: Shard, targets: np.ndarray) -> np.ndarray:
    """The rows at these distances into the sum of the weights."""
    return shard.start + drawn_inside(shard.weights(), targets)


def looked(shard: Shard, indices: np.ndarray) -> Looked:
    """What is known of the rows at the indices, as far as they are here."""
    places = shard.inside(indices)
    blocks = (host(take(V, places)) for V in shard.factor)
    rows = np.concatenate([np.zeros((len(places), 0)), *blocks], axis=1)
    CZ = np.zeros((len(places), 0)) if shard.CZ is None else host(take(shard.CZ, places))
    diagonals = (host(take(part, places)) for part in (shard.whole, shard.diagonal))
    return Looked(shard.start + places, shard.points[places], rows, CZ, *diagonals)


def highest(shard: Shard, count: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The highest positive scores or weights, and where they are; the first of equal ones first."""
    values = shard.scores() if kind == "scores" else shard.weights()
    order = np.argsort(-values, kind="stable")[:count]
    order = order[values[order] > 0]
    return values[order], shard.start + order


def highest_of(
    parts: Sequence[tuple[np.ndarray, np.ndarray]], count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The highest of several shards."""
    values, indices = (np.concatenate(field) for field in zip(*parts, strict=True))
    order = np.lexsort((indices, -values))[:count]
    return values[order], indices[order]


def nearest(
    shard: Shard, rule: Rule, centres: np.ndarray, power: int
) -> tuple[np.ndarray, np.ndarray]:
    """For each centre the nearest row that may be picked; an infinite distance if there is none."""
    new = np.flatnonzero(shard.weights())
    if len(new) == 0:
        return np.full(len(centres), np.inf), np.full(len(centres), shard.start)
    points = _check.scaled(rule.spread(shard.points[new]), power)
    distances, places = np.empty(len(centres)), np.empty(len(centres), dtype=np.int64)
    for i, centre in enumerate(centres):
        apart = np.sum((points - centre) ** 2, axis=1)
        places[i] = np.argmin(apart)
        distances[i] = apart[places[i]]
    return distances, shard.start + new[places]


def squares(shard: Shard, rule: Rule, others: Sequence[Shard]) -> float:
    """The sum of the squares of C at the rows of a shard and the columns of others.

    Those of later shards stand for the rows below the diagonal too, and count twice.
    """
    total, x, F = 0.0, rule.placed(shard.points), shard.all_rows()
    for other in others:
        y, G = rule.placed(other.points), other.all_rows()
        part = 0.0
        for rows in tiles(x):
            for cols in tiles(y):
                C = rule.block(x[rows, :], y[cols, :]) - F[rows, :] @ G[cols, :].T
                part += float(namespace(C).sum(C * C))
        total += part if other.start == shard.start else 2 * part
    return total


def samples(shard: Shard, key: int, depth: int) -> np.ndarray:
    """The rows' part of zᵀCz, or of ‖Cz‖² for depth 2, for each sign vector z."""
    CZ = shard.CZ
    values = CZ * (shard.signs(key, CZ.shape[1]) if depth == 1 else CZ)
    return host(namespace(CZ).sum(values, axis=0))


def factor_of(shard: Shard) -> np.ndarray:
    """The rows of F on the host."""
    return host(shard.all_rows())


# What points answer without a shard


def product(x: np.ndarray, rule: Rule, y: np.ndarray, block: np.ndarray) -> np.ndarray:
    """h(x, y) @ block."""
    return host(rule.product(rule.placed(x), rule.placed(y), rule.moved(block)))


def columns(x: np.ndarray, rule: Rule, y: np.ndarray) -> np.ndarray:
    """h(x, y)."""
    x, y = rule.placed(x), rule.placed(y)
    return np.concatenate([host(rule.block(x[rows, :], y)) for rows in tiles(x, CARD_TILE)])


def squared_rows(x: np.ndarray, rule: Rule, y: np.ndarray) -> np.ndarray:
    """The sums of the squares of the rows of h(x, y)."""
    x, y = rule.placed(x), rule.placed(y)
    found = np.zeros(x.shape[0])
    for rows in tiles(x):
        for cols in tiles(y):
            C = rule.block(x[rows, :], y[cols, :])
            found[rows] += host(namespace(C).sum(C * C, axis=1))
    return found


def diagonal(x: np.ndarray, rule: Rule) -> np.ndarray:
    """The values h(x_i, x_i)."""
    return host(rule.diagonal(rule.placed(x)))
