"""Step rules: from a gradient and a state to a change of w and the next state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ..._array import Array, namespace, take


class Step(Protocol):
    """A step rule: `start` makes the state for a vector like w, `update` returns the change of w and the next state."""

    def start(self, w: Array) -> tuple[Array, ...]: ...
    def update(
        self, gradient: Array, state: tuple[Array, ...], i: int
    ) -> tuple[Array, tuple[Array, ...]]: ...


@dataclass(frozen=True)
class SGD:
    """−rate · gradient."""

    rate: float

    def start(self, w: Array) -> tuple[Array, ...]:
        return ()

    def update(
        self, gradient: Array, state: tuple[Array, ...], i: int
    ) -> tuple[Array, tuple[Array, ...]]:
        return -self.rate * gradient, state


@dataclass(frozen=True)
class Momentum:
    """Heavy ball (Polyak 1964): the velocity decays and takes up the gradient."""

    rate: float
    decay: float = 0.9

    def start(self, w: Array) -> tuple[Array, ...]:
        return (namespace(w).zeros_like(w),)

    def update(
        self, gradient: Array, state: tuple[Array, ...], i: int
    ) -> tuple[Array, tuple[Array, ...]]:
        velocity = self.decay * state[0] - self.rate * gradient
        return velocity, (velocity,)


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma and Ba, ICLR 2015): the gradient over the root of its mean square, both averaged."""

    rate: float
    first: float = 0.9
    second: float = 0.999
    epsilon: float = 1e-8

    def start(self, w: Array) -> tuple[Array, ...]:
        return namespace(w).zeros_like(w), namespace(w).zeros_like(w)

    def update(
        self, gradient: Array, state: tuple[Array, ...], i: int
    ) -> tuple[Array, tuple[Array, ...]]:
        xp = namespace(gradient)
        mean = self.first * state[0] + (1 - self.first) * gradient
        square = self.second * state[1] + (1 - self.second) * gradient * gradient
        corrected = mean / (1 - self.first ** (i + 1))
        spread = xp.sqrt(square / (1 - self.second ** (i + 1)))
        return -self.rate * corrected / (spread + self.epsilon), (mean, square)


def narrow_state(state: tuple[Any, ...], kept: Any) -> tuple[Any, ...]:
    """The state of the candidates that stay active."""
    return tuple(take(part, kept) for part in state)
