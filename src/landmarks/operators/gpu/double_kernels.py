"""Triton kernels for K(x, y) @ V in float64: values live in registers and are never stored.

A tile of exponents is one product of packed points on the float64 tensor cores (`double`).
If its rounding would matter for the values, or the distance is not an inner product, differences of
coordinates are summed instead. The tile of values is multiplied by V on the tensor cores again.

The exponential is our own. With SHIFT = m > 0 the exponents come as t = x + 2**(m + 1) − 1, and
all t lie between 2**m and 2**(m + 1): the bits of t then hold the whole part and the fraction of x.
"""

# The compiler of the kernels takes types from the arguments.
# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import triton
import triton.language as tl

from . import tiling

LOG2E = tl.constexpr(tiling.LOG2E)
CHUNK = tl.constexpr(32)  # numbers of a long packed row that are multiplied at a time

SHORT, LONG, SQUARES, ABSOLUTE = (tl.constexpr(i) for i in tiling.DISTANCES)
EXPONENTIAL, MATERN12, MATERN32, MATERN52, POWER = (tl.constexpr(i) for i in tiling.FORMS)


@triton.jit
def _block(x, at, start, ROWS: tl.constexpr, COLS: tl.constexpr, STRIDE: tl.constexpr):
    """Rows from `at`, columns from `start`."""
    i = at + tl.arange(0, ROWS)
    return tl.load(x + i[:, None] * STRIDE + (start + tl.arange(0, COLS))[None, :])


