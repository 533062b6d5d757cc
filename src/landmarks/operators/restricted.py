"""The principal submatrix and the rescaled form of operators that have no cheaper way to them."""

from __future__ import annotations

import numpy as np

from .._array import Array, Indices, Part, host, like, take
from .base import Operator, remade_in_double, stored_up_to


class Derived(Operator):
    """A matrix of order n through the products of another one, its parent."""

    def __init__(self, parent: Operator, n: int):
        self.parent, self.n = parent, n
        self.like, self.ledger = parent.like, parent.ledger
        self.exponent, self.cheap = parent.exponent, parent.cheap

    @property
    def digits(self) -> Array:
        return self.parent.digits

    @property
    def product_error(self) -> float:
        return self.parent.product_error


class Restricted(Derived):
    """K[indices, indices] through the products of K (Lemma 3.3 uses it)."""

    def __init__(self, parent: Operator, indices: Indices):
        self.indices = np.asarray(indices)
        super().__init__(parent, len(self.indices))

    def _inside(self, indices: Indices | None) -> np.ndarray:
        return self.indices if indices is None else self.indices[np.asarray(indices)]

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        return self.parent.matmul(block, rows=self._inside(rows), cols=self._inside(cols))

    def diagonal(self) -> Array:
        return take(self.parent.diagonal(), self.indices)

    def columns(self, indices: Indices) -> Array:
        return take(self.parent.columns(self._inside(indices)), self.indices)

    def restrict(self, indices: Indices) -> Restricted:
        return Restricted(self.parent, self._inside(indices))


class Scaled(Derived):
    """D K D with a diagonal D, through the products of K."""

    def __init__(self, parent: Operator, d: np.ndarray):
        super().__init__(parent, parent.n)
        self.d = like(d, parent.like)

    def _at(self, part: Part) -> Array:
        return self.d if part is None else take(self.d, np.asarray(part))

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        product = self.parent.matmul(self._at(cols)[:, None] * block, rows=rows, cols=cols)
        return self._at(rows)[:, None] * product

    def diagonal(self) -> Array:
        return self.d * self.d * self.parent.diagonal()

    def columns(self, indices: Indices) -> Array:
        return self.d[:, None] * self.parent.columns(indices) * self._at(indices)[None, :]

    def restrict(self, indices: Indices) -> Operator:
        inside = np.asarray(indices)
        return Scaled(self.parent.restrict(inside), host(take(self.d, inside)))


@remade_in_double.register
def _scaled_in_double(operator: Scaled) -> Operator | None:
    parent = remade_in_double(operator.parent)
    return None if parent is None else Scaled(parent, host(operator.d).astype(np.float64))


stored_up_to.register(Scaled, lambda operator: stored_up_to(operator.parent))
