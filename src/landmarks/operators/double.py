"""The same operator with twice the digits, for differences that float32 cannot hold."""

from __future__ import annotations

from functools import singledispatch

from .._array import Array, is_single, namespace
from ..errors import UnsupportedError
from .base import DENSE_MEMORY, Operator, densify, storable
from .data import Data
from .dense import Dense
from .kernel import KernelOperator
from .sparse import Sparse


def in_double(operator: Operator) -> Operator:
    """The operator in float64: itself, or made from data or points again, or else from its entries.

    `digits` of the result says what its entries were rounded to.
    """
    if not is_single(operator.like):
        return operator
    anew = made_anew(operator)
    if anew is not None:
        return anew
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


@singledispatch
def made_anew(operator: Operator) -> Operator | None:
    """The operator of the same data in float64, None where it is not made from data."""
    return None


@made_anew.register
def data_anew(operator: Data) -> Data:
    """X in float64."""
    return Data(_double(operator.X), exponent=operator.exponent, ledger=operator.ledger)


@made_anew.register
def sparse_anew(operator: Sparse) -> Sparse:
    """A sparse X in float64."""
    return Sparse(operator.X.astype("float64"), exponent=operator.exponent, ledger=operator.ledger)


@made_anew.register
def kernel_anew(operator: KernelOperator) -> KernelOperator:
    """The points in float64, centred again: in float32 that rounds them.

    Fused products of the points as they came stay at hand.
    """
    points = _double(operator.raw)
    centre = (
        None if operator.centre is None else namespace(points).mean(points, axis=0, keepdims=True)
    )
    found = KernelOperator(
        points,
        operator.h,
        engine=operator.engine,
        centre=centre,
        memory=operator.memory,
        ledger=operator.ledger,
    )
    found.rough = operator if operator.engine == "fused" else None
    return found


def _double(array: Array) -> Array:
    xp = namespace(array)
    return xp.astype(array, xp.float64)
