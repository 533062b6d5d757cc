"""The box map t = 1 − exp(−w ⊙ w), which frees the descent of 0 ≤ t ≤ 1 (Section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._array import Array, host, is_single, namespace, take
from ...problem import Problem
from ...runs.state import State


def to_box(w: Array) -> Array:
    """t = 1 − exp(−w ⊙ w), kept below 1: there L_t is singular when columns repeat."""
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


@dataclass(frozen=True, eq=False)
class Weights(State):
    """The active columns, their w, and which of them are held where they are."""

    columns: np.ndarray
    w: Array
    held: Array

    def t(self, problem: Problem) -> np.ndarray:
        """All n weights on the host: 0 for frozen columns; 2 for included ones, to rank first."""
        t = np.zeros(problem.operator.n)
        t[self.columns] = host(to_box(self.w))
        t[list(problem.include)] = 2.0
        return t

    def only(self, active: np.ndarray) -> Weights:
        """Without the columns that are not at these positions."""
        return Weights(self.columns[active], take(self.w, active), take(self.held, active))


def largest(t: np.ndarray, k: int) -> np.ndarray:
    """The k indices of largest weight, largest first; ties go to the lowest index."""
    return np.argsort(-t, kind="stable")[:k]
