"""The principal submatrix and the rescaled form of operators that have no cheaper way to them."""

from __future__ import annotations

import numpy as np

from .._array import Array, Indices, Part, host, like, take
from .base import Operator, remade_in_double, stored_up_to


class Restricted(Operator):
    """K[indices, indices] through the products of K (Lemma 3.3 uses it)."""

    def __init__(self, parent: Operator, indices: Indices):
        self.parent = parent
        self.indices = np.asarray(indices)
        self.n = len(self.indices)
        self.like = parent.like
        self.ledger = parent.ledger
        self.exponent = parent.exponent
        self.cheap = parent.cheap

    @property
    def digits(self) -> Array:
        return self.parent.digits

    @property
    def product_error(self) -> float:
        return self.parent.product_error

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


class Scaled(Operator):
    """D K D with a diagonal D, through the products of K."""

    def __init__(self, parent: Operator, d: np.ndarray):
        self.parent = parent
        self.d = like(d, parent.like)
        self.n = parent.n
        self.like = parent.like
        self.ledger = parent.ledger
        self.exponent = parent.exponent
        self.cheap = parent.cheap

    @property
    def digits(self) -> Array:
        return self.parent.digits

    @property
    def product_error(self) -> float:
        return self.parent.product_error

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


@stored_up_to.register
def _scaled_stored(operator: Scaled) -> int:
    return stored_up_to(operator.parent)
