"""The rows of K in parts whose heights depend on n alone; draws and random signs of such parts.

What is summed, drawn and multiplied part by part, in this order, is the same in memory and on any
number of workers. A row of signs depends only on a key and its number, so that it can be made
wherever it is needed: Salmon, Moraes, Dror and Shaw, SC (2011).
"""

import numpy as np

PARTS = 256  # about so many, as long as their heights are within the limits
LOWEST, HIGHEST = 2**12, 2**17
STEP_BITS = 256  # bits that one step of the counter of Philox gives


def height(n: int) -> int:
    """The rows of a part: a power of two."""
    return int(np.clip(1 << round(np.log2(max(1.0, n / PARTS))), LOWEST, HIGHEST))


def parts(n: int) -> list[slice]:
    """The rows 0 … n−1 in parts."""
    step = height(n)
    return [slice(a, min(n, a + step)) for a in range(0, n, step)]


def drawn_parts(
    sums: np.ndarray, size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The parts of independent draws in proportion to weight, and how far into their sum each is.

    sums : the weight of each part.
    """
    cumulative = np.cumsum(sums)
    targets = rng.random(size) * cumulative[-1]
    found = np.searchsorted(cumulative, targets, side="right")
    found = np.minimum(found, np.flatnonzero(sums)[-1])  # rounding may reach past the end
    return found, targets - np.concatenate([[0.0], cumulative])[found]


def drawn_inside(weights: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The rows of a part at these distances into the sum of its weights; none of weight zero."""
    found = np.searchsorted(np.cumsum(weights), targets, side="right")
    return np.minimum(found, np.flatnonzero(weights)[-1])


def draw(weights: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Independent rows with probability in proportion to weight; never one of weight zero."""
    ranges = parts(len(weights))
    sums = np.asarray([weights[part].sum() for part in ranges])
    where, targets = drawn_parts(sums, size, rng)
    drawn = np.empty(size, dtype=np.int64)
    for i in np.unique(where):
        mine = where == i
        drawn[mine] = ranges[i].start + drawn_inside(weights[ranges[i]], targets[mine])
    return drawn


def signs(key: int, count: int, start: int, stop: int) -> np.ndarray:
    """Rows start … stop − 1 of a block of random signs with so many columns and any number of rows.

    Blocks of two keys are independent.
    """
    steps = -(-count // STEP_BITS)  # of the counter, for each row
    words = np.random.Philox(key=key).advance(start * steps)
    numbers = words.random_raw((stop - start) * steps * (STEP_BITS // 64))
    found = np.unpackbits(
        numbers.astype("<u8").view(np.uint8).reshape(stop - start, steps * STEP_BITS // 8),
        axis=1,
        count=count,
    ).astype(np.float64)
    found *= 2.0
    found -= 1.0
    return found
