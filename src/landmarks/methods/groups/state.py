"""A choice of units with its residual: the gain of adding each unit, the cost of dropping it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._array import Array, host, like, namespace, take, zeros
from ...operators.base import Operator
from ...operators.forms import Factored
from ...operators.pair import Pair
from ...residual.explicit import Explicit
from ...residual.factors import Factors, factorise
from ...residual.loading import ENOUGH
from ...residual.residual import floor
from .blocks import Blocks, directions
from .units import Units


class Basis(NamedTuple):
    """The independent ones among chosen columns, and F, KF (and K²F) of them."""

    factors: Factors
    images: list[Array]


@dataclass(frozen=True, eq=False)
class UnitState:
    """Chosen units, F with C = K − F Fᵀ, and the blocks of C. Changes make a new state."""

    pair: Pair
    units: Units
    of_K: Blocks
    chosen: tuple[int, ...]
    F: Array
    blocks: Blocks
    basis: Basis | None = None

    @classmethod
    def empty(cls, pair: Pair, units: Units, depth: int) -> UnitState:
        """Nothing chosen."""
        blocks = Blocks.of(pair, units, depth)
        nothing = zeros((pair.operator.n, 0), pair.operator.like)
        return cls(pair, units, blocks, (), nothing, blocks)

    @property
    def operator(self) -> Operator:
        """K."""
        return self.pair.operator

    @property
    def error(self) -> float:
        """Σ ω_j C_jj, or ‖Ω^½CΩ^½‖²_F."""
        return self.blocks.error

    @property
    def depth(self) -> int:
        """How many products with a block the change of the blocks needs."""
        return len(self.blocks.stacks[0]) - 1

    def added(self, unit: int) -> UnitState:
        """With one unit more: its columns of K and a product with each, two for Frobenius."""
        if isinstance(self.operator, Factored):
            return self.loaded([*self.chosen, int(unit)])
        members = self.units.members[unit]
        columns = self.operator.columns(members) - self.F @ take(self.F, members).T
        C, weighed = host(take(columns, members)).astype(np.float64)[None], self.pair.weighed
        inverse, U = directions(C, np.asarray(members)[None], self.pair, self.blocks.floor)
        left = inverse[0] > 0
        V = columns @ like(U[0][:, left] * np.sqrt(inverse[0][left]), columns)
        x = [V]
        for _ in range(self.depth):
            last = weighed(x[-1])
            x.append(self.operator.matmul(last) - self.F @ (self.F.T @ last))
        F = namespace(V).concat([self.F, V], axis=1)
        blocks = self._sharp(self.blocks.changed(-1.0, x), F)
        return replace(self, chosen=(*self.chosen, int(unit)), F=F, blocks=blocks, basis=None)

    def _sharp(self, blocks: Blocks, F: Array) -> Blocks:
        """The blocks from the columns of C, where little of K is left: others lost their digits."""
        if blocks.error > ENOUGH**self.depth * self.of_K.error:
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
        return replace(self, chosen=tuple(chosen), F=basis.factors.F, blocks=blocks, basis=basis)

    def _loaded_from(self, operator: Factored, chosen: tuple[int, ...]) -> UnitState:
        """Other units, with the residual of the columns as a matrix of its own."""
        columns = self.units.columns(list(chosen))
        source = Explicit(operator, len(columns), self.pair)
        source.load(columns, host(operator.floor(len(columns))), len(columns))
        blocks = self.of_K.of_factor(source.R, self.depth)
        return replace(self, chosen=chosen, blocks=blocks, basis=None)

    def without(self, out: Sequence[int]) -> Blocks:
        """The blocks of the residual without some units; products only for dependent columns."""
        if isinstance(self.operator, Factored):
            return self.loaded([u for u in self.chosen if u not in out]).blocks
        factors = self._own_basis.factors
        faint = self.error <= ENOUGH**self.depth * self.of_K.error
        if faint or len(factors.order) < len(self.units.columns(list(self.chosen))):
            # what was superfluous may be needed now
            return self.loaded([u for u in self.chosen if u not in out]).blocks
        places = np.flatnonzero(np.isin(factors.order, self.units.columns(list(out))))
        turn = like(
            np.linalg.inv(np.linalg.cholesky(factors.inverse[np.ix_(places, places)])).T,
            self.operator.like,
        )
        return self.blocks.changed(1.0, [take(rows, places, axis=1) @ turn for rows in self._rows])

    def _basis(self, chosen: Sequence[int]) -> Basis:
        columns = self.units.columns(list(chosen))
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
        x = [F, images[0] - F @ G]
        if self.depth == 2:
            x.append(images[1] - images[0] @ G - F @ (F.T @ self.pair.weighed(x[1])))
        return [block @ like(self._own_basis.factors.inverse_factor, F) for block in x]
