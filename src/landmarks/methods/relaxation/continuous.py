"""The continuous method: Algorithm 1 for a given penalty, or a search for the penalty that gives k.

Mathur, Moka and Botev, "Column Subset Selection and Nyström Approximation via Continuous
Optimization" (2023). Algorithm 1 itself is in `algorithm_1.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ...linalg.probes import Identity, Rademacher
from ...linalg.solvers import Automatic, Solver
from ...objectives.objective import as_objective
from ...operators.data import opened
from ...problem import SEARCHED, Choice, Problem, brief, complete
from ...residual.residual import independent
from ...runs.runner import Step, run
from ...runs.state import State
from ..trajectory import Recorder, Trajectory
from .algorithm_1 import (
    Descent,
    Steps,
    Stop,
    StoppingRule,
    Weights,
    algorithm_1,
    largest,
    sgd,
    start,
)
from .relaxed import (
    Relaxed,
    frobenius_gradient,
    logdet_gradient,
    mean_diagonal,
    trace_gradient,
)

GRADIENTS = {
    0: logdet_gradient,
    1: trace_gradient,
    2: frobenius_gradient,
}  # by the depth of the objective
BISECT_BELOW = 2000  # candidates; with more, a thousand gradients cost too much


@dataclass(frozen=True)
class Continuous:
    """Minimise the paper's relaxation with exact or stochastic gradients, then round it.

    With `penalty` it is Algorithm 1, which determines k. With k it returns exactly k columns, by
    one of two strategies.

    Parameters
    ----------
    penalty : λ (Section 3.6); in relative units, a multiple of the median size of the gradient at t
        = 1/2.
    delta : δ; in relative units, a multiple of the mean diagonal of K. The default is 0.002.
    n_probes : M, the probes per gradient; None computes exact gradients.
    threshold : τ, above which a weight counts as chosen; None counts every weight that was not
        frozen.
    epsilon : the weight up to which a column is frozen at zero. The default is 0.1·√δ (δ relative),
        but at most 0.05.
    strategy : how to reach exactly k: "bisection" of λ with fresh starts (best quality, about a
        thousand gradients), "path" (one sweep of increasing λ with warm starts, a few hundred
        gradients, nearly as good), or a strategy object with settings. None is "bisection" up to
        2000 candidates and "path" above.
    units : "relative", or "absolute" to give λ and δ as in the paper.
    rate : the gradient in w, divided by λ, times this is a step.
    stop : the termination condition of Algorithm 1 with a given penalty; the strategies that reach
        k have their own. The default is `Stop()`; `Steps(n)` or a rule of your own are possible
        too. See `landmarks.methods.relaxation.algorithm_1`, which also says how to write one.
    solver : the solver of L_t Q = B; by default it depends on the shape of the system.
    polish : whether to improve the rounded choice by swaps, as `Swap(start=Continuous(…))` does.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> len(lm.select(X, 4, method=lm.Continuous()))
    4
    >>> 1 <= len(lm.select(X, method=lm.Continuous(penalty=2.0))) <= 10
    True
    """

    penalty: float | None = None
    delta: float | None = None
    n_probes: int | None = 10
    threshold: float | None = None
    epsilon: float | None = None
    strategy: Any = None
    units: str = "relative"
    rate: float = 0.1
    stop: StoppingRule | None = None
    solver: Solver = field(default_factory=Automatic)
    polish: bool = False

    honours: ClassVar[frozenset[str]] = SEARCHED
    in_nats: ClassVar[bool] = True  # λ is then a price in nats
    __repr__ = brief

    def __post_init__(self) -> None:
        _check.choice(self.units, ("relative", "absolute"), "units")
        for name in ("penalty", "delta", "rate"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be positive, got {value!r}")
        n_probes = self.n_probes
        if n_probes is not None and not (_check.is_whole(n_probes) and n_probes > 0):
            raise ValueError(
                "n_probes must be a positive integer, or None for exact gradients, "
                f"got {self.n_probes!r}"
            )
        if self.threshold is not None and not 0 <= self.threshold < 1:
            raise ValueError(f"threshold must be from 0 up to 1, got {self.threshold!r}")
        if isinstance(self.strategy, str):
            _check.choice(self.strategy, tuple(STRATEGIES), "strategy")
        if self.stop is not None and not isinstance(self.stop, StoppingRule):
            raise TypeError(
                "stop must have max_steps and be callable with a History, as "
                f"landmarks.methods.relaxation.algorithm_1.Stop is, got {self.stop!r}"
            )
        if self.penalty is None and self.stop is not None:
            raise ValueError(
                "stop ends a descent with a given penalty; without one the strategy that reaches "
                "k ends on its own: give penalty= too, or leave stop out"
            )

    @property
    def finds_k(self) -> bool:
        """Whether the penalty determines the number of columns."""
        return self.penalty is not None

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        if self.polish:
            from ..search.swap import Swap

            return Swap(start=replace(self, polish=False)).choose(problem, rng)
        objective = self._objective(problem, rng)
        if self.penalty is None:
            few = len(problem.candidates) <= BISECT_BELOW
            strategy = self.strategy or ("bisection" if few else "path")
            if isinstance(strategy, str):
                strategy = STRATEGIES[strategy]()
            indices, path = strategy.choose(objective, self._descent(objective), problem.k)
        else:
            indices, path = self._run_algorithm_1(objective, self.penalty)
        objective.warn_if_unconverged()
        indices = indices[np.isin(indices, problem.candidates)]  # fewer than k may be open
        if problem.k and {"diagonal", "columns"} <= problem.operator.cheap:
            others = np.setdiff1d(problem.candidates, indices)  # by falling weight at the end
            others = others[np.argsort(-path.t[-1][others], kind="stable")]
            indices = independent(problem, np.concatenate([indices, others]))
        elif problem.k:
            indices = complete(problem, indices)
        return Choice(indices, path=path, details={"gradients": objective.evaluations})

    def sweep(
        self, A: Any, sizes: list[int], *, criterion: str = "trace", seed: int | None = 0
    ) -> dict[int, np.ndarray]:
        """Indices for many sizes from one sweep of increasing λ with warm starts.

        Parameters
        ----------
        A : as for `select`.
        sizes : the numbers of columns.
        criterion, seed : as for `select`.

        Returns
        -------
        dict
            The indices, by size.

        Examples
        --------
        >>> X = np.random.default_rng(0).standard_normal((30, 10))
        >>> found = lm.Continuous().sweep(X, [2, 4])
        >>> len(found[2]), len(found[4])
        (2, 4)
        """
        operator = opened(A, scale=False).operator
        wanted = [_check.subset_size(k, operator.n) for k in sizes]
        problem = Problem(operator, max(wanted), as_objective(criterion))
        objective = self._objective(problem, np.random.default_rng(seed))
        return WarmPath().choose_many(objective, self._descent(objective), wanted)[0]

    def _objective(self, problem: Problem, rng: np.random.Generator) -> Relaxed:
        pair = problem.unscaled
        unit = mean_diagonal(pair, rng)
        noisy = problem.objective.volume and pair.noise is not None
        if noisy:  # it is the unit of the pair
            unit += 1.0
        if self.units == "relative":
            delta = (self.delta or 0.002) * unit
        else:
            delta = (self.delta or 1.0) * 2.0 ** -(0 if noisy else problem.operator.exponent)
        probes = Identity() if self.n_probes is None else Rademacher(self.n_probes)
        gradient = GRADIENTS[problem.objective.depth]
        return Relaxed(problem, gradient, unit, delta, probes, self.solver, rng)

    def _descent(self, objective: Relaxed) -> Descent:
        epsilon = self.epsilon
        if epsilon is None:
            epsilon = min(0.05, 0.1 * (objective.delta / objective.mean_diagonal) ** 0.5)
        stop = self.stop or Stop()
        return Descent(epsilon, self.rate, stop, at_least=max(1, objective.problem.k))

    def _run_algorithm_1(self, objective: Relaxed, penalty: float) -> tuple[np.ndarray, Trajectory]:
        """The columns that the penalty leaves, largest weight first."""
        descent = self._descent(objective)
        recorder = Recorder(objective.problem.operator.n)
        if self.units == "relative":
            unit = objective.penalty_unit()
        else:
            asked, operator = objective.problem.objective, objective.problem.operator
            unit = 2.0 ** -(asked.depth * asked.exponent(operator))
        threshold = descent.epsilon if self.threshold is None else self.threshold
        indices = algorithm_1(objective, penalty * unit, descent, threshold, recorder)
        if len(indices) == 0:
            raise ValueError(
                f"penalty = {penalty} leaves no column above threshold = {threshold:.3g} after "
                f"{len(recorder.trajectory())} steps; lower either, or let it run longer (stop=)"
            )
        return indices, recorder.trajectory()


# λ for a given k by bisection, each λ from t = 1/2: the best quality of the relaxation.

MAX_TRIES = 60  # doublings or halvings, after which the bracket is closed
WIDENING = 1.5  # widens the bracket downwards: a long descent freezes more columns than a short one


@dataclass(frozen=True)
class Bisection:
    """Bracket λ by short descents, then bisect with longer ones; return the best rounding met.

    A descent ends as soon as at most k columns would be left; then its λ is too large.
    A rounding takes the k largest weights and is judged by its true error.
    """

    n_steps: int = 200
    bracket_steps: int = 60
    bisections: int = 8
    ratio: float = 1.03

    def choose(self, objective: Relaxed, descent: Descent, k: int) -> tuple[np.ndarray, Trajectory]:
        """The k indices and the record of the descent that gave them."""
        roundings = Roundings(objective, k)
        bracket = Bracket(4 * objective.penalty_unit(objective.uniform_weight(k)))
        steps = self.narrowed(bracket, roundings, descent)
        run("bisection", steps, bracket, roundings, deadline=objective.problem.deadline)
        return roundings.best, roundings.recorder.trajectory()

    def narrowed(self, bracket: Bracket, roundings: Roundings, descent: Descent) -> Iterator[Step]:
        """One descent at a step, each with a λ inside the bracket that the last one left."""
        short = replace(descent, stop=Steps(self.bracket_steps))
        long = replace(descent, stop=Steps(self.n_steps))
        while bracket.halvings < self.bisections and bracket.ratio >= self.ratio:
            rule = long if bracket.closed else short
            bracket.narrow(roundings.ends_below(rule, bracket.penalty))
            yield Step(bracket.tries, None, roundings.relative_error)


@dataclass
class Bracket(State):
    """A λ that leaves more than k columns, `low`, and one that does not, `high`.

    They are found by doubling and halving; once both are known the bracket is closed, and each
    further try moves one of them.
    penalty : the λ to try next.
    """

    penalty: float
    low: float | None = None
    high: float | None = None
    closed: bool = False
    tries: int = 0
    halvings: int = 0

    @property
    def ratio(self) -> float:
        """high / low once the bracket is closed."""
        return self.high / self.low if self.closed and self.low and self.high else np.inf

    def narrow(self, below: bool) -> None:
        """Narrow the bracket, given whether the λ tried left at most k columns."""
        self.tries += 1
        self.halvings += self.closed
        if below:
            self.high = self.penalty
            further = self.penalty / 2
        else:
            self.low = self.penalty
            further = self.penalty * 2
        if not self.closed and ((self.low and self.high) or self.tries == MAX_TRIES):
            self.low = (self.low or further) / WIDENING
            self.high = self.high or further
            self.closed = True
        self.penalty = further
        if self.closed and self.low and self.high:
            self.penalty = (self.low * self.high) ** 0.5


class Roundings(State):
    """Runs descents for one k and keeps the best rounding with its record."""

    def __init__(self, objective: Relaxed, k: int):
        self.objective = objective
        self.k = k
        self.error = np.inf
        self.best = np.zeros(0, dtype=np.int64)
        self.recorder = Recorder(objective.problem.operator.n)

    def relative_error(self) -> float | None:
        """The error of the best rounding over tr K; None where the total is another."""
        problem = self.objective.problem
        if not problem.objective.additive or problem.unscaled.weights is not None:
            return None
        return self.error / (self.objective.operator.n * self.objective.mean_diagonal)

    def ends_below(self, descent: Descent, penalty: float) -> bool:
        """Descend from t = 1/2; whether it ended because at most k columns would be left."""
        problem = self.objective.problem
        recorder = Recorder(problem.operator.n)
        descent = replace(descent, at_least=self.k + 1)
        t = sgd(self.objective, start(problem), penalty, descent, recorder).t(problem)
        indices = largest(t, self.k)
        error = problem.objective.error(problem.operator, indices)
        if error < self.error or len(self.best) == 0:
            self.error = error
            self.best = indices
            self.recorder = recorder
        return int(np.sum(t > descent.epsilon)) <= self.k


# A warm path: λ increases slowly, each step starts from the last weights, so every k is met.


@dataclass(frozen=True)
class WarmPath:
    """One sweep of increasing λ; `choose_many` gives the choices for many k from it.

    growth : the factor of λ after every gradient; slower is better and costs more.
    start : the first λ, in units of the median gradient where the effective dimension of all
        candidates is the largest k. Much below it weights saturate at one before λ has an effect;
        much above it columns drop out before their weights differ.
    """

    growth: float = 1.01
    start: float = 1.0
    max_steps: int = 3000

    def choose(self, objective: Relaxed, descent: Descent, k: int) -> tuple[np.ndarray, Trajectory]:
        """The k indices and the record of the sweep down to k columns."""
        found, path = self.choose_many(objective, descent, [k])
        return found[k], path

    def choose_many(
        self, objective: Relaxed, descent: Descent, sizes: list[int]
    ) -> tuple[dict[int, np.ndarray], Trajectory]:
        """For each size, the largest weights just before the active columns fall to it."""
        problem = objective.problem
        recorder = Recorder(objective.problem.operator.n)
        penalty = self.start * objective.penalty_unit(objective.uniform_weight(max(sizes)))
        sweep = Sweep(start(problem), penalty, sorted(sizes, reverse=True))
        steps = self._steps(sweep, objective, descent, recorder)
        run("path", steps, sweep, recorder, objective, deadline=problem.deadline)
        last = sweep.weights.t(problem)
        return sweep.found | {k: largest(last, k) for k in sweep.missing}, recorder.trajectory()

    def _steps(
        self, sweep: Sweep, objective: Relaxed, descent: Descent, recorder: Recorder
    ) -> Iterator[Step]:
        problem = objective.problem
        one_step = replace(descent, stop=Steps(1), at_least=1)
        while sweep.missing and sweep.step < self.max_steps:
            before = sweep.weights.t(problem)
            sweep.weights = sgd(objective, sweep.weights, sweep.penalty, one_step, recorder)
            left = int(np.sum(sweep.weights.t(problem) > descent.epsilon))
            while sweep.missing and left <= sweep.missing[0]:
                k = sweep.missing.pop(0)
                sweep.found[k] = largest(before, k)
            sweep.penalty *= self.growth
            sweep.step += 1
            yield Step(sweep.step, self.max_steps)


@dataclass
class Sweep(State):
    """The weights, the λ of the next step, and the sizes not reached and reached so far."""

    weights: Weights
    penalty: float
    missing: list[int]
    found: dict[int, np.ndarray] = field(default_factory=dict)
    step: int = 0


STRATEGIES = {"bisection": Bisection, "path": WarmPath}