@triton.jit
def _long(x, y, i, j, L: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """The product of packed points too long for one piece."""
    s = tl.zeros((BM, BN), dtype=tl.float64)
    for start in range(0, L, CHUNK):
        a = _block(x, i, start, BM, CHUNK, L)
        b = _block(y, j, start, BN, CHUNK, L)
        s = tl.dot(a, tl.trans(b), s, out_dtype=tl.float64)
    return s


@triton.jit
def _differences(
    s, x, y, i, j, rows, cols, d, factor,
    BM: tl.constexpr, BN: tl.constexpr, ABS: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """Minus the sum of s and squared or absolute differences, times the factor."""
    left = x + i + tl.arange(0, BM)
    right = y + j + tl.arange(0, BN)
    for start in range(0, d, UNROLL):
        for step in tl.static_range(UNROLL):
            a = tl.load(left + (start + step) * rows)
            b = tl.load(right + (start + step) * cols)
            difference = a[:, None] - b[None, :]
            if ABS:
                s += tl.abs(difference)
            else:
                s += difference * difference
    return s * (-factor)


@triton.jit
def _tile(
    a, x, x_raw, y, y_raw, i, j, rows, cols, d, factor, near,
    DISTANCE: tl.constexpr, NEAR: tl.constexpr, L: tl.constexpr, UNROLL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """The exponents, minus the squared distances, or the inner products of a tile.

    With NEAR a tile with a number whose high word is at most `near` is formed again by differences.
    """
    if DISTANCE == LONG:
        s = _long(x, y, i, j, L, BM, BN)
    else:
        s = tl.dot(a, tl.trans(_block(y, j, 0, BN, L, L)), out_dtype=tl.float64)
    if DISTANCE == ABSOLUTE:
        s = _differences(s, x_raw, y_raw, i, j, rows, cols, d, factor, BM, BN, True, UNROLL)
    if NEAR:
        high = _high(s) & 0x7FFFFFFF
        if tl.min(tl.min(high, axis=1), axis=0) <= near:
            s = _differences(s * 0.0, x_raw, y_raw, i, j, rows, cols, d, factor, BM, BN, False, 1)
    return s


@triton.jit
def _values(
    s, exponent,
    SHAPE: tl.constexpr, DISTANCE: tl.constexpr, DEGREE: tl.constexpr, SHIFT: tl.constexpr,
):  # fmt: skip
    """The kernel values."""
    MIDDLE: tl.constexpr = 2.0 ** (SHIFT + 1) - 1.0 if SHIFT > 0 else 0.0
    if SHAPE == EXPONENTIAL:
        if DISTANCE == ABSOLUTE:
            s = s + MIDDLE
        return exp2(s, exponent, SHIFT)
    elif SHAPE == POWER:
        p = s
        for _ in tl.static_range(DEGREE - 1):
            p = p * s
        return p
    else:
        r = square_root(-s)
        p = exp2(r * (-LOG2E) + MIDDLE, exponent, SHIFT)
        if SHAPE == MATERN32:
            p = p * (1.0 + r)
        if SHAPE == MATERN52:
            p = p * (1.0 + (r - s * 0.3333333333333333))
        return p


@triton.jit
def _operand(p, BM: tl.constexpr, BN: tl.constexpr):
    """The tile with columns 0, 2, 4, 6, 1, 3, 5, 7 of each eight, as the rows of V are stored.

    The registers that hold a result of the tensor cores are then those of a left operand.
    """
    p = tl.reshape(p, (BM, BN // 8, 4, 2))
    return tl.reshape(tl.permute(p, (0, 1, 3, 2)), (BM, BN))


@triton.jit(do_not_specialize=["tiles", "span", "d", "near", "exponent"])
def product(
    x, x_raw, y, y_raw, v, out, rows, cols, tiles, span, d, factor, near, exponent,
    DISTANCE: tl.constexpr, SHAPE: tl.constexpr, DEGREE: tl.constexpr, NEAR: tl.constexpr,
    SHIFT: tl.constexpr, L: tl.constexpr, UNROLL: tl.constexpr,
    N: tl.constexpr, SQUARE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """One strip of rows times one span of tiles of columns.

    N columns of V; one alone is multiplied without tensor cores, and with SQUARE the values are
    squared first.
    """
    i = tl.program_id(0) * BM
    first = tl.program_id(1) * span
    scale = tl.load(factor)  # in memory, since Triton takes arguments in float32
    a = _block(x, i, 0, BM, 16 if DISTANCE == LONG else L, L)
    acc = tl.zeros((BM, N if N > 1 else BN), dtype=tl.float64)
    for tile in range(first, tl.minimum(first + span, tiles)):
        s = _tile(
            a, x, x_raw, y, y_raw, i, tile * BN, rows, cols, d, scale, near,
            DISTANCE, NEAR, L, UNROLL, BM, BN,
        )  # fmt: skip
        p = _values(s, exponent, SHAPE, DISTANCE, DEGREE, SHIFT)
        if N > 1:
            p = _operand(p, BM, BN)
            acc = tl.dot(p, _block(v, tile * BN, 0, BN, N, N), acc, out_dtype=tl.float64)
        else:
            w = tl.load(v + tile * BN + tl.arange(0, BN))[None, :]
            if SQUARE:
                w = p * w
            acc += p * w
    at = tl.program_id(1).to(tl.int64) * rows + i + tl.arange(0, BM)
    if N > 1:
        tl.store(out + at[:, None] * N + tl.arange(0, N)[None, :], acc)
    else:
        tl.store(out + at, tl.sum(acc, axis=1))


# 2**x and square roots in float64 for Triton kernels: few operations, no table, no branch.
#
# The float64 pipe is the bottleneck of a product, so integer operations replace float64 operations
# wherever possible. Relative errors: 1.4e-14 for 2**x, 1e-16 for the root.

# 2**f on [−1/2, 1/2] by degree 9 with the least relative error, 1.34e-14; the first is that of f⁹.
C9, C8, C7, C6, C5, C4, C3, C2, C1, C0 = (
    tl.constexpr(c)
    for c in (
        1.0150337255422673e-07,
        1.3259405619953217e-06,
        1.5252984835678693e-05,
        0.00015403434948043447,
        0.0013333557617609562,
        0.009618129192067252,
        0.05550410866868558,
        0.24022650695649653,
        0.693147180559871,
        1.0000000000000127,
    )
)
WHOLE = tl.constexpr(1.5 * 2.0**52)  # adding it rounds a number to an integer
LEAST = tl.constexpr(0xC08F4000)  # the high word of −1000
TINIEST = tl.constexpr((1023 - 120) << 20)  # the high word of 2**−120
LARGEST = tl.constexpr((1023 + 100) << 20)
BIAS = tl.constexpr((1023 - 127) << 20)  # the exponent bias of float64 minus that of float32


@triton.jit
def _polynomial(f, SCALE: tl.constexpr):
    """SCALE · 2**f for |f| ≤ 1/2."""
    p = f * (C9 * SCALE) + (C8 * SCALE)
    p = p * f + (C7 * SCALE)
    p = p * f + (C6 * SCALE)
    p = p * f + (C5 * SCALE)
    p = p * f + (C4 * SCALE)
    p = p * f + (C3 * SCALE)
    p = p * f + (C2 * SCALE)
    p = p * f + (C1 * SCALE)
    return p * f + (C0 * SCALE)


@triton.jit
def _high(x):
    """The high words."""
    return (x.to(tl.int64, bitcast=True) >> 32).to(tl.int32)


@triton.jit
def _with_high(x, high):
    """The numbers with other high words."""
    low = x.to(tl.int64, bitcast=True) & 0xFFFFFFFF
    return ((high.to(tl.int64) << 32) | low).to(tl.float64, bitcast=True)


@triton.jit
def exp2(t, exponent, SHIFT: tl.constexpr):
    """2**x; of t = x + 2**(SHIFT + 1) − 1 between 2**SHIFT and twice that where SHIFT > 0.

    Without a shift, x at most a little above 0; below −1000 it counts as −1000. `exponent` is the
    high word of 2**SHIFT: an instruction takes one constant, and a second one from a register.
    """
    if SHIFT > 0:
        high = _high(t)
        fraction = (high & ((1 << (20 - SHIFT)) - 1)) | exponent
        f = _with_high(t, fraction) - (2.0**SHIFT + 0.5)
        p = _polynomial(f, 2.0 ** (1.5 - 2.0**SHIFT))
        return _with_high(p, _high(p) + ((high - fraction) << SHIFT))
    else:
        high = tl.minimum(_high(t).to(tl.uint32, bitcast=True), LEAST)
        x = _with_high(t, high.to(tl.int32, bitcast=True))
        whole = x + WHOLE
        p = _polynomial(x - (whole - WHOLE), 1.0)
        return _with_high(p, _high(p) + (whole.to(tl.int64, bitcast=True).to(tl.int32) << 20))


@triton.jit
def square_root(q):
    """√q, with q below 2**−120 as that; a float32 root of the high word, and one cubic step."""
    high = tl.minimum(tl.maximum(_high(q), TINIEST), LARGEST)
    q = _with_high(q, high)
    start = tl.rsqrt(((high - BIAS) << 3).to(tl.float32, bitcast=True))
    start = (((start.to(tl.int32, bitcast=True) >> 3) + BIAS).to(tl.int64) << 32).to(
        tl.float64, bitcast=True
    )
    r = q * start
    e = 1.0 - r * start
    return r + r * (e * (0.5 + e * 0.375))
