"""When the descent ends: TermCond of Algorithm 1.

A rule has `max_steps`, after which the descent ends anyway, and is called after every step with
the history of the run. To add one, write a class like `Stop` and pass it as
`Continuous(penalty=…, stop=rule)`:

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class FewLeft:
...     size: int
...     max_steps: int = 500
...
...     def __call__(self, history):
...         return history.active[-1] <= self.size
>>> X = np.random.default_rng(0).standard_normal((30, 10))
>>> lm.select(X, method=lm.Continuous(penalty=4.0, delta=0.1, stop=FewLeft(5))).k
5
"""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ..._array import Array, namespace
from ...runs.state import State


@dataclass
class History(State):
    """What the steps so far did, oldest first.

    value : the estimate of the objective before the step, without λΣt: it rises as weights fall;
    change : the largest change of a weight; active : the columns that are not frozen after it.
    """

    value: list[float] = field(default_factory=list)
    change: list[float] = field(default_factory=list)
    active: list[int] = field(default_factory=list)

    def add(self, value: float, change: Array, active: int) -> None:
        """Append a step, given by the change of each weight."""
        xp = namespace(change)
        self.value.append(value)
        self.change.append(float(xp.max(xp.abs(change))))
        self.active.append(active)


@runtime_checkable
class StoppingRule(Protocol):
    """The most steps to make, and whether to stop earlier."""

    @property
    def max_steps(self) -> int: ...
    def __call__(self, history: History) -> bool: ...


@dataclass(frozen=True)
class Stop:
    """Stop when the weights rest, or when no column has been frozen for a while.

    max_steps : the most steps;
    tolerance, patience : stop when no weight moved by more than the tolerance in each of the last
        `patience` steps;
    settled : stop when the last so many steps froze no column: stochastic gradients never let the
        weights rest.
    """

    max_steps: int = 500
    tolerance: float = 1e-3
    patience: int = 10
    settled: int = 100

    def __call__(self, history: History) -> bool:
        change = history.change
        active = history.active
        recent = change[max(0, len(change) - self.patience) :]
        at_rest = len(recent) == self.patience and all(x <= self.tolerance for x in recent)
        settled = len(active) > self.settled and active[-1] == active[-1 - self.settled]
        return at_rest or settled


@dataclass(frozen=True)
class Steps:
    """Make exactly `max_steps` steps."""

    max_steps: int

    def __call__(self, history: History) -> bool:
        return False
