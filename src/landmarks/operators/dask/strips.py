"""Parts of a kernel product, each made by one worker: strips of rows, evaluated tile by tile.

The strips depend only on the number of points, so a product is bit-identical on any number of
workers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._array import host
from ...kernels import Kernel
from ..base import Operator
from ..kernel import kernel

TILE = 1024  # rows and columns of values at a time: 8 MB


@dataclass(frozen=True)
class Squared:
    """h², entry by entry: its matrix times a vector of ones is the diagonal of K²."""

    h: Kernel

    def __call__(self, x: Any, y: Any) -> Any:
        values = self.h(x, y)
        return values * values


def height(n: int, least: int = TILE) -> int:
    """The rows of a strip: about 8√n, so that there are many strips and they return few vectors."""
    return max(least, 1 << round(np.log2(8 * n**0.5)))


def cuts(n: int, step: int) -> list[tuple[int, int]]:
    """0 … n in steps."""
    return [(a, min(n, a + step)) for a in range(0, n, step)]


def partners(i: int, p: int) -> Iterator[int]:
    """The strips paired with strip i, itself first: each pair once, each strip equally often."""
    for offset in range(p // 2 + 1):
        if 2 * offset < p or i < p // 2:
            yield (i + offset) % p


def half_product(points: np.ndarray, V: np.ndarray, h: Kernel, i: int) -> np.ndarray:
    """The part of K V from the tiles of strip i and its partners; values above the diagonal serve
    twice."""
    strips = cuts(len(points), height(len(points)))
    product = np.zeros((len(points), V.shape[1]), dtype=V.dtype)
    for j in partners(i, len(strips)):
        for rows in _tiles(*strips[i]):
            for cols in _tiles(*strips[j]):
                values = h(points[rows], points[cols])
                product[rows] += values @ V[cols]
                if i != j:
                    product[cols] += values.T @ V[rows]
    return product


def product(
    points: np.ndarray, V: np.ndarray, h: Kernel, rows: slice | np.ndarray, cols: np.ndarray | None
) -> np.ndarray:
    """K[rows, cols] V."""
    x = points[rows]
    y = points if cols is None else points[cols]
    result = np.zeros((len(x), V.shape[1]), dtype=V.dtype)
    for a in _tiles(0, len(x)):
        for b in _tiles(0, len(y)):
            result[a] += h(x[a], y[b]) @ V[b]
    return result


def values(points: np.ndarray, h: Kernel, rows: slice | np.ndarray, cols: np.ndarray) -> np.ndarray:
    """K[rows, cols]."""
    return h(points[rows], points[cols])


def diagonal(points: np.ndarray, h: Kernel, rows: slice | np.ndarray) -> np.ndarray:
    """The entries of the diagonal at the rows."""
    inside = points[rows]
    parts = (inside[a : a + 64] for a in range(0, len(inside), 64))
    return np.concatenate([np.diagonal(h(x, x)) for x in parts])


def _tiles(start: int, stop: int) -> list[slice]:
    return [slice(a, min(stop, a + TILE)) for a in range(start, stop, TILE)]


_on_device: dict[tuple[str, str], Operator] = {}


def device_product(
    points: np.ndarray,
    V: np.ndarray,
    h: Kernel,
    rows: slice | np.ndarray,
    cols: np.ndarray | None,
    device: str,
    precision: str,
    key: str,
) -> np.ndarray:
    """K[rows, cols] V on a device of the worker by torch; the points of one operator stay there."""
    import torch

    if (device, key) not in _on_device:
        _on_device.clear()
        _on_device[device, key] = kernel(
            torch.tensor(points, device=device), h, precision=precision
        )
    K = _on_device[device, key]
    rows = np.arange(len(points))[rows]
    return host(K.matmul(torch.tensor(V, device=device), rows=rows, cols=cols))
