"""The one file that knows array libraries: the array API standard, and the few functions it lacks.

Arrays are NumPy, torch or array-api-strict arrays. Decisions (indices, counts, random numbers) are
made on the host with NumPy; `like` moves host values to where the data lives.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import array_api_compat as compat
import numpy as np
import scipy

Array = Any
Indices = np.ndarray | Sequence[int]
Part = Indices | None  # None means all


def namespace(*arrays: Array) -> Any:
    """The array library that the arrays belong to."""
    if len(arrays) == 1 and type(arrays[0]) is np.ndarray:
        return np  # follows the standard since 2.1; the compatible one takes long to import
    return compat.array_namespace(*arrays)


def is_array(value: object) -> bool:
    """Whether the value is an array of a library that follows the standard."""
    return compat.is_array_api_obj(value)


def like(values: Any, reference: Array, dtype: Any = None) -> Array:
    """Host values as an array of the reference's library, device and dtype."""
    dtype = dtype or reference.dtype
    if type(reference) is np.ndarray:
        return _movable(values, dtype)
    xp = namespace(reference)
    return xp.asarray(_movable(values), dtype=dtype, device=compat.device(reference))


def _movable(values: Any, dtype: Any = None) -> np.ndarray:
    """A contiguous host array; copied if it is read-only, since torch warns about those."""
    array = np.ascontiguousarray(values, dtype=dtype)
    return array if array.flags.writeable else array.copy()


def host(array: Array) -> np.ndarray:
    """The array as a NumPy array."""
    if isinstance(array, np.ndarray):
        return array
    if compat.is_torch_array(array):
        return array.detach().cpu().numpy()
    return np.asarray(array)


def shares_memory(a: Array, b: Array) -> bool:
    """Whether the arrays may be views of the same memory."""
    if 0 in a.shape:
        return False
    if compat.is_torch_array(a):
        return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    return a is b or (isinstance(a, np.ndarray) and np.may_share_memory(a, b))


def zeros(shape: int | tuple[int, ...], reference: Array) -> Array:
    """Zeros of the reference's library, device and dtype."""
    return namespace(reference).zeros(shape, dtype=reference.dtype, device=compat.device(reference))


def add_diagonal(matrix: Array, values: Array | float) -> Array:
    """The matrix plus a diagonal: n values, or one for all."""
    n = matrix.shape[0]
    return matrix + identity(n, n, matrix) * values


def identity(rows: int, columns: int, reference: Array) -> Array:
    """Ones on the diagonal, of the reference's library, device and dtype."""
    xp = namespace(reference)
    return xp.eye(rows, columns, dtype=reference.dtype, device=compat.device(reference))


def diagonal(matrix: Array) -> Array:
    """The diagonal of a matrix."""
    return namespace(matrix).linalg.diagonal(matrix)


def prototype(array: Array) -> Array:
    """An empty array that names a library, a device and a dtype."""
    return zeros((0,), array)


def positions(indices: Indices, reference: Array) -> Array:
    """Host indices as an integer array of the reference's library and device."""
    xp = namespace(reference)
    return xp.asarray(_movable(indices, np.int64), device=compat.device(reference))


def take(array: Array, indices: Indices, axis: int = 0) -> Array:
    """The slices of the array at host indices."""
    if type(array) is np.ndarray:
        indices = np.asarray(indices, dtype=np.int64)
        if axis == 0 and not array.flags.c_contiguous:  # of which `take` copies all
            return np.ascontiguousarray(array[indices])
        return array.take(indices, axis=axis)
    return namespace(array).take(array, positions(indices, array), axis=axis)


def scatter(values: Array, indices: Indices, n: int) -> Array:
    """Zeros with n rows, except that the rows at the indices hold the values."""
    if isinstance(values, np.ndarray) or compat.is_torch_array(values):
        full = zeros((n, *values.shape[1:]), values)
        full[positions(indices, values)] = values
        return full
    full = np.zeros((n, *values.shape[1:]), dtype=host(values).dtype)
    full[np.asarray(indices)] = host(values)
    return like(full, values)


