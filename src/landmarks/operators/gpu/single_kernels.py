"""Triton kernels for K(x, y) @ V in float32: values live in registers and are never stored.

A tile of exponents is one tensor-core product of packed points (`single`), or differences
summed in float32. The values are computed times 2**SHIFT, away from the smallest float16 numbers.
Two float16 parts of each are multiplied by V on the tensor cores. Their accumulators truncate, so
only RUN tiles are summed there, and these sums in float32.
"""

# The compiler of the kernels takes types from the arguments.
# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import struct

import triton
import triton.language as tl

from . import tiling

SHIFT = tl.constexpr(float(tiling.SHIFT))
SCALE = tl.constexpr(2.0**tiling.SHIFT)
LOG2E = tl.constexpr(tiling.LOG2E)

SHORT, LONG, SQUARES, ABSOLUTE = (tl.constexpr(i) for i in tiling.DISTANCES)
EXPONENTIAL, MATERN12, MATERN32, MATERN52, POWER = (tl.constexpr(i) for i in tiling.FORMS)


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
    N: tl.constexpr, SQUARE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
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


# 2**x in float32 and float16 parts of a number for Triton kernels, in PTX where that is faster.
#
# The exponential unit is the bottleneck of many products, so the other units compute some of the
# exponentials by a polynomial.

# Coefficients of 2**f on [−1/2, 1/2] with the least relative error: 7.5e-5 and 2.6e-6.
POLYNOMIALS = {
    3: (0.0551716685295105, 0.2426111400127411, 0.6932609677314758, 0.9999280571937561),
    4: (
        0.009570102207362652,
        0.05591786280274391,
        0.240247443318367,
        0.6931217908859253,
        0.9999992847442627,
    ),
}
EXP_REGISTERS = tl.constexpr(",".join(["=&f"] * 8 + ["f"] * 8))
SPLIT_REGISTERS = tl.constexpr("=&r,=&r,f,f")
ROUND_REGISTERS = tl.constexpr("=r,f,f")


def exponential_ptx(polynomials: int, degree: int) -> str:
    """PTX for 2**x of eight numbers, some by a polynomial: the unit for them is the bottleneck."""
    by_polynomial = (
        {round(i * 8 / polynomials) for i in range(polynomials)} if polynomials else set()
    )
    lines = [
        _polynomial_ptx(i, degree) if i in by_polynomial else f"ex2.approx.ftz.f32 ${i}, ${i + 8};"
        for i in range(8)
    ]
    return "{ .reg .f32 t, a, b, f; .reg .b32 s, q; " + " ".join(lines) + " }"


def _polynomial_ptx(i: int, degree: int) -> str:
    """x = n + f with n whole: a polynomial in f, and n added to its exponent bits."""
    first, *others = POLYNOMIALS[degree]
    horner = f"mov.f32 b, {_bits(first)}; " + " ".join(
        f"fma.rn.ftz.f32 b, b, f, {_bits(c)};" for c in others
    )
    return (
        f"max.ftz.f32 t, ${i + 8}, {_bits(-125.0)}; add.rn.ftz.f32 a, t, {_bits(12582912.0)}; "
        f"sub.rn.ftz.f32 b, a, {_bits(12582912.0)}; sub.rn.ftz.f32 f, t, b; {horner} "
        f"mov.b32 s, a; shl.b32 s, s, 23; mov.b32 q, b; add.s32 q, q, s; mov.b32 ${i}, q;"
    )


def _bits(value: float) -> str:
    return "0f" + struct.pack(">f", value).hex().upper()


# how exponentials are taken
INTERPRETED, UNIT, MIXED, MIXED_COARSE = (tl.constexpr(i) for i in range(4))
UNIT_PTX, MIXED_PTX, MIXED_COARSE_PTX = (
    tl.constexpr(exponential_ptx(*kind)) for kind in ((0, 4), (2, 4), (2, 3))
)
SPLIT_PTX = tl.constexpr(
    "{ .reg .b32 m, n; .reg .f32 h, g; "
    "mov.b32 m, $2; mov.b32 n, $3; and.b32 m, m, 0xFFFFE000; and.b32 n, n, 0xFFFFE000; "
    "mov.b32 h, m; mov.b32 g, n; "
    "cvt.rn.f16x2.f32 $0, g, h; sub.rn.f32 h, $2, h; sub.rn.f32 g, $3, g; "
    "cvt.rn.f16x2.f32 $1, g, h; }"
)
ROUND_PTX = tl.constexpr("cvt.rn.f16x2.f32 $0, $2, $1;")


@triton.jit
def exp2(x, EXP: tl.constexpr):
    """2**x; EXP says how."""
    if EXP == INTERPRETED:
        return tl.exp2(x)
    else:
        MIX: tl.constexpr = MIXED_PTX if EXP == MIXED else MIXED_COARSE_PTX
        PTX: tl.constexpr = UNIT_PTX if EXP == UNIT else MIX
        return tl.inline_asm_elementwise(
            PTX, EXP_REGISTERS, [x], dtype=tl.float32, is_pure=True, pack=8
        )


@triton.jit
def float16_parts(p, EXP: tl.constexpr):
    """p as two float16 parts; the high part is cut off, so that the rest is exact."""
    if EXP == INTERPRETED:
        high = (p.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)
        return high.to(tl.float16), (p - high).to(tl.float16)
    else:
        return tl.inline_asm_elementwise(
            SPLIT_PTX, SPLIT_REGISTERS, [p], dtype=(tl.float16, tl.float16), is_pure=True, pack=2
        )


@triton.jit
def to_float16(p, EXP: tl.constexpr):
    """p in float16."""
    if EXP == INTERPRETED:
        return p.to(tl.float16)
    else:
        return tl.inline_asm_elementwise(
            ROUND_PTX, ROUND_REGISTERS, [p], dtype=tl.float16, is_pure=True, pack=2
        )
