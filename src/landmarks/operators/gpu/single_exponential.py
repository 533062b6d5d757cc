"""2**x in float32 and float16 parts of a number for Triton kernels, in PTX where that is faster.

The exponential unit is the bottleneck of many products, so the other units compute some of the
exponentials by a polynomial.
"""

# The compiler of the kernels takes types from the arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import struct

import triton
import triton.language as tl

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
PACK = tl.constexpr(8)
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
    elif EXP == UNIT:
        return tl.inline_asm_elementwise(
            UNIT_PTX, EXP_REGISTERS, [x], dtype=tl.float32, is_pure=True, pack=PACK
        )
    elif EXP == MIXED:
        return tl.inline_asm_elementwise(
            MIXED_PTX, EXP_REGISTERS, [x], dtype=tl.float32, is_pure=True, pack=PACK
        )
    else:
        return tl.inline_asm_elementwise(
            MIXED_COARSE_PTX, EXP_REGISTERS, [x], dtype=tl.float32, is_pure=True, pack=PACK
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
