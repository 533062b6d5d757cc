"""The rows W, CW (and C²W) of a choice and the diagonals of C, C² (and C³), computed from K.

With K̂ = F Fᵀ and W = T Fᵀ, the rows of C^p W are T (C^p F)ᵀ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._array import Array, host, like, namespace, zeros
from ..linalg.error import squared_residual
from ..operators.base import block_width, blocks
from ..operators.diagonals import add_block, in_pairs, panel_width
from ..operators.pivoted_factor import check_semidefinite
from .base import Base
from .factors import Factors, factorise, pivoted_order
from .residual import FromK, Panel

SPOILT = 1e3  # units in the last place of K below zero: rounding alone leaves some hundred
ENOUGH = 1e-4  # of tr K left: below it diag C² comes from C itself, not from diag K²


class Loaded(NamedTuple):
    """Independent members, K_SS⁻¹, the rows of C^p W and the diagonals of the powers of C.

    volume : log det (K_SS + N).
    larger : the diagonals from which these were obtained by subtraction; None where none were.
    """

    members: np.ndarray
    inverse: np.ndarray
    volume: float
    rows: list[Array]
    diagonals: list[Array]
    larger: list[Array] | None


def load_from_K(base: Base, indices: np.ndarray, exact: bool = False) -> Loaded:
    """What an exchange keeps of the independent ones among the indices.

    exact : whether the diagonals must come from C itself, at a price of n² k or n³ operations.
    """
    operator = base.operator
    fresh, c = factors_and_diagonal(base, indices)
    faint = base.pair.total(c) < ENOUGH * base.totals[0]
    if "columns" in operator.cheap and base.depth and (exact or faint):
        images, diagonals = _from_residual(base, fresh.F)
        larger = None
    else:
        images, diagonals = _from_products(base, fresh, c)
        larger = base.of_K
    turn = like(fresh.inverse_factor.T, operator.like)
    rows = [turn @ x.T for x in images]
    return Loaded(fresh.order, fresh.inverse, fresh.volume, rows, diagonals, larger)


def factors_and_diagonal(base: Base, indices: np.ndarray) -> tuple[Factors, Array]:
    """Factors of the independent ones among the indices, and diag C.

    In an unlucky order, columns that nearly represent one another spoil the factors, and diag C
    falls below zero. Then the column of which most is left comes first, each time.
    """
    diagonal = base.of_K[0]
    lowest = -SPOILT * base.unit * float(namespace(diagonal).max(diagonal))
    fresh = factorise(base.pair, indices, host(base.floor)[indices])
    c = diagonal - row_dots(fresh.F, fresh.F)
    if float(namespace(c).min(c)) < lowest:
        indices = indices[pivoted_order(base.pair, indices)]
        fresh = factorise(base.pair, indices, host(base.floor)[indices])
        c = diagonal - row_dots(fresh.F, fresh.F)
        check_semidefinite(host(c), host(diagonal))
    return fresh, namespace(c).clip(c, min=0.0)


def _from_products(base: Base, fresh: Factors, c: Array) -> tuple[list[Array], list[Array]]:
    """F, CΩF (and CΩCΩF) and the diagonals, by one block product with K per power."""
    F, xp = fresh.F, namespace(fresh.F)
    if base.depth == 0:
        return [F], [c]
    weighed = base.pair.weighed
    G = F.T @ weighed(F)
    FG = F @ G
    CF = base.operator.matmul(weighed(F)) - FG
    images = [F, CF]
    diagonals = [c, base.of_K[1] - row_dots(F, 2 * CF + FG)]
    if base.depth == 2:
        inside = F @ (F.T @ weighed(CF))
        images.append(base.operator.matmul(weighed(CF)) - inside)
        inner = 2 * images[2] + 2 * (CF @ G) + inside
        diagonals.append(base.of_K[2] - row_dots(F, inner) - row_dots(CF, CF) - row_dots(FG, FG))
    return images, [xp.clip(diagonal, min=0.0) for diagonal in diagonals]


def _from_residual(base: Base, F: Array) -> tuple[list[Array], list[Array]]:
    """The same from the columns of C, in blocks: sums of squares, which lose no digits."""
    operator, weighed = base.operator, base.pair.weighed
    residual = FromK(base.pair, Panel(F, F.shape[1]))
    images = [F, *(zeros(F.shape, F) for _ in range(base.depth))]
    pairwise = base.depth == 2 and in_pairs(operator) and base.pair.weights is None
    width = panel_width(operator.n, operator.like) if pairwise else block_width(operator)
    parts: list[list[Array]] = []
    cubes = (zeros((operator.n,), F), zeros((operator.n,), F))
    for power in range(1, base.depth + 1):
        for block in blocks(operator.n, width):
            C = residual.columns(block)
            images[power][int(block[0]) : int(block[-1]) + 1, :] = C.T @ weighed(images[power - 1])
            if power == 1:
                parts.append(residual.diagonals_at(block, C, 0 if pairwise else base.depth))
                if pairwise:  # diag C³ from products of two blocks of columns
                    cubes = add_block(cubes, C, block, residual.columns)
    found = [namespace(F).concat(part) for part in zip(*parts, strict=True)]
    return images, [*found, *cubes] if pairwise else found


def error_of(base: Base, indices: np.ndarray) -> float:
    """The error of a choice, without what its exchange would keep."""
    fresh, c = factors_and_diagonal(base, indices)
    if base.depth == 0:
        return -fresh.volume
    if base.depth == 1:
        return base.pair.total(c)
    width = panel_width(base.operator.n, base.operator.like)
    return squared_residual(base.pair, fresh.F, width)


def row_dots(left: Array, right: Array) -> Array:
    """The inner product of each row with the row of the other."""
    return namespace(left).sum(left * right, axis=1)
