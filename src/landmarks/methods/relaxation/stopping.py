"""When the descent ends: TermCond of Algorithm 1.

A rule has `max_steps`, after which the descent ends anyway, and is called after every step with
the history of the run. A user passes an object of a class like `Stop`, as below; a contributor who
brings a rule into the package writes the class in this file (CONTRIBUTING.md has the steps).

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

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ..._array import Array, namespace
from ...runs.state import State


@dataclass
class History(State):
    """What the steps so far did, one entry per step, oldest first.

    Value and penalised are exact with n_probes=None. Otherwise they are estimates from fresh
    probes, so they go up and down from step to step: compare means over many steps.

    Attributes
    ----------
    value : f or g at the weights before the step, without λΣt; it rises as weights fall.
    penalised : the same with λΣt, which the descent lowers.
    change : the largest change of a weight in the step.
    active : the number of columns that are not frozen after the step.

    Examples
    --------
    >>> from landmarks.methods.relaxation.stopping import History
    >>> history = History()
    >>> history.add(-3.0, 2.0, before=np.array([0.5, 0.5]), after=np.array([0.5, 0.25]), active=2)
    >>> history.penalised, history.change
    ([-1.0], [0.25])
    """

    value: list[float] = field(default_factory=list)
    penalised: list[float] = field(default_factory=list)
    change: list[float] = field(default_factory=list)
    active: list[int] = field(default_factory=list)

    def add(self, value: float, penalty: float, before: Array, after: Array, active: int) -> None:
        """Append a step, given by the weights before and after it.

        value : f or g before the step, without λΣt; penalty : λ; before, after : the weights of
        the columns that were active before the step; active : how many are not frozen after it.
        """
        xp = namespace(before)
        self.value.append(value)
        self.penalised.append(value + penalty * float(xp.sum(before)))
        self.change.append(float(xp.max(xp.abs(after - before))))
        self.active.append(active)


@runtime_checkable
class StoppingRule(Protocol):
    """The most steps to make, and whether to stop earlier."""

    @property
    def max_steps(self) -> int: ...
    def __call__(self, history: History) -> bool: ...


@dataclass(frozen=True)
class Stop:
    """Stop when the weights no longer change, or when only noise still changes them.

    Parameters
    ----------
    max_steps : the most steps.
    tolerance, patience : stop when no weight changed by more than the tolerance in any of the last
        `patience` steps. With a larger tolerance, a descent with exact gradients may stop on a
        plateau although it would still freeze columns.
    settled : with stochastic gradients the weights never come to rest. So also stop when the last
        `settled` steps froze no column and the mean of the penalised objective was not lower in
        their second half than in their first. With exact gradients the objective falls in every
        step.

    Examples
    --------
    >>> from landmarks.methods.relaxation.stopping import Stop
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> method = lm.Continuous(penalty=4.0, delta=0.1, n_probes=None, stop=Stop(tolerance=1e-6))
    >>> lm.select(X, method=method, criterion="frobenius").k
    7
    """

    max_steps: int = 2000
    tolerance: float = 1e-5
    patience: int = 10
    settled: int = 100

    def __call__(self, history: History) -> bool:
        return self._at_rest(history.change) or self._settled(history)

    def _at_rest(self, change: list[float]) -> bool:
        recent = change[-self.patience :]
        return len(recent) == self.patience and all(x <= self.tolerance for x in recent)

    def _settled(self, history: History) -> bool:
        active = history.active
        if len(active) <= self.settled or active[-1] != active[-1 - self.settled]:
            return False
        half = self.settled // 2
        later = history.penalised[-half:]
        earlier = history.penalised[-2 * half : -half]
        return sum(later) >= sum(earlier)


@dataclass(frozen=True)
class Steps:
    """Make exactly `max_steps` steps.

    Parameters
    ----------
    max_steps : how many.

    Examples
    --------
    >>> from landmarks.methods.relaxation.stopping import Steps
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> len(lm.select(X, method=lm.Continuous(penalty=4.0, stop=Steps(25))).path)
    25
    """

    max_steps: int

    def __call__(self, history: History) -> bool:
        return False
