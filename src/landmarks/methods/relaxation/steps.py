"""Step rules of Algorithm 1: how w changes.

A rule turns the gradient in w and its memory into the change of w and the next memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..._array import Array, namespace

Memory = tuple[Array, ...]


class StepRule(Protocol):
    """A step rule: `start` makes its memory for a vector like w, `update` gives step number i.

    The memory holds arrays with one entry per active column.
    """

    def start(self, w: Array) -> Memory: ...
    def update(self, gradient: Array, memory: Memory, i: int) -> tuple[Array, Memory]: ...


@dataclass(frozen=True)
class SGD:
    """−rate · gradient."""

    rate: float

    def start(self, w: Array) -> Memory:
        return ()

    def update(self, gradient: Array, memory: Memory, i: int) -> tuple[Array, Memory]:
        return -self.rate * gradient, memory


@dataclass(frozen=True)
class Momentum:
    """Heavy ball (Polyak 1964): the velocity decays and takes up the gradient."""

    rate: float
    decay: float = 0.9

    def start(self, w: Array) -> Memory:
        return (namespace(w).zeros_like(w),)

    def update(self, gradient: Array, memory: Memory, i: int) -> tuple[Array, Memory]:
        velocity = self.decay * memory[0] - self.rate * gradient
        return velocity, (velocity,)


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma and Ba, ICLR 2015): mean gradient over the root of its mean square."""

    rate: float
    first: float = 0.9
    second: float = 0.999
    epsilon: float = 1e-8

    def start(self, w: Array) -> Memory:
        return namespace(w).zeros_like(w), namespace(w).zeros_like(w)

    def update(self, gradient: Array, memory: Memory, i: int) -> tuple[Array, Memory]:
        xp = namespace(gradient)
        mean = self.first * memory[0] + (1 - self.first) * gradient
        square = self.second * memory[1] + (1 - self.second) * gradient * gradient
        corrected = mean / (1 - self.first ** (i + 1))
        spread = xp.sqrt(square / (1 - self.second ** (i + 1)))
        return -self.rate * corrected / (spread + self.epsilon), (mean, square)
