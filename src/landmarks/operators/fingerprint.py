"""Which data an operator was made of: a hash of what it stores, and a sketch of what a black box gives."""

from __future__ import annotations

import hashlib
from dataclasses import is_dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from .._array import Array, host, is_single, like
from .base import Operator
from .data import Data
from .dense import Dense
from .hadamard import Hadamard
from .kernel import KernelOperator
from .sparse import Sparse
from .toeplitz import Toeplitz

SKETCH = 16  # numbers that tell two black boxes apart


@singledispatch
def contents(operator: Operator) -> list[Array] | None:
    """The arrays that say all of an operator; None when only products do."""
    return None


@contents.register
def _(operator: Data) -> list[Array]:
    return [operator.X]


@contents.register
def _(operator: Dense) -> list[Array]:
    return [operator.K]


@contents.register
def _(operator: Sparse) -> list[Array]:
    return [operator.X.data, operator.X.indices, operator.X.indptr]


@contents.register
def _(operator: Toeplitz) -> list[Array]:
    return [operator.first_column]


@contents.register
def _(operator: Hadamard) -> list[Array]:
    return [operator.A, operator.B]


@contents.register
def _(operator: KernelOperator) -> list[Array] | None:
    return [operator.points] if is_dataclass(operator.h) else None


def fingerprint(operator: Operator) -> dict[str, Any]:
    """What tells the data apart from others: SHA-256 of what is stored, else a sketch of a product; as JSON.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> from landmarks.operators.fingerprint import fingerprint, same_data
    >>> a, b = lm.psd(np.eye(3)), lm.psd(2 * np.eye(3))
    >>> same_data(fingerprint(a), fingerprint(a)), same_data(fingerprint(a), fingerprint(b))
    (True, False)
    """
    known = {
        "operator": type(operator).__name__,
        "n": operator.n,
        "dtype": str(operator.like.dtype).split(".")[-1],
        "exponent": operator.exponent,
    }
    arrays = contents(operator)
    if arrays is None:
        return known | {
            "sketch": _sketch(operator),
            "tolerance": 1e-4 if is_single(operator.like) else 1e-6,
        }
    digest = hashlib.sha256(repr(getattr(operator, "h", "")).encode())
    for array in arrays:
        _digest(digest, host(array))
    return known | {"sha256": digest.hexdigest()}


def same_data(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two fingerprints are of the same data, as far as they tell."""
    if "sketch" not in a or "sketch" not in b:
        return a == b
    close = np.linalg.norm(np.subtract(a["sketch"], b["sketch"])) <= a[
        "tolerance"
    ] * np.linalg.norm(a["sketch"])
    return bool(close) and a | {"sketch": None} == b | {"sketch": None}


def _sketch(operator: Operator) -> list[float]:
    """The product with one sign vector, added up by the signs of others."""
    rng = np.random.default_rng(7)
    u = 2.0 * rng.integers(0, 2, size=(operator.n, 1)) - 1.0
    Ku = host(operator.matmul(like(u, operator.like))).astype(np.float64)[:, 0]
    return [
        float(np.sum(np.where(rng.integers(0, 2, size=operator.n), Ku, -Ku))) for _ in range(SKETCH)
    ]


def _digest(digest: hashlib._Hash, array: np.ndarray, rows: int = 2**24) -> None:
    """Take in the shape, the dtype and the bytes, some rows at a time: a memory map is never read as a whole."""
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    height = max(1, rows // max(1, array[:1].nbytes))
    for start in range(0, len(array), height):
        digest.update(np.ascontiguousarray(array[start : start + height]).data)