def device(array: Array) -> str:
    """The name of the device that the array lives on."""
    return str(compat.device(array))


def on_gpu(array: Array) -> bool:
    """Whether the array lives on a graphics card."""
    return compat.is_torch_array(array) and array.device.type == "cuda"


def has_double(array: Array) -> bool:
    """Whether the device of the array computes in float64; Apple's graphics cards do not."""
    return not (compat.is_torch_array(array) and array.device.type == "mps")


# CUDA cards that compute in float64 at half of their rate in float32; others at 1/32 or 1/64.
FAST_IN_DOUBLE = {(6, 0), (7, 0), (8, 0), (9, 0), (10, 0)}


def fast_in_double(array: Array) -> bool:
    """Whether float64 costs a few times float32 on the device of the array, not far more."""
    if not on_gpu(array):
        return True
    import torch

    return torch.cuda.get_device_capability(array.device) in FAST_IN_DOUBLE


def free_memory(array: Array, otherwise: int) -> int:
    """Free bytes on the graphics card of the array; on the host, `otherwise`."""
    if not on_gpu(array):
        return otherwise
    import torch

    return int(torch.cuda.mem_get_info(array.device)[0])


def double(array: Array) -> Array:
    """The array in float64."""
    xp = namespace(array)
    return xp.astype(array, xp.float64, copy=False)


def as_single(array: Array) -> Array:
    """The array in float32."""
    xp = namespace(array)
    return xp.astype(array, xp.float32, copy=False)


def as_dtype_of(array: Array, prototype: Array) -> Array:
    """The array in the dtype of the prototype."""
    return namespace(array).astype(array, prototype.dtype, copy=False)


def eps(array: Array) -> float:
    """The distance from 1 to the next number of the array's dtype."""
    return float(namespace(array).finfo(array.dtype).eps)


def is_single(array: Array) -> bool:
    """Whether the array has half the digits of float64, or fewer."""
    return eps(array) > 1e-10


def represented(k: int, accuracy: float = 2.0**-52) -> float:
    """The share of its own size up to which what k columns leave of a column is rounding.

    accuracy : the rounding unit of what the residual is computed from. The size is K_jj, or the
        length of a column where its residual is kept as a column.
    """
    return 8 * (k + 8) * accuracy


def rounded_before(data: Array) -> float:
    """The share of the length of a column that was rounded when it came as float32."""
    return 2 * eps(data) if is_single(data) else 0.0


def rank_tolerance(array: Array) -> float:
    """The residual, relative to the largest diagonal entry, below which a column adds nothing."""
    return 1e-5 if is_single(array) else 1e-10


def first_argmax(scores: Array) -> int:
    """The lowest index among the largest scores; scores that differ by rounding alone are tied."""
    if isinstance(scores, np.ndarray):
        largest = scores.max()
        return int((scores >= largest - 256 * eps(scores) * abs(largest)).argmax())
    xp = namespace(scores)
    largest = xp.max(scores)
    tied = scores >= largest - 256 * eps(scores) * xp.abs(largest)
    order = xp.arange(scores.shape[0], device=compat.device(scores))
    return int(xp.min(xp.where(tied, order, scores.shape[0])))


def exp_between(array: Array, low: float, high: float) -> Array:
    """exp of the clipped array; the array's own memory is overwritten where the library can."""
    if isinstance(array, np.ndarray):
        np.clip(array, low, high, out=array)
        return np.exp(array, out=array)
    if compat.is_torch_array(array):
        return array.clamp_(low, high).exp_()
    xp = namespace(array)
    return xp.exp(xp.clip(array, min=low, max=high))


def norm(array: Array) -> float:
    """The Euclidean (Frobenius) norm."""
    xp = namespace(array)
    return float(xp.sqrt(xp.sum(array * array)))


