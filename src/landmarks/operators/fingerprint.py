"""Fingerprints of data: a hash of what is stored, or numbers that rounding hardly moves."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import scipy.sparse

from .._array import Indices, host, is_single, like
from .base import Operator, determining

SKETCH = 16  # numbers that distinguish two black boxes


def fingerprint(operator: Operator) -> dict[str, Any]:
    """What identifies the data: SHA-256 of what is stored, else a sketch of a product; as JSON."""
    known = {
        "operator": type(operator).__name__,
        "n": operator.n,
        "dtype": str(operator.like.dtype).split(".")[-1],
        "exponent": operator.exponent,
    }
    parts = determining(operator)
    if not parts or any(callable(part) and not is_dataclass(part) for part in parts):
        return known | {"sketch": _sketch(operator), "tolerance": _tolerance(operator)}
    digest = hashlib.sha256()
    for part in parts:
        sparse = scipy.sparse.issparse(part)
        for array in (part.data, part.indices, part.indptr) if sparse else (part,):
            if isinstance(array, str) or is_dataclass(array):
                digest.update((array if isinstance(array, str) else repr(array)).encode())
            else:
                _digest(digest, host(array))
    return known | {"sha256": digest.hexdigest()}


def same_data(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two fingerprints agree, so that they are probably of the same data."""
    if "sketch" not in a or "sketch" not in b:
        return a == b
    distance = np.linalg.norm(np.subtract(a["sketch"], b["sketch"]))
    close = distance <= a["tolerance"] * np.linalg.norm(a["sketch"])
    return bool(close) and a | {"sketch": None} == b | {"sketch": None}


def _sketch(operator: Operator) -> list[float]:
    """The product with one sign vector, added up by the signs of others."""
    rng = np.random.default_rng(7)
    u = 2.0 * rng.integers(0, 2, size=(operator.n, 1)) - 1.0
    Ku = host(operator.matmul(like(u, operator.like))).astype(np.float64)[:, 0]
    return [
        float(np.sum(np.where(rng.integers(0, 2, size=operator.n), Ku, -Ku))) for _ in range(SKETCH)
    ]


def sketch(operator: Operator, indices: Indices) -> list[float]:
    """Numbers that tell K from others, however it is stored: from its diagonal and chosen columns.

    Every column counts by what it is relative to its own length, so that none is too small to see.
    """
    signs = 2.0 * np.random.default_rng(7).integers(0, 2, size=(SKETCH, operator.n)) - 1.0
    few = np.asarray(list(dict.fromkeys(np.asarray(indices).tolist()))[:SKETCH], dtype=np.int64)
    if not {"diagonal", "columns"} <= operator.cheap:
        sums = _sketch(operator)
        return [float(np.ldexp(value, operator.exponent)) for value in sums]
    diagonal = host(operator.diagonal()).astype(np.float64)
    floor = max(1e-24 * float(np.max(diagonal)), np.finfo(float).tiny)  # all may be zero
    lengths = np.sqrt(np.maximum(diagonal, 0.0) + floor)
    columns = host(operator.columns(few)).astype(np.float64)
    near = columns @ (signs[: len(few), 0] / lengths[few]) / lengths
    half = SKETCH // 2
    sizes = 2 * np.log2(lengths) + operator.exponent
    return [*(signs[:half] @ sizes).tolist(), *(signs[half:] @ near).tolist()]


def same_sketch(a: Sequence[float], b: Sequence[float], operator: Operator) -> bool:
    """Whether two sketches agree up to rounding, so that they are probably of the same K."""
    if len(a) != len(b):
        return False
    size = float(np.linalg.norm(b)) + np.sqrt(operator.n)
    return bool(np.linalg.norm(np.subtract(a, b)) <= _tolerance(operator) * size)


def _tolerance(operator: Operator) -> float:
    """How far apart sketches of one matrix may be, relative to their size."""
    return 1e-4 if is_single(operator.like) else 1e-6


def _digest(digest: hashlib._Hash, array: np.ndarray, rows: int = 2**24) -> None:
    """Add the shape, the dtype and the bytes, a few rows at a time: memory maps stay on disk."""
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    height = max(1, rows // max(1, array[:1].nbytes))
    for start in range(0, len(array), height):
        digest.update(np.ascontiguousarray(array[start : start + height]).data)
