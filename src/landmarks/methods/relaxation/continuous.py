"""The continuous method: Algorithm 1 for a given penalty, or a search for the penalty that gives k.

Mathur, Moka and Botev, "Column Subset Selection and Nyström Approximation via Continuous
Optimization" (2023). The algorithm itself is in `algorithm_1.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ...linalg.probes import Identity, Rademacher
from ...linalg.solvers.automatic import Automatic
from ...linalg.solvers.solution import Solver
from ...objectives.objective import as_objective
from ...operators.data import as_operator
from ...problem import AIMED, Choice, Problem, brief
from ...residual.residual import independent
from ..trajectory import Recorder, Trajectory
from .algorithm_1 import algorithm_1
from .bisection import Bisection
from .descent import Descent
from .frank_wolfe import FrankWolfe
from .gradients import frobenius_gradient, trace_gradient
from .relaxed import Relaxed, mean_diagonal
from .steps import SGD, StepRule
from .stopping import Stop, StoppingRule
from .warm_path import WarmPath

GRADIENTS = {1: trace_gradient, 2: frobenius_gradient}  # by the depth of the objective
STRATEGIES = {"bisection": Bisection, "path": WarmPath, "frank_wolfe": FrankWolfe}
BISECT_BELOW = 2000  # candidates; with more, a thousand gradients cost too much


@dataclass(frozen=True)
class Continuous:
    """Minimise the paper's relaxation with exact or stochastic gradients, then round it.

    With `penalty` it is Algorithm 1, which determines k. With k it returns exactly k columns, by
    one of three strategies.

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
        gradients, nearly as good), "frank_wolfe" (40 gradients, increasing δ, the cheapest), or a
        strategy object with settings. None is "bisection" up to 2000 candidates and "path" above.
    units : "relative", or "absolute" to give λ and δ as in the paper.
    step : the step rule for w, in units of 1/λ; SGD(0.1) by default. Momentum and Adam are in
        `landmarks.methods.relaxation.steps`.
    stop : the termination condition of Algorithm 1 with a given penalty; the strategies that reach
        k have their own. The default is `Stop()`; `Steps(n)` or a rule of your own are possible
        too. See `landmarks.methods.relaxation.stopping`, which also says how to write one.
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
    step: StepRule = field(default_factory=lambda: SGD(0.1))
    stop: StoppingRule | None = None
    solver: Solver = field(default_factory=Automatic)
    polish: bool = False

    honours: ClassVar[frozenset[str]] = AIMED
    __repr__ = brief

    def __post_init__(self) -> None:
        _check.choice(self.units, ("relative", "absolute"), "units")
        for name in ("penalty", "delta"):
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
                f"landmarks.methods.relaxation.stopping.Stop is, got {self.stop!r}"
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
            indices, path = self._reach_k(objective)
        else:
            indices, path = self._run_algorithm_1(objective, self.penalty)
        objective.warn_if_unconverged()
        if problem.k and {"diagonal", "columns"} <= problem.operator.cheap:
            indices = independent(problem, _ranking(problem, indices, path))
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
        operator = as_operator(A)
        wanted = [_check.subset_size(k, operator.n) for k in sizes]
        problem = Problem(operator, max(wanted), as_objective(criterion))
        objective = self._objective(problem, np.random.default_rng(seed))
        return WarmPath().choose_many(objective, self._descent(objective), wanted)[0]

    def _objective(self, problem: Problem, rng: np.random.Generator) -> Relaxed:
        unit = mean_diagonal(problem.unscaled, rng)
        if self.units == "relative":
            delta = (self.delta or 0.002) * unit
        else:
            delta = (self.delta or 1.0) * 2.0**-problem.operator.exponent
        probes = Identity() if self.n_probes is None else Rademacher(self.n_probes)
        gradient = GRADIENTS[problem.objective.depth]
        return Relaxed(problem, gradient, unit, delta, probes, self.solver, rng)

    def _descent(self, objective: Relaxed) -> Descent:
        epsilon = self.epsilon
        if epsilon is None:
            epsilon = min(0.05, 0.1 * (objective.delta / objective.mean_diagonal) ** 0.5)
        stop = self.stop or Stop()
        return Descent(epsilon, self.step, stop, at_least=max(1, objective.problem.k))

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

    def _reach_k(self, objective: Relaxed) -> tuple[np.ndarray, Trajectory]:
        """Exactly k columns by the strategy."""
        strategy = self.strategy
        if strategy is None:
            few = len(objective.problem.candidates) <= BISECT_BELOW
            strategy = "bisection" if few else "path"
        if isinstance(strategy, str):
            strategy = STRATEGIES[strategy]()
        return strategy.choose(objective, self._descent(objective), objective.problem.k)


def _ranking(problem: Problem, indices: np.ndarray, path: Trajectory) -> np.ndarray:
    """The chosen columns first, then the other candidates by falling weight at the end."""
    others = np.setdiff1d(problem.candidates, indices)
    return np.concatenate([indices, others[np.argsort(-path.t[-1][others], kind="stable")]])
