"""The same operator in float64, for differences of large numbers that float32 cannot hold."""

from scipy.sparse import issparse

from .._array import Array, double, is_single, namespace
from ..errors import UnsupportedError
from .base import DENSE_MEMORY, Operator
from .dense import Data, Dense, Sparse, densify, storable
from .kernel_matrix import KernelOperator
from .structured.hadamard import Hadamard

LARGE = 100_000  # points from which fused products are most of the work


def in_double(operator: Operator) -> Operator:
    """The operator in float64, made again from its data if possible, else from its entries.

    The `digits` of the result say to how many digits its entries are known.
    """
    if not is_single(operator.like):
        return operator
    remade = remade_in_double(operator)
    if remade is not None:
        return remade
    if not storable(operator, DENSE_MEMORY // 8):
        raise UnsupportedError(
            f"{operator!r} has too few digits and is too large to store in float64; make it from "
            "float64 data"
        )
    return Dense(
        _double(densify(operator)),
        exponent=operator.exponent,
        ledger=operator.ledger,
        digits=operator.like,
    )


def remade_in_double(operator: Operator) -> Operator | None:
    """The operator of the same data in float64; None if it is not made from data."""
    if isinstance(operator, KernelOperator):
        return _kernel_in_double(operator)
    for kind in (Data, Sparse, Hadamard):
        if isinstance(operator, kind):
            arrays = [_double(getattr(operator, name)) for name in operator.determined_by]
            return kind(*arrays, exponent=operator.exponent, ledger=operator.ledger)
    return None


def _kernel_in_double(operator: KernelOperator) -> KernelOperator:
    """The points in float64, centred again, because centring in float32 rounds them.

    Fused products of the points as they came remain available.
    """
    points = _double(operator.raw)
    centre = None
    if operator.centre is not None:
        centre = namespace(points).mean(points, axis=0, keepdims=True)
    found = KernelOperator(
        points,
        operator.h,
        engine=operator.engine,
        centre=centre,
        memory=operator.memory,
        ledger=operator.ledger,
    )
    if operator.engine == "fused" and operator.n >= LARGE:
        found.rough = operator
    return found


def _double(array: Array) -> Array:
    return array.astype("float64") if issparse(array) else double(array)