def root_mean_square(array: Array) -> float:
    """The root of the mean of the squared entries."""
    return norm(array) / float(np.prod(array.shape)) ** 0.5


def column_dots(left: Array, right: Array) -> Array:
    """The inner product of each column of one matrix with that of the other."""
    if isinstance(left, np.ndarray):
        return np.einsum("ij,ij->j", left, right)  # no temporary matrix: 2.5 times as fast
    return namespace(left).sum(left * right, axis=0)


def cholesky(matrix: Array) -> Array | None:
    """The lower Cholesky factor, or None when the matrix is not positive definite."""
    xp = namespace(matrix)
    try:
        factor = xp.linalg.cholesky(matrix)
    except (np.linalg.LinAlgError, RuntimeError):  # torch raises a RuntimeError
        return None
    return factor if bool(xp.all(xp.isfinite(factor))) else None


def solve_triangular(factor: Array, block: Array, *, adjoint: bool = False) -> Array:
    """Solve L Y = B for a lower triangular L, or Lᵀ Y = B when adjoint; not in the standard."""
    if compat.is_torch_array(factor):
        import torch

        matrix = factor.mT if adjoint else factor
        return torch.linalg.solve_triangular(matrix, block, upper=adjoint)
    solution = scipy.linalg.solve_triangular(
        host(factor), host(block), lower=True, trans="T" if adjoint else "N", check_finite=False
    )
    return solution if isinstance(factor, np.ndarray) else like(solution, block)


def solve_from_right(columns: Array, factor: Array) -> Array:
    """columns · L⁻ᵀ for a lower triangular L: few columns, many rows.

    On a card a solve from the left, with the rows as right-hand sides, takes seconds for half a
    million of them.
    """
    if compat.is_torch_array(factor):
        import torch

        return torch.linalg.solve_triangular(factor.mT, columns, upper=True, left=False)
    return solve_triangular(factor, columns.T).T


def solve_cholesky(factor: Array, block: Array) -> Array:
    """Solve L Lᵀ Y = B for a lower triangular L."""
    return solve_triangular(factor, solve_triangular(factor, block), adjoint=True)


def as_float(array: Array) -> Array:
    """The array in float32 or float64: its own dtype if it is one of the two, else float64."""
    xp = namespace(array)
    if compat.is_torch_array(array):
        array = array.detach()
    if array.dtype in (xp.float32, xp.float64):
        return array
    return xp.astype(array, xp.float64)


@cache
def _blas(name: str, dtype: np.dtype) -> Any:
    """A routine of BLAS; looking it up takes longer than a small product."""
    return scipy.linalg.get_blas_funcs(name, dtype=dtype)


def add_outer(matrix: Array, left: Array, right: Array) -> None:
    """Add left rightᵀ to a contiguous matrix in place, without a temporary where possible."""
    if isinstance(matrix, np.ndarray) and matrix.flags.c_contiguous:
        ger = _blas("ger", matrix.dtype)
        ger(1.0, right, left, a=matrix.T, overwrite_x=False, overwrite_y=False, overwrite_a=True)
    elif compat.is_torch_array(matrix):
        matrix.addr_(left, right)
    else:
        matrix += left[:, None] * right[None, :]


def add_product(matrix: Array, left: Array, right: Array) -> None:
    """Add left @ right to a contiguous matrix in place, without a temporary where possible."""
    if isinstance(matrix, np.ndarray) and matrix.flags.c_contiguous:
        gemm = _blas("gemm", matrix.dtype)
        gemm(1.0, right.T, left.T, beta=1.0, c=matrix.T, overwrite_c=True)
    elif compat.is_torch_array(matrix):
        matrix.addmm_(left, right)
    else:
        matrix += left @ right


def transposed(matrix: Array) -> Array:
    """The transpose as a separate contiguous matrix."""
    if compat.is_torch_array(matrix):
        return matrix.T.contiguous()
    return namespace(matrix).asarray(matrix.T, copy=True)
