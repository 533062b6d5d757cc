"""The box map t = 1 − exp(−w²), which frees the descent of the constraints 0 ≤ t ≤ 1 (Section 3.1)."""

from __future__ import annotations

from ..._array import Array, is_single, namespace


def to_box(w: Array) -> Array:
    """t = 1 − exp(−w ⊙ w), kept below 1: the condition of L_t grows like 1/(1 − t) when columns repeat."""
    xp = namespace(w)
    return xp.clip(-xp.expm1(-w * w), max=highest(w))


def from_box(t: Array) -> Array:
    """w = √(−log(1 − t))."""
    xp = namespace(t)
    return xp.sqrt(-xp.log1p(-t))


def chain(gradient: Array, w: Array) -> Array:
    """The gradient in w from the gradient in t: times 2w exp(−w²)."""
    xp = namespace(w)
    return gradient * 2 * w * xp.exp(-w * w)


def highest(reference: Array) -> float:
    """The largest weight that is used."""
    return 1 - (1e-4 if is_single(reference) else 1e-6)
