"""2**x and square roots in float64 for Triton kernels: few operations, no table, no branch.

The float64 pipe is the bottleneck of a product, so integer operations replace float64 operations
wherever possible. Relative errors: 1.4e-14 for 2**x, 1e-16 for the root.
"""

# The compiler of the kernels takes types from the arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import triton
import triton.language as tl

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
