"""Triton kernels for K(x, y) @ V in float32: values live in registers and are never stored.

A tile of exponents is one tensor-core product of packed points (`single_packing`), or differences
summed in float32. The values are computed times 2**SHIFT, away from the smallest float16 numbers.
Two float16 parts of each are multiplied by V on the tensor cores. Their accumulators truncate, so
only RUN tiles are summed there, and these sums in float32.
"""

# The compiler of the kernels takes types from the arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import triton
import triton.language as tl

from .functions import FORMS
from .single_exponential import exp2, float16_parts, to_float16

SHIFT = tl.constexpr(15.0)  # as in `single_packing`
SCALE = tl.constexpr(2.0**15)
LOG2E = tl.constexpr(1.4426950408889634)

# how the exponents of a tile are formed, and what becomes of them
SHORT, LONG, SQUARES, ABSOLUTE = (tl.constexpr(i) for i in range(4))
EXPONENTIAL, MATERN12, MATERN32, MATERN52, POWER = (tl.constexpr(i) for i in FORMS)


@triton.jit
def _values(s, nearest, SHAPE: tl.constexpr, DEGREE: tl.constexpr, EXP: tl.constexpr):
    """2**SHIFT times the kernel values.

    Squared distances up to `nearest` are rounding, whose root would be far larger.
    """
    if SHAPE == EXPONENTIAL:
        return exp2(s, EXP)
    elif SHAPE == POWER:
        p = s * SCALE
        for _ in tl.static_range(DEGREE - 1):
            p = p * s
        return p
    else:
        s = tl.where(s < -nearest, s, 0.0)
        r = tl.sqrt(-s)
        p = exp2(r * (-LOG2E) + SHIFT, EXP)
        if SHAPE == MATERN32:
            p = p * (1.0 + r)
        if SHAPE == MATERN52:
            p = p * (1.0 + r - s * 0.3333333333333333)
        return p


@triton.jit
def _rows(x, tile, at, ROWS: tl.constexpr, COLS: tl.constexpr, STRIDE: tl.constexpr):
    """A tile of rows, from the column `at`."""
    j = tile * ROWS + tl.arange(0, ROWS)
    return tl.load(x + j[:, None] * STRIDE + (at + tl.arange(0, COLS))[None, :])


@triton.jit
def _long(x, y, i, j, L: tl.constexpr, CHUNK: tl.constexpr):
    """The product of packed points too long for one piece."""
    k = tl.arange(0, CHUNK)
    s = tl.zeros((i.shape[0], j.shape[0]), dtype=tl.float32)
    for start in range(0, L, CHUNK):
        a = tl.load(x + i[:, None] * L + (start + k)[None, :])
        b = tl.load(y + j[:, None] * L + (start + k)[None, :])
        s = tl.dot(a, tl.trans(b), s)
    return s


@triton.jit
def _differences(
    s,
    x,
    y,
    i,
    j,
    rows,
    cols,
    factor,
    d,
    DISTANCE: tl.constexpr,
    SHAPE: tl.constexpr,
    UNROLL: tl.constexpr,
):
    """Minus the sum of squared or absolute differences, times the factor.

    Coordinates are rows of x and y.
    s is a product of zeros: its layout is the one that the next product reads without a detour.
    """
    for start in range(0, d, UNROLL):
        for step in tl.static_range(UNROLL):
            k = start + step
            difference = tl.load(x + k * rows + i)[:, None] - tl.load(y + k * cols + j)[None, :]
            if DISTANCE == SQUARES:
                s += difference * difference
            else:
                s += tl.abs(difference)
    if SHAPE == EXPONENTIAL:
        return s * (-factor) + SHIFT
    else:
        return s * (-factor)


