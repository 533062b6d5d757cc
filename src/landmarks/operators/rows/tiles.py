"""Rows regrouped into tiles of a fixed height, so that sums do not depend on the chunks of X."""

import itertools
from collections.abc import Iterator

import numpy as np

from ... import _check
from ...runs.runner import report
from .base import RowBlocks

READ = 8 * 2**20  # bytes of a block read from a source, if the source lets us choose


def tile_height(n: int) -> int:
    """Rows of a tile that stays in the cache, but enough of them to make products efficient."""
    return max(1024, 2**17 // n)


def pass_height(n: int, memory: int) -> int:
    """Rows of a tile of a wide X: an eighth of the memory, or fewer if products stay efficient."""
    return max(1, min(2**22 // n + 64, memory // (64 * n)))


def tiles(
    source: RowBlocks, height: int, memory: int = READ, *, buffers: int = 1
) -> Iterator[tuple[int, np.ndarray]]:
    """The first row and the rows, in float64, of each tile; the buffers are reused in turn."""
    ring = itertools.cycle([np.empty((height, source.n)) for _ in range(buffers)])
    buffer, start, filled = next(ring), 0, 0
    for block in source.read(min(memory, READ)):
        _check_width(block, source, start + filled)
        while len(block):
            part, block = block[: height - filled], block[height - filled :]
            buffer[filled : filled + len(part)] = part
            filled += len(part)
            if filled == height:
                yield start, buffer
                buffer, start, filled = next(ring), start + height, 0
                report("reading", start, source.m)
    if filled:
        yield start, buffer[:filled]
        report("reading", start + filled, source.m)
    _check_count(start + filled, source)


def largest(X: np.ndarray, source: RowBlocks, start: int) -> float:
    """The largest |x| of a tile; NaN and infinity are refused with their rows."""
    value = max(float(X.max()), -float(X.min()))
    if not np.isfinite(value):
        _check.finite(X, "X", offset=start, names=source.names)
    return value


def _check_width(block: np.ndarray, source: RowBlocks, row: int) -> None:
    if block.ndim != 2 or block.shape[1] != source.n:
        raise ValueError(
            f"every block of rows must have the {source.n} columns of the first, got shape "
            f"{block.shape} at row {row}"
        )


def _check_count(rows: int, source: RowBlocks) -> None:
    if rows == 0:
        raise ValueError(
            "X has no rows; an iterator that was read already is empty: make a new one, or pass a "
            "function that returns a fresh one"
        )
    if source.m is not None and rows != source.m:
        raise ValueError(
            f"X gave {rows} rows where {source.m} were expected: it changed, or the function must "
            "return a fresh iterator at each call"
        )
    source.m = rows
