"""What an objective gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..._array import Array
from ...linalg.solution import Solver
from .system import Active


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The value and the gradient of an objective without its penalty, over the active candidates.

    Both are exact when the probes satisfy ZZᵀ/M = I, and unbiased estimates otherwise.
    """

    value: float
    gradient: Array
    steps: int
    converged: bool


class Objective(Protocol):
    """A function of t with its gradient, from one block of probes."""

    def evaluate(
        self, active: Active, t: Array, delta: float, probes: Array, solver: Solver
    ) -> Evaluation:
        """The value and the gradient at the weights t of the active candidates."""
        ...