@triton.jit
def _tile(
    x, a, a_rest, y, y_rest, i, tile, rows, cols, factor, d,
    DISTANCE: tl.constexpr, SHAPE: tl.constexpr, L: tl.constexpr, REST: tl.constexpr,
    BN: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """The exponents, minus the squared distances, or the inner products of a tile."""
    if DISTANCE == LONG:
        return _long(x, y, i, tile * BN + tl.arange(0, BN), L, 64)
    elif DISTANCE == SHORT:
        s = tl.dot(a, tl.trans(_rows(y, tile, 0, BN, L, L)))
        if REST > 0:
            s = tl.dot(a_rest, tl.trans(_rows(y_rest, tile, 0, BN, REST, REST)), s)
        return s
    else:
        s = tl.dot(a_rest, tl.trans(_rows(y_rest, tile, 0, BN, REST, REST)))
        return _differences(
            s, x, y, i, tile * BN + tl.arange(0, BN), rows, cols, factor, d, DISTANCE, SHAPE, UNROLL
        )


@triton.jit
def _strip(x, i, L: tl.constexpr):
    """The packed rows at i; nothing where the tile does not keep them."""
    if L > 0:
        return tl.load(x + i[:, None] * L + tl.arange(0, L)[None, :])
    else:
        return 0.0


@triton.jit
def _add(acc, p, v, tile, N: tl.constexpr, BN: tl.constexpr, LOW: tl.constexpr, EXP: tl.constexpr):
    """acc + p v for a tile of values p."""
    if LOW == 0:
        return tl.dot(to_float16(p, EXP), _rows(v, tile, 0, BN, N, N), acc)
    elif LOW == 1:
        w = _rows(v, tile, 0, BN, N, N)
        high, low = float16_parts(p, EXP)
        acc = tl.dot(high, w, acc)
        return tl.dot(low, w, acc)
    else:
        w = _rows(v, tile, 0, BN, N, 2 * N)
        high, low = float16_parts(p, EXP)
        acc = tl.dot(high, w, acc)
        acc = tl.dot(high, _rows(v, tile, N, BN, N, 2 * N), acc)
        return tl.dot(low, w, acc)


@triton.jit(do_not_specialize=["tiles", "span", "d"])
def block_product(
    x, x_rest, y, y_rest, v, out, rows, cols, tiles, span, d, factor, nearest,
    DISTANCE: tl.constexpr, SHAPE: tl.constexpr, DEGREE: tl.constexpr,
    L: tl.constexpr, REST: tl.constexpr,
    N: tl.constexpr, LOW: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, RUN: tl.constexpr,
    UNROLL: tl.constexpr, EXP: tl.constexpr,
):  # fmt: skip
    """One strip of rows times one span of tiles of columns.

    LOW is 0 without low parts, 1 with high and low parts of V among its N columns, 2 with N
    columns of each.
    """
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    first = tl.program_id(1) * span
    last = tl.minimum(first + span, tiles)
    a = _strip(x, i, L if DISTANCE == SHORT else 0)
    a_rest = _strip(x_rest, i, REST)
    total = tl.zeros((BM, N), dtype=tl.float32)
    for start in range(first, last, RUN):
        acc = tl.zeros((BM, N), dtype=tl.float32)
        for tile in range(start, tl.minimum(start + RUN, last)):
            s = _tile(
                x, a, a_rest, y, y_rest, i, tile, rows, cols, factor, d,
                DISTANCE, SHAPE, L, REST, BN, UNROLL,
            )  # fmt: skip
            acc = _add(acc, _values(s, nearest, SHAPE, DEGREE, EXP), v, tile, N, BN, LOW, EXP)
        total += acc
    target = (
        out + (tl.program_id(1).to(tl.int64) * rows + i[:, None]) * N + tl.arange(0, N)[None, :]
    )
    tl.store(target, total)


@triton.jit(do_not_specialize=["tiles", "span", "d"])
def vector_product(
    x, x_rest, y, y_rest, v, out, rows, cols, tiles, span, d, factor, nearest,
    DISTANCE: tl.constexpr, SHAPE: tl.constexpr, DEGREE: tl.constexpr,
    L: tl.constexpr, REST: tl.constexpr,
    SQUARE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    UNROLL: tl.constexpr, EXP: tl.constexpr,
):  # fmt: skip
    """The same for one vector, summed in float32; with SQUARE the values are squared first."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    first = tl.program_id(1) * span
    last = tl.minimum(first + span, tiles)
    a = _strip(x, i, L if DISTANCE == SHORT else 0)
    a_rest = _strip(x_rest, i, REST)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for tile in range(first, last):
        s = _tile(
            x, a, a_rest, y, y_rest, i, tile, rows, cols, factor, d,
            DISTANCE, SHAPE, L, REST, BN, UNROLL,
        )  # fmt: skip
        p = _values(s, nearest, SHAPE, DEGREE, EXP)
        w = tl.load(v + tile * BN + tl.arange(0, BN))[None, :]
        if SQUARE:
            w = p * w
        acc += p * w
    tl.store(out + tl.program_id(1).to(tl.int64) * rows + i, tl.sum(acc, axis=1))


def interpreted() -> bool:
    """Whether the kernels run in Triton's interpreter, on the CPU."""
    return not isinstance(block_product, triton.runtime.JITFunction)
