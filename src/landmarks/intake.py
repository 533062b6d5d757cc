"""From the user's data to the operator of the candidates, with warnings about likely mistakes.

Three things are checked here and nowhere else: columns with numbers so much larger than the others
that they decide the choice, a symmetric matrix that may be meant as a kernel matrix, and columns
that hold no numbers.
"""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ._array import host, is_array, namespace
from .errors import ScaleWarning, SymmetryWarning, suggestion
from .operators.base import Operator
from .operators.data import annotated, as_operator, data, is_annotated
from .operators.dense import array_data
from .operators.rows.files import ARROW, HDF5, open_rows
from .operators.standard import Prepared
from .readers.frames import is_frame, numbers_only

SPREAD = 100.0  # a column this many times larger than a typical one decides the choice
MEANS = 0.5  # a larger share of the sum of squares in the means decides the choice
NAMED = 5  # the most columns that the warning names
IN_BLOCKS = (".npy", ".zarr", *HDF5)  # files whose rows are read in blocks, as `data` does


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
    center = boolean(center, "center")
    scaled = boolean(scale, "scale") if scale is not None else False
    operator: Operator
    if type(A) is np.ndarray:  # the most common case needs none of the questions below
        warn_if_symmetric(A, stacklevel)
        operator = array_data(A, center=center, scale=scaled)
    elif isinstance(A, Operator) or _is_product(A):
        _refuse(A, center or scaled)
        operator = as_operator(A)
        if scale is None and operator.scale_left_open:
            warn_of_spread(operator, stacklevel)
        return operator
    elif is_annotated(A):
        operator = annotated(A, center=center, scale=scaled)
    elif isinstance(A, str | os.PathLike):
        operator = of_file(A, center, scaled, numeric_only, stacklevel)
    else:
        if is_frame(A):
            A = numbers_only(A, numeric_only=numeric_only, stacklevel=stacklevel)
        warn_if_symmetric(A, stacklevel)
        operator = data(A, center=center, scale=scaled) if center or scaled else as_operator(A)
    if scale is None:
        warn_of_spread(operator, stacklevel)
    return operator


def boolean(value: Any, name: str) -> bool:
    """True or False; anything else is an error."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def _is_product(A: Any) -> bool:
    return hasattr(A, "matmat") and hasattr(A, "shape") and not hasattr(A, "__dask_graph__")


def _refuse(A: Any, asked: bool) -> None:
    if asked:
        raise ValueError(
            "center and scale apply to the columns of data, not to an operator; use "
            "lm.data(X, center=…, scale=…), or prepare the matrix before it becomes an operator, "
            f"got {A!r}"
        )


def of_file(
    path: str | os.PathLike[str], center: bool, scale: bool, numeric_only: bool, stacklevel: int
) -> Operator:
    """The operator of the columns of a file, read in blocks if the format allows."""
    check_there(Path(path))
    ending = Path(path).suffix.lower()
    if ending in ARROW or Path(path).is_dir():
        rows = open_rows(path, numeric_only=numeric_only)
        return data(rows, center=center, scale=scale)
    if ending in IN_BLOCKS:
        return data(path, center=center, scale=scale)
    from .readers.read import read

    table = read(os.fspath(path), numeric_only=numeric_only)
    for note in table.notes:
        warnings.warn(note, stacklevel=stacklevel + 1)
    operator = data(table.values, center=center, scale=scale)
    operator.names = operator.labels = table.names
    return operator


def check_there(path: Path) -> None:
    """Raise when there is no such file, and suggest similar names from its folder."""
    if path.exists():
        return
    folder = path.parent
    others = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    close = suggestion(path.name, others) or "; give the path of a file, an array or a data frame"
    raise FileNotFoundError(f"there is no file {os.fspath(path)!r}{close}")


def warn_if_symmetric(A: Any, stacklevel: int = 2) -> None:
    """Warn when data are a symmetric matrix, which may be meant as a kernel matrix.

    A diagonal matrix is fine: as data and as a kernel matrix it has the same best choice.
    """
    if not _is_symmetric(A):
        return
    warnings.warn(
        "the data are a symmetric square matrix, as Gram, covariance and kernel matrices are. "
        "They were taken as data whose columns are chosen; if they are such a matrix K, "
        "say lm.psd(K), and if they are data, lm.data(X)",
        SymmetryWarning,
        stacklevel=stacklevel + 1,
    )


def _is_symmetric(A: Any) -> bool:
    shape = getattr(A, "shape", None)
    if shape is None or hasattr(A, "__dask_graph__"):
        return False
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        return False
    if hasattr(A, "tocsc"):
        off = A - A.T
        return off.nnz == 0 and A.nnz > np.count_nonzero(A.diagonal())
    if is_frame(A):
        A = A.to_numpy()
    if not is_array(A) or (isinstance(A, np.ndarray) and A.dtype.kind not in "biuf"):
        return False
    xp = namespace(A)
    if not bool(xp.all(A == A.T)):
        return False
    return int(xp.count_nonzero(A)) > int(xp.count_nonzero(xp.linalg.diagonal(A)))


def warn_of_spread(operator: Operator, stacklevel: int = 2) -> None:
    """Warn when the size of some columns decides the choice, and name them."""
    columns = operator.raw is None and operator.local and "diagonal" in operator.cheap
    if not columns or operator.n < 2:
        return
    large = larger(np.sqrt(host(operator.diagonal()).astype(np.float64)))
    if len(large) == 0:
        return
    warnings.warn(spread_sentence(operator, large), ScaleWarning, stacklevel=stacklevel + 1)


def warn_of_means(prepared: Prepared, stacklevel: int = 2) -> None:
    """Warn when the means of the columns, which were not subtracted, decide the choice."""
    if prepared.mean_share <= MEANS:
        return
    warnings.warn(
        f"the means of the columns hold {prepared.mean_share:.0%} of the sum of squares, so they "
        "decide the choice; center=True subtracts them, which was the default of ColumnSelector in "
        "version 0.1, and scale=False leaves the columns as they are without this warning",
        FutureWarning,
        stacklevel=stacklevel + 1,
    )


def larger(sizes: np.ndarray) -> np.ndarray:
    """The columns over 100 times larger than a typical nonzero one, the largest first."""
    present = np.sort(sizes[sizes > 0])
    if len(present) < 2:
        return np.empty(0, dtype=np.int64)
    typical = present[(len(present) - 1) // 2]
    large = np.flatnonzero(sizes > SPREAD * typical)
    return large[np.argsort(-sizes[large], kind="stable")]


def spread_sentence(operator: Operator, large: np.ndarray) -> str:
    """The warning, the same in Python and on the command line."""
    names = operator.names
    named = [str(j) if names is None else repr(names[j])[:60] for j in large[:NAMED]]
    rest = f" and {len(large) - NAMED} more" if len(large) > NAMED else ""
    noun, verb = ("column", "holds") if len(large) == 1 else ("columns", "hold")
    return (
        f"{noun} {', '.join(named)}{rest} {verb} numbers over {SPREAD:.0f} times larger than a "
        "typical column and will decide the choice; center=True, scale=True (--standardize on the "
        "command line) gives every column the same weight, scale=False (--no-scale) keeps them "
        "as they are without this warning"
    )
