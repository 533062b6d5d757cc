"""Blocks of vectors of length n in parts on the workers, for eigenvalues of a kernel matrix.

The block Lanczos method asks them what it asks vectors in memory (`linalg.error.Vectors`). Products
and sums over the parts are in one order, so the bounds are the same for all chunks and any number
of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..parts import signs
from .client import Lazy, compute, constant, lazy, made, tree
from .data import added
from .shards import Rule, product

if TYPE_CHECKING:
    from .kernel import DaskKernel

KEY = 0  # of the signs that the method starts from
Block = list[Lazy]


class SpreadVectors:
    """What the method does with blocks whose rows are where the points of a kernel are."""

    here = False

    def __init__(self, kernel: DaskKernel):
        self.kernel = kernel

    def start(self, width: int) -> Block:
        """An orthonormal block in random directions."""
        drawn = [lazy(_signs, points, start, width) for points, start in self.kernel.stored]
        return self._orthonormal(drawn)[0]

    def product(self, block: Block) -> Block:
        """K times a block: the points pass by the parts in groups, with their rows of it."""
        kernel, width = self.kernel, int(compute(lazy(_width, block[0])))
        kernel.ledger.add(products=width, entries=kernel.n**2)
        found: list[Any] = [None] * len(block)
        for group in kernel.groups:
            y, V = (
                lazy(np.concatenate, [parts[i] for i in group])
                for parts in ([points for points, _ in kernel.stored], block)
            )
            found = made(
                [
                    lazy(_plus_product, before, x, y, V, rule)
                    for before, (x, _), rule in zip(found, kernel.stored, kernel.rules, strict=True)
                ]
            )
        return found

    def inside(self, Q: list[Block], block: Block) -> np.ndarray:
        """Qᵀ block, of all blocks of Q."""
        parts = zip(block, zip(*Q, strict=True), strict=True)
        return np.asarray(compute(tree(added, [lazy(_inside, list(B), F) for F, B in parts])))

    def outside(self, Q: list[Block], block: Block, M: np.ndarray) -> tuple[Block, np.ndarray]:
        """The QR factors of block − QM."""
        sent = constant(np.split(M, len(Q)))
        parts = zip(block, zip(*Q, strict=True), strict=True)
        return self._orthonormal([lazy(_outside, list(B), F, sent) for F, B in parts])

    def _orthonormal(self, block: Block) -> tuple[Block, np.ndarray]:
        """The QR factors, from those of the parts: Demmel, Grigori, Hoemmen and Langou (2012)."""
        pairs = made([lazy(np.linalg.qr, part) for part in block])
        joined = lazy(_joined, [lazy(_second, pair) for pair in pairs])
        Q = made([lazy(_turned, pair, joined, i) for i, pair in enumerate(pairs)])
        return Q, np.asarray(compute(lazy(_second, joined)))


def _signs(points: np.ndarray, start: int, width: int) -> np.ndarray:
    return signs(KEY, width, start, start + len(points))


def _width(block: np.ndarray) -> int:
    return block.shape[1]


def _plus_product(
    before: np.ndarray | None, x: np.ndarray, y: np.ndarray, V: np.ndarray, rule: Rule
) -> np.ndarray:
    found = product(x, y, V, rule)
    return found if before is None else before + found


def _inside(Q: Sequence[np.ndarray], block: np.ndarray) -> np.ndarray:
    return np.concatenate([part.T @ block for part in Q])


def _outside(Q: Sequence[np.ndarray], block: np.ndarray, M: Sequence[np.ndarray]) -> np.ndarray:
    for part, rows in zip(Q, M, strict=True):
        block = block - part @ rows
    return block


def _joined(triangles: Sequence[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """The QR factors of triangles below one another; the first in their heights."""
    Q, R = np.linalg.qr(np.concatenate(triangles))
    return np.split(Q, np.cumsum([len(part) for part in triangles])[:-1]), R


def _turned(pair: Any, joined: Any, i: int) -> np.ndarray:
    return pair[0] @ joined[0][i]


def _second(pair: Any) -> np.ndarray:
    return pair[1]
