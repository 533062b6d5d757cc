"""A rule finds how many to choose; the method then finds which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ..problem import Choice, Method, Problem


class Rule(Protocol):
    """A way to find k: a frozen dataclass of its settings with one function."""

    def apply(self, problem: Problem, method: Method, rng: np.random.Generator) -> Choice:
        """Find k, which the problem leaves open, and choose k columns by the method."""
        ...


@dataclass(frozen=True)
class RuledMethod:
    """A method whose k is found by a rule."""

    method: Any
    rule: Any
    finds_k: ClassVar[bool] = True

    @property
    def honours(self) -> frozenset[str]:
        """The constraints that the method honours."""
        return self.method.honours

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        return self.rule.apply(problem, self.method, rng)
