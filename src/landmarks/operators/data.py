"""From what a user holds to an operator: `data` for its columns, `as_operator` for anything."""

from typing import Any

from .. import _check
from ..readers.frames import is_frame, numbers_only
from .base import Operator
from .dense import Data, array_data, gram_is_cheaper
from .function import function
from .rows.base import load
from .rows.files import as_rows
from .rows.out_of_core import ROWS_MEMORY, fits, from_rows
from .sparse import checked_sparse, sparse_data
from .standard import Standard

__all__ = ["Data", "annotated", "as_operator", "data", "gram_is_cheaper", "is_annotated"]


def data(
    X: Any, *, center: bool = False, scale: bool | None = None, memory: int = ROWS_MEMORY
) -> Operator:
    """The operator whose candidates are the columns of X: in memory, sparse, or in blocks of rows.

    Parameters
    ----------
    X : the m × n matrix: array, nested list, data frame, SciPy sparse matrix, dask array or data
        frame; never written to. What may not fit in memory is read in blocks of rows: memory maps,
        Zarr arrays, HDF5 datasets, Arrow tables and datasets, the path of such a file, an iterator
        or a list of blocks, or a function that returns a fresh iterator.
    center : whether to subtract the mean of each column.
    scale : whether to divide each column by its standard deviation. By default it is not done, and
        `select` warns of columns whose numbers are so large that they decide the choice; False
        leaves them as they are without a warning.
    memory : bytes that the work on an X read in blocks may take. A wide X that fits is loaded; a
        tall X is loaded only if it takes at most 1/16 of the memory. Otherwise the Gram matrix XᵀX
        is added up in one pass if that fits, else each product is a pass over the rows.

    Returns
    -------
    Operator
        The matrix XᵀX of the columns, to be given to `select`, `path` or `compare`.

    Examples
    --------
    >>> lm.data([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    Data(n=3, dtype=float64)
    >>> blocks = ([[float(i), 1.0, i + 1.0]] for i in range(4))
    >>> lm.data(blocks)
    Dense(n=3, dtype=float64)
    """
    operator = _of_columns(X, Standard(center, bool(scale)), memory)
    operator.scale_left_open = scale is None
    return operator


def _of_columns(X: Any, standard: Standard, memory: int) -> Operator:
    if hasattr(X, "__dask_graph__"):
        from .dask.standard import dask_data

        return dask_data(X, standard)
    if hasattr(X, "tocsc"):
        return sparse_data(X) if standard.plain else _standard_sparse(X, standard)
    if is_frame(X):
        X = numbers_only(X)
    source = as_rows(X)
    if source is None:
        names, labels = _check.column_names(X), _check.column_labels(X)
    elif fits(source, memory):
        names = labels = source.names
        X = load(source, memory)
    else:
        return from_rows(source, standard, memory=memory).operator
    operator = array_data(X, center=standard.center, scale=standard.scale)
    operator.names, operator.labels = names, labels
    return operator


def _standard_sparse(X: Any, standard: Standard) -> Operator:
    """The centred or scaled columns of a sparse matrix, which stays sparse."""
    from .prepare.preparation import Preparation  # here: it needs scikit-learn

    X = checked_sparse(X)
    return Preparation(standard.center, standard.scale).of_rows(X, None).operator


def as_operator(A: Any) -> Operator:
    """The operator itself, that of a SciPy LinearOperator, or XᵀX of a data matrix X."""
    if isinstance(A, Operator):
        return A
    if hasattr(A, "__dask_graph__"):  # first: a Delayed seems to have every attribute
        return data(A, scale=False)
    if is_annotated(A):
        return annotated(A)
    if hasattr(A, "matmat") and hasattr(A, "shape"):
        return function(A)
    if callable(A) and not hasattr(A, "shape"):
        raise TypeError(
            "A is a function; say how large its matrix is with lm.function(mvm, n=…), or pass "
            "lm.data(A) if it returns blocks of rows"
        )
    return data(A, scale=False)


def is_annotated(A: Any) -> bool:
    """Whether A looks like an AnnData object: a matrix X of cells by genes, with gene names."""
    return hasattr(A, "X") and hasattr(A, "var_names") and hasattr(A, "obs_names")


def annotated(A: Any, *, center: bool = False, scale: bool = False) -> Operator:
    """The operator of the columns of A.X, dense or sparse, named by A.var_names."""
    if A.X is None:
        raise ValueError(
            "the AnnData object has no X; choose a layer, e.g. A.X = A.layers['counts']"
        )
    operator = data(A.X, center=center, scale=scale)
    operator.names = tuple(str(name) for name in A.var_names)
    return operator
