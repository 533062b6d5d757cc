"""The principal submatrix of an operator that has no cheaper way to make one."""

from __future__ import annotations

import numpy as np

from .._array import Array, Indices, Part, take
from .base import Operator


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
