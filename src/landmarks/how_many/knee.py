"""How many to choose: the knee of the error curve, and how `select` applies a rule for k."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from .. import _check
from ..errors import UnsupportedError
from ..problem import Choice, Method, Problem
from .cross_validated import CrossValidated
from .max_error import MaxError, greedy_curve


@dataclass(frozen=True)
class Knee:
    """The k after which the greedy curve of error against k flattens; you need not name an error.

    Parameters
    ----------
    most : the largest k of the curve. The knee depends on it: it is the point farthest below the
        line from k = 0 to there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 4)) @ rng.standard_normal((4, 30))
    >>> X += 0.1 * rng.standard_normal((50, 30))
    >>> lm.select(X, lm.Knee()).k
    4
    """

    most: int = 100

    def __post_init__(self) -> None:
        _check.count(self.most, "most", least=2)

    def apply(self, problem: Problem, method: Method, rng: np.random.Generator) -> Choice:
        if problem.groups is not None:
            raise UnsupportedError(
                "Knee looks at single columns; with groups give k as a number or as a MaxError"
            )
        most = max(len(problem.include), min(self.most, len(problem.candidates)))
        knee = greedy_curve(replace(problem, k=most)).knee()
        return method.choose(replace(problem, k=knee), rng)


def with_rule(method: Method, k: Any, error: float | None) -> tuple[Any, Any]:
    """The method and k; if k is a rule, "auto" or "held-out", the method finds it and k is None."""
    automatic = isinstance(k, str) and k == "auto"
    if error is not None and not automatic:
        raise ValueError(
            f'error={error!r} asks for the k that reaches it: give k="auto" with it, got k={k!r}'
        )
    if isinstance(k, str) and k == "held-out":
        return RuledMethod(method, CrossValidated()), None
    if automatic:
        return RuledMethod(method, Knee() if error is None else MaxError(error)), None
    if isinstance(k, type) or not hasattr(k, "apply"):
        return method, k
    return RuledMethod(method, k), None


class Rule(Protocol):
    """A way to find k: a frozen dataclass of its settings with one function."""

    def apply(self, problem: Problem, method: Method, rng: np.random.Generator) -> Choice:
        """Find k, which the problem leaves open, and choose k columns by the method."""


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
