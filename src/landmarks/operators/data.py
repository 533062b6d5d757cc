"""Columns of a data matrix: K = XᵀX, formed once when that is cheaper than two products with X."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from .. import _check
from .._array import Array, Indices, namespace, prototype, take
from .base import MEMORY, Ledger, Operator, blocks, itemsize
from .frames import is_frame, numbers_only
from .rows.base import load
from .rows.convert import as_rows
from .rows.out_of_core import ROWS_MEMORY, fits, from_rows
from .standard import Standard


class Data(Operator):
    """The operator XᵀX of an array X; `data` checks and makes it."""

    factor_in_memory = True

    def __init__(
        self,
        X: Array,
        *,
        exponent: int = 0,
        ledger: Ledger | None = None,
        names: tuple[str, ...] | None = None,
    ):
        self.X = X
        self.n = X.shape[1]
        self.like = prototype(X)
        self.ledger = ledger or Ledger()
        self.exponent = exponent
        self.names = names

    @property
    def m(self) -> int:
        return self.X.shape[0]

    @cached_property
    def gram(self) -> Array | None:
        """XᵀX when a product with it is cheaper than two with X and it is small, else None."""
        if not gram_is_cheaper(self.m, self.n, itemsize(self.like)):
            return None
        self.ledger.add(entries=self.m * self.n)
        return self.X.T @ self.X

    def factor(self, indices: Indices | None = None) -> Array:
        return self.X if indices is None else take(self.X, indices, axis=1)

    def matmul(
        self, block: Array, rows: Indices | None = None, cols: Indices | None = None
    ) -> Array:
        if self.gram is not None:
            K = self.gram if rows is None else take(self.gram, rows, axis=0)
            K = K if cols is None else take(K, cols, axis=1)
            self.ledger.add(products=block.shape[1], entries=K.shape[0] * K.shape[1])
            return K @ block
        left, right = self.factor(rows), self.factor(cols)
        self.ledger.add(products=block.shape[1], entries=self.m * (left.shape[1] + right.shape[1]))
        return left.T @ (right @ block)

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.m * self.n)
        xp = namespace(self.X)
        width = MEMORY // (64 * self.m * itemsize(self.like))
        parts = (self.X[:, int(block[0]) : int(block[-1]) + 1] for block in blocks(self.n, width))
        return xp.concat([xp.sum(X * X, axis=0) for X in parts])

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        if self.gram is not None:
            return take(self.gram, indices, axis=1)
        return self.X.T @ self.factor(indices)

    def restrict(self, indices: Indices) -> Data:
        part = Data(self.factor(indices), exponent=self.exponent, ledger=self.ledger)
        if "gram" in self.__dict__ and self.gram is not None:
            part.gram = take(take(self.gram, indices, axis=0), indices, axis=1)
        return part


def gram_is_cheaper(m: int, n: int, itemsize: int) -> bool:
    """Whether K = XᵀX is small enough to keep and a product with it costs less than two with X."""
    return n <= 2 * m and n * n * itemsize <= MEMORY


def data(
    X: Any, *, center: bool = False, scale: bool = False, memory: int = ROWS_MEMORY
) -> Operator:
    """The operator whose candidates are the columns of X: in memory, sparse, or in blocks of rows.

    Parameters
    ----------
    X : the m × n matrix: array, nested list, data frame, SciPy sparse matrix, dask array or data
        frame; never written to. What may not fit in memory is read in blocks of rows: memory maps,
        Zarr arrays, HDF5 datasets, Arrow tables and datasets, the path of such a file, an iterator
        or a list of blocks, or a function that returns a fresh iterator.
    center : whether to subtract the mean of each column.
    scale : whether to divide each column by its standard deviation.
    memory : bytes that the work on an X read in blocks may take. A wide X that fits is loaded; a
        tall X is loaded only if it takes at most 1/16 of the memory. Otherwise the Gram matrix XᵀX
        is added up in one pass if that fits, else each product is a pass over the rows.

    Returns
    -------
    Operator
        The matrix XᵀX of the columns, to be given to `select`, `path` or `compare`.

    Examples
    --------
    >>> import landmarks as lm
    >>> lm.data([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    Data(n=3, dtype=float64)
    >>> blocks = ([[float(i), 1.0, i + 1.0]] for i in range(4))
    >>> lm.data(blocks)
    Dense(n=3, dtype=float64)
    """
    from .sparse import sparse_data

    standard = Standard(center, scale)
    if hasattr(X, "__dask_graph__"):
        from .dask.data import dask_data

        if not standard.plain:
            raise ValueError(
                "center and scale are not done on dask arrays: standardise lazily, "
                "X = (X - X.mean(axis=0)) / X.std(axis=0)"
            )
        return dask_data(X)
    if hasattr(X, "tocsc"):
        return sparse_data(X) if standard.plain else _standard_sparse(X, standard)
    if is_frame(X):
        X = numbers_only(X)
    source = as_rows(X)
    if source is not None and not fits(source, memory):
        return from_rows(source, standard, memory=memory).operator
    names = _check.column_names(X) if source is None else source.names
    labels = _check.column_labels(X) if source is None else source.names
    X = _check.matrix(X if source is None else load(source, memory), "X")
    xp = namespace(X)
    power = _check.exponent(max(float(xp.max(X)), -float(xp.min(X))), X)
    X = _check.scaled(X, power)
    if not standard.plain:
        X = standard.of_array(X)[0]
    operator = Data(X, exponent=0 if scale else 2 * power, names=names)
    operator.labels = labels
    return operator


def _standard_sparse(X: Any, standard: Standard) -> Operator:
    """The centred or scaled columns of a sparse matrix, which stays sparse."""
    from .preparation import Preparation

    X = _check.sparse(X)
    return Preparation(standard.center, standard.scale, "error").of_rows(X, None).operator
