"""Numbers held as a sum of two floats: 106 bits, for differences that float64 cannot hold.

Dekker, "A floating-point technique for extending the available precision", Numer. Math. 18 (1971).
Exact products of matrices from float64 products of slices: Ozaki, Ogita, Oishi and Rump,
Numer. Algorithms 59 (2012).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

SPLIT = 2.0**27 + 1
BITS = 106  # bits below the largest entry of a column that the slices reach
UNIT = 2.0**-102  # relative error of a product, a quotient or a sum of numbers of one sign


class Twofold(NamedTuple):
    """The array high + low, where low is below half a unit in the last place of high."""

    high: np.ndarray
    low: np.ndarray

    def at(self, *index: Any) -> Twofold:
        """The part at an index."""
        return Twofold(self.high[index], self.low[index])


def exactly(array: np.ndarray) -> Twofold:
    """An array of floats as it is."""
    return Twofold(array, np.zeros_like(array))


def two_sum(a: np.ndarray, b: np.ndarray) -> Twofold:
    """a + b without rounding."""
    total = a + b
    part = total - a
    return Twofold(total, (a - (total - part)) + (b - part))


def halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a as a sum of two numbers of 26 bits, whose products are exact."""
    scaled = SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def two_product(a: np.ndarray, b: np.ndarray) -> Twofold:
    """a · b without rounding, entry by entry."""
    product = a * b
    (ah, al), (bh, bl) = halves(a), halves(b)
    return Twofold(product, ((ah * bh - product) + ah * bl + al * bh) + al * bl)


def add(a: Twofold, b: Twofold) -> Twofold:
    """a + b."""
    high, low = two_sum(a.high, b.high)
    other, rest = two_sum(a.low, b.low)
    high, low = two_sum(high, low + other)
    return two_sum(high, low + rest)


def subtract(a: Twofold, b: Twofold) -> Twofold:
    """a − b."""
    return add(a, Twofold(-b.high, -b.low))


def multiply(a: Twofold, b: Twofold) -> Twofold:
    """a · b, entry by entry."""
    high, low = two_product(a.high, b.high)
    return two_sum(high, low + (a.high * b.low + a.low * b.high))


def divide(a: Twofold, b: Twofold) -> Twofold:
    """a / b, entry by entry."""
    first = a.high / b.high
    rest = subtract(a, multiply(exactly(first), b))
    second = rest.high / b.high
    rest = subtract(rest, multiply(exactly(second), b))
    return add(two_sum(first, second), exactly(rest.high / b.high))


def outer(a: Twofold, b: Twofold) -> Twofold:
    """The products of all entries of a with all of b."""
    product = np.multiply.outer(a.high, b.high)
    (ah, al), (bh, bl) = halves(a.high), halves(b.high)
    low = np.multiply.outer(ah, bh) - product
    low += np.multiply.outer(ah, bl)
    low += np.multiply.outer(al, bh)
    low += np.multiply.outer(al, bl) + np.multiply.outer(a.high, b.low)
    low += np.multiply.outer(a.low, b.high)
    return two_sum(product, low)


def gram(X: np.ndarray) -> Twofold:
    """XᵀX, each entry to 2⁻¹⁰⁰ of the norms of its two columns."""
    m, n = X.shape
    bits = (53 - int(np.ceil(np.log2(max(m, 2))))) // 2
    slices, exponents = _slices(X, bits)
    K = exactly(np.zeros((n, n)))
    for a, left in enumerate(slices):
        for b in range(a, min(len(slices), BITS // bits + 2 - a)):
            product = left.T @ slices[b]
            K = add(K, exactly(product))
            if b > a:
                K = add(K, exactly(product.T))
    power = exponents[:, None] + exponents[None, :]
    return Twofold(np.ldexp(K.high, power), np.ldexp(K.low, power))


def _slices(X: np.ndarray, bits: int) -> tuple[list[np.ndarray], np.ndarray]:
    """X as a sum of matrices with so few bits that float64 adds up their products exactly."""
    largest = np.max(np.abs(X), axis=0, initial=0.0)
    exponents = np.frexp(largest)[1]
    rest, slices = np.ldexp(X, -exponents[None, :]), []
    for a in range(1, BITS // bits + 2):
        part = np.ldexp(np.rint(np.ldexp(rest, a * bits)), -a * bits)
        slices.append(part)
        rest = rest - part
        if not rest.any():
            break
    return slices, exponents
