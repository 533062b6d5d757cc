"""Algorithm 1, Continuous Landmark Selection (Mathur, Moka and Botev, 2023).

Comments give its line numbers. Line 1 is the input: λ is `penalty`, τ is `threshold`, and
`objective` holds K and δ and draws M probes for each gradient (`relaxed.py`). TermCond is
`descent.stop`, a rule such as `Stop`. The descent ends when the rule says so, after the rule's
`max_steps`, or when a step would leave fewer than `descent.at_least` columns. `recorder` collects
what users see as `selection.path`. `run` makes the steps that `gradient_steps` yields.

Where the code differs from the paper, and why:

* Gradient: `objective` gives 2φ or 2ψ in the short forms of `relaxed.py`. For every probe they
  equal those of Lemma 3.1 and Lemma 3.2, and they save one product with K.
* Step: the paper names no rule and no rate. The gradient is divided by λ, so that one rate fits
  every scale of K. No w moves by more than CLIP, so that one noisy gradient cannot decide.
* Box: w stops at 0, since w and −w are the same weight, and t stays just below 1, where L_t would
  be singular when columns repeat.
* Freeze: the columns that the user includes are held just below 1 and never frozen.
* Units: δ and λ are absolute here. `Continuous` turns relative ones into these, because scaling K
  and δ together changes no iterate.
* Threshold: when k is given, the k largest weights are chosen and τ is not used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from ..._array import Array, host, is_single, like, namespace, take
from ...problem import Problem
from ...runs.runner import Step, run
from ...runs.state import State
from ..trajectory import Recorder
from .relaxed import Relaxed

CLIP = 0.1  # the largest change of a w in one step


def algorithm_1(
    objective: Relaxed, penalty: float, descent: Descent, threshold: float, recorder: Recorder
) -> np.ndarray:
    """The chosen columns, largest weight first (Algorithm 1)."""
    problem = objective.problem
    w = sgd(objective, start(problem), penalty, descent, recorder)  # lines 2 to 4
    t = w.t(problem)  # line 5, box map
    if problem.k:
        return largest(t, problem.k)
    s = np.flatnonzero(t > threshold)  # lines 6 to 8, s_j = I(t_j > τ)
    return s[np.argsort(-t[s], kind="stable")]  # line 9


def start(problem: Problem) -> Weights:
    """w = √(−ln(1 − t)) with t = 1/2 for every candidate (lines 2 and 3 of Algorithm 1)."""
    reference = problem.operator.like
    held = np.isin(problem.candidates, problem.include)
    t = like(np.where(held, highest(reference), 0.5), reference)
    held = like(held, reference, dtype=namespace(reference).bool)
    return Weights(problem.candidates, from_box(t), held)


def sgd(
    objective: Relaxed, start: Weights, penalty: float, descent: Descent, recorder: Recorder
) -> Weights:
    """w* from the start by stochastic gradient descent (line 4 of Algorithm 1)."""
    at = Iterate(start)
    steps = gradient_steps(at, objective, penalty, descent, recorder)
    run("descent", steps, at, objective, recorder)
    return at.weights


def gradient_steps(
    at: Iterate, objective: Relaxed, penalty: float, descent: Descent, recorder: Recorder
) -> Iterator[Step]:
    """The steps until TermCond ends the descent; small weights are frozen (Section 3.4)."""
    xp = namespace(at.weights.w)
    while not at.ended:
        columns = at.weights.columns
        w = at.weights.w
        held = at.weights.held
        t = to_box(w)  # 1 − exp(−w ⊙ w)
        result = objective(columns, t)  # with 2φ (Lemma 3.1) or 2ψ (Lemma 3.2)
        recorder.add(t, columns, result.value, result.solver_steps)
        gradient = chain(result.gradient / penalty + 1, w)  # 2φ/λ + 1 or 2ψ/λ + 1; Section 3.1
        change = -descent.rate * gradient  # step
        stepped = xp.clip(w + xp.clip(change, min=-CLIP, max=CLIP), min=0.0)
        w = xp.where(held, w, stepped)
        at.weights = Weights(columns, w, held)
        at.i += 1
        active = np.flatnonzero(host((to_box(w) > descent.epsilon) | held))
        at.history.add(result.value, penalty, t, to_box(w), len(active))
        few = len(active) < descent.at_least
        at.ended = few or at.i >= descent.stop.max_steps or descent.stop(at.history)  # TermCond
        if not few:
            at.weights = at.weights.only(active)  # freeze the others at zero (Section 3.4)
        yield Step(at.i, descent.stop.max_steps)


# The box map t = 1 − exp(−w ⊙ w), which frees the descent of 0 ≤ t ≤ 1 (Section 3.1).


def to_box(w: Array) -> Array:
    """t = 1 − exp(−w ⊙ w) (Section 3.1), kept below 1: there repeats make L_t singular."""
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


# When the descent ends: TermCond of Algorithm 1.


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
    >>> from landmarks.methods.relaxation.algorithm_1 import History
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
    """When the descent ends: after `max_steps`, or when a call with the history returns True.

    A user passes an object of a class like `Stop`; a contributor who brings a rule into the package
    writes the class in this file (CONTRIBUTING.md has the steps).

    Examples
    --------
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
    >>> from landmarks.methods.relaxation.algorithm_1 import Stop
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
    >>> from landmarks.methods.relaxation.algorithm_1 import Steps
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> len(lm.select(X, method=lm.Continuous(penalty=4.0, stop=Steps(25))).path)
    25
    """

    max_steps: int

    def __call__(self, history: History) -> bool:
        return False


# How the descent of Algorithm 1 moves and ends, and where it is.


@dataclass(frozen=True)
class Descent:
    """ε, the rate of a step, the stopping rule, and the fewest columns to keep active.

    ε is the weight up to which a column is frozen at zero (Section 3.4).
    """

    epsilon: float
    rate: float
    stop: StoppingRule
    at_least: int = 1


@dataclass
class Iterate(State):
    """The weights, the number of steps and what they did."""

    weights: Weights
    i: int = 0
    ended: bool = False
    history: History = field(default_factory=History)
