"""How the descent of Algorithm 1 moves and ends, and where it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...runs.state import State
from .box import Weights
from .steps import Memory, StepRule
from .stopping import History, StoppingRule


@dataclass(frozen=True)
class Descent:
    """ε, the step rule, the stopping rule, and the fewest columns to keep active.

    ε is the weight up to which a column is frozen at zero (Section 3.4).
    """

    epsilon: float
    step: StepRule
    stop: StoppingRule
    at_least: int = 1


@dataclass
class Iterate(State):
    """The weights, the memory of the step rule, the number of steps and what they did."""

    weights: Weights
    memory: Memory
    i: int = 0
    ended: bool = False
    history: History = field(default_factory=History)
