"""From what a user holds to an operator: `data` for its columns, `as_operator` for anything."""

import os
import warnings
from pathlib import Path
from typing import Any

from .. import _check
from ..errors import suggestion
from ..readers.frames import column_labels, column_names, is_frame, numbers_only
from .base import Operator
from .dense import Data, array_data, gram_is_cheaper
from .function import function
from .rows.base import load
from .rows.files import ARROW, HDF5, as_rows, open_rows
from .rows.out_of_core import ROWS_MEMORY, fits, from_rows
from .sparse import checked_sparse, sparse_data
from .standard import Standard

IN_BLOCKS = (".npy", ".zarr", *HDF5)  # files whose rows are read in blocks, as `data` does
__all__ = ["Data", "as_operator", "data", "gram_is_cheaper", "prepared_operator"]


def data(
    X: Any, *, center: bool = False, scale: bool | None = None, memory: int = ROWS_MEMORY
) -> Operator:
    """The operator whose candidates are the columns of X: in memory, sparse, or in blocks of rows.

    Parameters
    ----------
    X : the m × n matrix: array, nested list, data frame, SciPy sparse matrix, dask array or data
        frame; never modified. Data that may not fit in memory are read in blocks of rows: memory
        maps, Zarr arrays, HDF5 datasets, Arrow tables and datasets, the path of such a file, an
        iterator or a list of blocks, or a function that returns a fresh iterator.
    center : whether to subtract the mean of each column.
    scale : whether to divide each column by its standard deviation. None, the default, does not
        scale, but `select` warns about columns whose values are so large that they decide the
        choice. False neither scales nor warns.
    memory : bytes that may be used for an X read in blocks. A wide X that fits is loaded; a tall X
        is loaded only if it takes at most 1/16 of the memory. Otherwise the Gram matrix XᵀX is
        summed in one pass if it fits, and if not, each product is a pass over the rows.

    Returns
    -------
    Operator
        The matrix XᵀX of the columns, to be passed to `select`, `path` or `compare`.

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
        names, labels = column_names(X), column_labels(X)
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


def prepared_operator(
    A: Any,
    *,
    center: bool = False,
    scale: bool | None = None,
    numeric_only: bool = False,
    stacklevel: int = 2,
) -> Operator:
    """The operator of the user's data, with columns centred and scaled as requested.

    scale : None does not scale, but warns when the size of the columns decides the choice; False
        does not scale and does not warn.
    """
    stacklevel += 1
    center = _check.boolean(center, "center")
    standard = Standard(center, scale is not None and _check.boolean(scale, "scale"))
    if isinstance(A, Operator) or _is_product(A):
        _refuse(A, standard)
        operator = as_operator(A)
        left_open = operator.scale_left_open
    else:
        operator = _of_given(A, standard, numeric_only, stacklevel + 1)
        left_open = True
        _check.warn_if_symmetric(operator, stacklevel)
    if scale is None and left_open:
        _check.warn_of_spread(operator, stacklevel)
    return operator


def _is_product(A: Any) -> bool:
    return hasattr(A, "matmat") and hasattr(A, "shape") and not hasattr(A, "__dask_graph__")


def _refuse(A: Any, standard: Standard) -> None:
    if not standard.plain:
        raise ValueError(
            "center and scale apply to the columns of data, not to an operator; use "
            "lm.data(X, center=…, scale=…), or prepare the matrix before it becomes an operator, "
            f"got {A!r}"
        )


def _of_given(A: Any, standard: Standard, numeric_only: bool, stacklevel: int) -> Operator:
    """The operator of the columns of an array, a frame, rows in blocks, or a file."""
    asked = {"center": standard.center, "scale": standard.scale}
    if is_annotated(A):
        return annotated(A, **asked)
    if isinstance(A, str | os.PathLike):
        return _of_file(A, numeric_only, stacklevel, asked)
    if is_frame(A):
        A = numbers_only(A, numeric_only=numeric_only, stacklevel=stacklevel)
    return as_operator(A) if standard.plain else data(A, **asked)


def _of_file(
    path: str | os.PathLike[str], numeric_only: bool, stacklevel: int, asked: dict[str, bool]
) -> Operator:
    """The operator of the columns of a file, read in blocks if the format allows."""
    _check_there(Path(path))
    ending = Path(path).suffix.lower()
    if ending in ARROW or Path(path).is_dir():
        rows = open_rows(path, numeric_only=numeric_only)
        return data(rows, **asked)
    if ending in IN_BLOCKS:
        return data(path, **asked)
    from ..readers.read import read

    table = read(os.fspath(path), numeric_only=numeric_only)
    for note in table.notes:
        warnings.warn(note, stacklevel=stacklevel + 1)
    operator = data(table.values, **asked)
    operator.names = operator.labels = table.names
    return operator


def _check_there(path: Path) -> None:
    """Raise when there is no such file, and suggest similar names from its folder."""
    if path.exists():
        return
    folder = path.parent
    others = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    close = suggestion(path.name, others) or "; give the path of a file, an array or a data frame"
    raise FileNotFoundError(f"there is no file {os.fspath(path)!r}{close}")
