"""Limited-memory quasi-Newton descent with a domain: points outside it have the value ∞.

Nocedal, "Updating quasi-Newton matrices with limited storage", Math. Comp. 35 (1980).
"""

import time
from collections.abc import Callable

import numpy as np

from ..._array import Array, norm

Function = Callable[[Array], tuple[float, Array]]


class Descent:
    """The state of a descent: where it is, and the last steps with their changes of gradient."""

    def __init__(self, x: Array, memory: int = 10):
        self.x, self.memory = x, memory
        self.value, self.gradient = np.inf, x
        self.pairs: list[tuple[Array, Array]] = []
        self.stuck = True

    def follow(self, function: Function, steps: int, deadline: float) -> int:
        """Some steps on a function that may differ a little from the one before; how many."""
        self.value, self.gradient = function(self.x)
        self.stuck, done = False, 0
        while done < steps and time.monotonic() < deadline:
            self.advance(function)
            if self.stuck:
                self.pairs = []
                break
            done += 1
        return done

    def direction(self) -> Array:
        """Minus the gradient, times an estimate of the inverse Hessian."""
        q, coefficients = -self.gradient, []
        for step, change in reversed(self.pairs):
            a = float(step @ q) / float(step @ change)
            q = q - a * change
            coefficients.append(a)
        if self.pairs:
            step, change = self.pairs[-1]
            q = q * (float(step @ change) / float(change @ change))
        for (step, change), a in zip(self.pairs, reversed(coefficients), strict=True):
            q = q + step * (a - float(change @ q) / float(step @ change))
        return q

    def advance(self, function: Function) -> None:
        """One step that lowers the function; `stuck` when there is none."""
        d = self.direction()
        slope = float(self.gradient @ d)
        if slope >= 0:
            d, self.pairs = -self.gradient, []
            slope = float(self.gradient @ d)
        t = 1.0 if self.pairs else min(1.0, 0.1 / max(norm(d), 1e-300))
        while t > 1e-10:
            value, gradient = function(self.x + t * d)
            if value <= self.value + 1e-4 * t * slope:
                self.accept(t * d, value, gradient)
                return
            t *= 0.4
        self.stuck = True

    def accept(self, step: Array, value: float, gradient: Array) -> None:
        """Move, and learn from the change of the gradient."""
        change = gradient - self.gradient
        if float(step @ change) > 1e-12 * norm(step) * norm(change):
            self.pairs = [*self.pairs, (step, change)][-self.memory :]
        self.x, self.value, self.gradient = self.x + step, value, gradient
