"""The continuous method: descend the relaxation, then round (Algorithm 1).

Mathur, Moka and Botev, "Column Subset Selection and Nyström Approximation via Continuous Optimization" (2023).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ...linalg.automatic import Automatic
from ...linalg.probes import Identity, Rademacher
from ...linalg.solution import Solver
from ...operators.convert import as_operator
from ...problem import CONSTRAINTS, Choice, Problem, brief
from ...relaxation_path import Path, Recorder
from ...residual.residual import independent
from .bisection import Bisection
from .descent import Descent, Stop
from .evaluation import Objective
from .frank_wolfe import FrankWolfe
from .frobenius import Frobenius
from .relaxed import Relaxed, mean_diagonal
from .rounding import above, largest
from .steps import SGD, Step
from .trace import Trace
from .warm_path import WarmPath

OBJECTIVES: dict[str, Objective] = {"trace": Trace(), "frobenius": Frobenius()}
STRATEGIES = {"bisection": Bisection, "path": WarmPath, "frank_wolfe": FrankWolfe}
BISECT_BELOW = 2000  # candidates; above, a thousand gradients cost too much


@dataclass(frozen=True)
class Continuous:
    """The paper's relaxation, descended with exact or stochastic gradients, then rounded.

    With `penalty` it is Algorithm 1 and k comes out; with k it returns exactly k by one of three strategies.

    Parameters
    ----------
    penalty : λ (Section 3.6). In relative units, multiples of the median size of the gradient at t = 1/2.
    delta : δ. In relative units, multiples of the mean diagonal of K; 0.002 unless given.
    n_probes : M, the probes per gradient; None computes exact gradients.
    threshold : τ, above which a weight counts as chosen; None counts every weight that was not frozen.
    epsilon : the weight below which a column is frozen at zero; 0.1·√δ (δ relative), at most 0.05, unless given.
    strategy : how to reach exactly k: "bisection" of λ with fresh starts (best raw quality, about a thousand gradients),
        "path" (one warm sweep of rising λ, a few hundred gradients, nearly as good), "frank_wolfe" (40 gradients, rising
        δ, the cheapest), or such an object with settings. None is "bisection" up to 2000 candidates and "path" above.
    units : "relative", or "absolute" to give λ and δ as in the paper.
    step : the step rule on w, in units of 1/λ; SGD(0.1) unless given. Momentum and Adam are in `landmarks.methods.relaxation.steps`.
    stop : the termination condition of Algorithm 1.
    solver : of L_t Q = B; by default by the shape of the system.
    polish : improve the rounded choice by swaps, as `Swap(start=Continuous(…))` does.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
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
    step: Step = field(default_factory=lambda: SGD(0.1))
    stop: Stop = field(default_factory=Stop)
    solver: Solver = field(default_factory=Automatic)
    polish: bool = False

    honours: ClassVar[frozenset[str]] = CONSTRAINTS
    __repr__ = brief

    def __post_init__(self) -> None:
        _check.choice(self.units, ("relative", "absolute"), "units")
        for name in ("penalty", "delta"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be positive, got {value!r}")
        if self.n_probes is not None and (
            isinstance(self.n_probes, bool)
            or int(self.n_probes) != self.n_probes
            or self.n_probes < 1
        ):
            raise ValueError(
                f"n_probes must be a positive integer, or None for exact gradients, got {self.n_probes!r}"
            )
        if self.threshold is not None and not 0 <= self.threshold < 1:
            raise ValueError(f"threshold must be from 0 up to 1, got {self.threshold!r}")
        if isinstance(self.strategy, str):
            _check.choice(self.strategy, tuple(STRATEGIES), "strategy")

    @property
    def finds_k(self) -> bool:
        """Whether the number of columns comes out of the penalty."""
        return self.penalty is not None

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        if self.polish:
            from ..search.swap import Swap

            return Swap(start=replace(self, polish=False)).choose(problem, rng)
        relaxed = self._relaxed(problem, rng)
        indices, path = (
            self._reach(relaxed) if self.penalty is None else self._descend(relaxed, self.penalty)
        )
        relaxed.warn_if_unconverged()
        if problem.k and {"diagonal", "columns"} <= problem.operator.cheap:
            indices = independent(problem, _ranking(problem, indices, path))
        return Choice(indices, path=path, details={"gradients": relaxed.evaluations})

    def sweep(
        self, A: Any, sizes: list[int], *, criterion: str = "trace", seed: int | None = 0
    ) -> dict[int, np.ndarray]:
        """Indices for many sizes from one warm sweep of rising λ."""
        operator = as_operator(A)
        wanted = [_check.subset_size(k, operator.n) for k in sizes]
        relaxed = self._relaxed(
            Problem(operator, max(wanted), criterion), np.random.default_rng(seed)
        )
        return WarmPath().choose_many(relaxed, self._descent(relaxed), wanted)[0]

    def _relaxed(self, problem: Problem, rng: np.random.Generator) -> Relaxed:
        unit = mean_diagonal(problem.operator, rng)
        delta = (
            (self.delta or 0.002) * unit
            if self.units == "relative"
            else (self.delta or 1.0) * 2.0**-problem.operator.exponent
        )
        probes = Identity() if self.n_probes is None else Rademacher(self.n_probes)
        return Relaxed(
            problem, OBJECTIVES[problem.criterion], unit, delta, probes, self.solver, rng
        )

    def _descent(self, relaxed: Relaxed) -> Descent:
        relative = relaxed.delta / relaxed.unit
        epsilon = min(0.05, 0.1 * relative**0.5) if self.epsilon is None else self.epsilon
        return Descent(self.step, epsilon=epsilon, stop=self.stop)

    def _descend(self, relaxed: Relaxed, penalty: float) -> tuple[np.ndarray, Path]:
        """Algorithm 1: descend from t = 1/2 under the penalty, then keep what is above the threshold."""
        problem, descent, recorder = (
            relaxed.problem,
            self._descent(relaxed),
            Recorder(relaxed.operator.n),
        )
        power = relaxed.operator.exponent * (1 if problem.criterion == "trace" else 2)
        unit = relaxed.penalty_unit() if self.units == "relative" else 2.0**-power
        state = descent.run(
            relaxed, relaxed.start(), penalty * unit, at_least=problem.k, recorder=recorder
        )
        weights = state.weights(relaxed.operator.n)
        weights[list(problem.include)] = 2.0
        if problem.k:
            return largest(weights, problem.k), recorder.path()
        chosen = above(weights, descent.epsilon if self.threshold is None else self.threshold)
        if len(chosen) == 0:
            raise ValueError(
                f"penalty = {self.penalty} leaves no column; lower it, or lower threshold"
            )
        return chosen[np.argsort(-weights[chosen], kind="stable")], recorder.path()

    def _reach(self, relaxed: Relaxed) -> tuple[np.ndarray, Path]:
        strategy = self.strategy
        if strategy is None:
            strategy = "bisection" if len(relaxed.problem.candidates) <= BISECT_BELOW else "path"
        if isinstance(strategy, str):
            strategy = STRATEGIES[strategy]()
        return strategy.choose(relaxed, self._descent(relaxed), relaxed.problem.k)


def _ranking(problem: Problem, indices: np.ndarray, path: Path) -> np.ndarray:
    """The chosen candidates first, then the others by falling weight at the end of the path."""
    others = np.setdiff1d(problem.candidates, indices)
    return np.concatenate([indices, others[np.argsort(-path.t[-1][others], kind="stable")]])
