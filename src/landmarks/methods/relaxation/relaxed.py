"""The objective of one problem as a function of the weights: K, f or g, δ, probes and solver."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..._array import Array, Indices, add_diagonal, host, like, namespace, take
from ...errors import ConvergenceWarning
from ...linalg.probes import Probes, Rademacher
from ...linalg.solvers import Solver
from ...operators.base import Operator
from ...operators.dense import Dense
from ...operators.forms import densify
from ...operators.pair import Pair
from ...problem import Problem
from ...runs.state import State

# P̃(t) and K̃(t) of the paper, and the system L_t that their gradients solve.

SMALL = 2000  # up to this order K_+ is stored, since factorising is faster than products


def relaxed_projection(X: Array, t: Array, delta: float) -> Array:
    """P̃(t) = XT [T XᵀX T + δ(I − T²)]⁺ T Xᵀ, stored (Definition 2.1).

    It is the projection onto the chosen columns at every corner of the cube (Lemma 2.2), and
    continuous on the cube (Lemma 2.3).

    Examples
    --------
    >>> from landmarks.methods.relaxation.relaxed import relaxed_projection
    >>> relaxed_projection(np.eye(2), np.array([1.0, 0.0]), delta=1.0)
    array([[1., 0.],
           [0., 0.]])
    """
    return (X * t) @ _pseudo_inverse(X.T @ X, t, delta) @ (X * t).T


def relaxed_nystrom(K: Array, t: Array, delta: float) -> Array:
    """K̃(t) = KT [T K T + δ(I − T²)]⁺ TK, stored (Definition 2.5).

    It is the Nyström approximation at every corner of the cube (Lemma 2.6), and continuous on the
    cube (Lemma 2.7). With K = XᵀX it is XᵀP̃(t)X.
    """
    return (K * t) @ _pseudo_inverse(K, t, delta) @ (K * t).T


def _pseudo_inverse(K: Array, t: Array, delta: float) -> Array:
    return namespace(K).linalg.pinv(add_diagonal(t[:, None] * K * t[None, :], delta * (1 - t * t)))


@dataclass(frozen=True, eq=False)
class System:
    """L_t = T(K − δI)T + δI = TKT + δ(I − T²), which f and g share, by its products with blocks."""

    operator: Operator
    t: Array
    delta: float
    noise: Array | None = None

    @property
    def n(self) -> int:
        """The order of the system."""
        return self.operator.n

    @cached_property
    def ridge(self) -> Array:
        """The diagonal δ(1 − t²), and t² ν where measurements are noisy."""
        ridge = self.delta * (1 - self.t) * (1 + self.t)
        return ridge if self.noise is None else ridge + self.t * self.t * self.noise

    def matmul(self, block: Array) -> Array:
        """L_t @ block: one product with K per column."""
        t = self.t[:, None]
        return t * self.operator.matmul(t * block) + self.ridge[:, None] * block

    def dense(self) -> Array:
        """L_t, stored."""
        return add_diagonal(self.t[:, None] * densify(self.operator) * self.t[None, :], self.ridge)

    @property
    def m(self) -> int | None:
        """The rows of X when K = XᵀX is known by X."""
        return self.operator.m

    def factor(self) -> Array:
        """X T, with L_t = (XT)ᵀXT + δ(I − T²)."""
        return self.operator.factor() * self.t[None, :]


class Active:
    """The candidates with t > 0: only they enter the linear systems (Lemma 3.3).

    For t_j = 0 the solution of L_t q = t ⊙ r is zero at j, and the rest of it solves the system of
    the principal submatrix K_+. So the system shrinks as columns drop out.
    """

    def __init__(self, pair: Pair, indices: Indices | None = None):
        self.pair = pair
        self.operator = operator = pair.operator
        self.indices = np.arange(pair.n) if indices is None else np.asarray(indices)
        self.everything = len(self.indices) == operator.n

    def __len__(self) -> int:
        return len(self.indices)

    @cached_property
    def principal(self) -> Operator:
        """K_+, the principal submatrix; stored when small, since every solve would evaluate it."""
        part = self.operator if self.everything else self.operator.restrict(self.indices)
        evaluates = part.m is None and not isinstance(part, Dense) and "columns" in part.cheap
        if evaluates and len(self) <= SMALL:
            return Dense(densify(part), ledger=part.ledger)
        return part

    def system(self, t: Array, delta: float) -> System:
        """(L_t)_+ for the weights of the active candidates."""
        noise = self.pair.variances
        return System(
            self.principal, t, delta, None if noise is None else take(noise, self.indices)
        )

    def product_active_rows(self, block: Array) -> Array:
        """The active rows of K @ block, for a block with all n rows."""
        return self.operator.matmul(block, rows=None if self.everything else self.indices)

    def product_all_rows(self, block: Array) -> Array:
        """K[:, active] @ block, with all n rows, for a block with the active rows."""
        return self.operator.matmul(block, cols=None if self.everything else self.indices)

    def active_rows(self, block: Array) -> Array:
        """The active rows of a block with all n rows."""
        return block if self.everything else take(block, self.indices)


# The objectives f and g with the gradients that Algorithm 1 follows, from a block of probes.
#
# f(t) = −tr K̃(t) for the trace, which is −tr[XᵀP̃(t)X] for columns (Section 2.1), and
# g(t) = ‖K − K̃(t)‖²_F for the Frobenius norm (Section 2.2). −log det L_t is for the log determinant
# and not in the paper. All come without the penalty λ Σ t.


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The value and the gradient of an objective over the active columns.

    Both are exact with `Identity` probes, and unbiased estimates otherwise.
    solver_steps, converged : the iterations of the linear solver, and whether it converged.
    """

    value: float
    gradient: Array
    solver_steps: int
    converged: bool


def trace_gradient(
    active: Active, t: Array, delta: float, probes: Array, solver: Solver
) -> Evaluation:
    """f and ∇f (Lemma 2.4), the gradient as 2 E[φ], estimated from probes (Lemma 3.1).

    Lemma 3.1 has φ = b ⊙ Z(t ⊙ b) − a ⊙ b with Z = K − δI. Since L_t b = t ⊙ a means
    a − Z(t ⊙ b) = δ b/t, this is φ = −(δ/t) ⊙ b ⊙ b: one product less, and never positive.
    """
    xp = namespace(t)
    M = probes.shape[1]
    a = active.product_active_rows(probes)
    solution = solver.prepare(active.system(t, delta))(t[:, None] * a)
    b = solution.x
    phi = -(delta / t) * xp.sum(b * b, axis=1) / M  # mean over the M probes (Lemma 3.1)
    value = -float(xp.sum(t[:, None] * a * b)) / M
    gradient = 2 * phi  # ∇f = 2 E[φ]; algorithm_1 divides by λ and adds 1
    return Evaluation(value, gradient, solution.steps, solution.converged)


def frobenius_gradient(
    active: Active, t: Array, delta: float, probes: Array, solver: Solver
) -> Evaluation:
    """g and ∇g (Lemma 2.8), the gradient as 2 E[ψ], estimated from probes (Lemma 3.2).

    For a probe z the letters are a = Kz, L_t b = t ⊙ a, c = K(t ⊙ b) − a = (K̃ − K)z, d = Kc and
    L_t e = t ⊙ d. Lemma 3.2 has, with Z = K − δI,
    ψ = b ⊙ d + a ⊙ e − e ⊙ Z(t ⊙ b) − b ⊙ Z(t ⊙ e). Since L_t b = t ⊙ a means
    a − Z(t ⊙ b) = δ b/t, and L_t e = t ⊙ d means d − Z(t ⊙ e) = δ e/t, this is
    ψ = e ⊙ (δ b/t) + b ⊙ (δ e/t) = (2δ/t) ⊙ b ⊙ e: the product K(t ⊙ e) is not needed.
    a and c have all n rows, since d = Kc sums over all of c; t, b, d, e have the active rows.
    """
    xp = namespace(t)
    M = probes.shape[1]
    solve = solver.prepare(active.system(t, delta))
    a = active.operator.matmul(probes)  # all n rows, as c: d = Kc sums over all of c
    first = solve(t[:, None] * active.active_rows(a))  # active rows only (Lemma 3.3)
    b = first.x
    c = active.product_all_rows(t[:, None] * b) - a
    weighted = active.pair.weighed(c)
    d = active.product_active_rows(weighted)
    second = solve(t[:, None] * d)
    e = second.x
    psi = (2 * delta / t) * xp.sum(b * e, axis=1) / M  # mean over the M probes (Lemma 3.2)
    value = float(xp.sum(weighted * c)) / M
    converged = first.converged and second.converged
    gradient = 2 * psi  # ∇g = 2 E[ψ]; algorithm_1 divides by λ and adds 1
    return Evaluation(value, gradient, first.steps + second.steps, converged)


def logdet_gradient(
    active: Active, t: Array, delta: float, probes: Array, solver: Solver
) -> Evaluation:
    """−log det L_t and its gradient −(2/t) ⊙ (1 − δ diag L_t⁻¹), estimated from probes.

    At a corner with k ones L_t is K_SS beside δI, so this is −log det K_SS − (n − k) log δ. From
    ∂L_t = ∂T(K − δI)T + T(K − δI)∂T and T(K − δI)T = L_t − δI, the derivative by t_j is
    −(2/t_j) (I − δ L_t⁻¹)_jj. The value is known up to SMALL candidates, else NaN.
    """
    xp = namespace(t)
    M = probes.shape[1]
    z = active.active_rows(probes)
    system = active.system(t, delta)
    solution = solver.prepare(system)(z)
    along = xp.sum(z * (z - delta * solution.x), axis=1) / M
    value = float("nan")
    if len(active) <= SMALL:
        value = -float(xp.linalg.slogdet(system.dense())[1])
    return Evaluation(value, -2 * along / t, solution.steps, solution.converged)


Gradient = Callable[[Active, Array, float, Array, Solver], Evaluation]


@dataclass(eq=False)
class Relaxed(State):
    """Evaluates f or g and its gradient over the active columns, and counts the evaluations.

    The probes are fresh each time: with fixed ones the descent fits their noise.
    With a target the probes stand on the columns that count, and with noise L_t has it on its
    diagonal: the derivations use nothing else of either.

    mean_diagonal : of K, the unit of a relative δ; delta : δ itself, absolute.
    columns : the active columns, whose principal submatrix is available.
    """

    problem: Problem
    gradient: Gradient
    mean_diagonal: float
    delta: float
    probes: Probes
    solver: Solver
    rng: np.random.Generator
    evaluations: int = 0
    unconverged: int = 0
    columns: np.ndarray | None = field(default=None, repr=False)
    _active: Active | None = field(default=None, repr=False)

    @property
    def operator(self) -> Operator:
        """K, with the columns of a target after the candidates."""
        return self.problem.unscaled.operator

    def __call__(self, columns: np.ndarray, t: Array) -> Evaluation:
        """The value and the gradient at the weights t of the active columns."""
        active, probes, omega = self._active_at(columns), self._draw(), self.problem.unscaled.omega
        probes = probes if omega is None else probes * omega[:, None] ** 0.5
        result = self.gradient(active, t, self.delta, probes, self.solver)
        self.evaluations += 1
        self.unconverged += not result.converged
        return result

    def restored(self) -> None:
        """Form the principal submatrix now: the ledger is restored next, so it counts once."""
        self._active = None
        if self.columns is not None:
            self._active = Active(self.problem.unscaled, self.columns)
            self._active.principal  # noqa: B018

    def penalty_unit(self, t: float = 0.5) -> float:
        """The unit of a relative penalty: the median |gradient| with all candidates at weight t."""
        candidates = self.problem.candidates
        weights = like(np.full(len(candidates), t), self.operator.like)
        gradient = np.abs(host(self(candidates, weights).gradient))
        return float(np.median(gradient)) or float(np.max(gradient)) or 1.0

    def uniform_weight(self, k: int) -> float:
        """The one weight t for all candidates at which their effective dimension is k.

        Bisection of the logit of t; the effective dimension rises with t.
        """
        low, high = -12.0, 12.0
        for _ in range(8):
            middle = (low + high) / 2
            if self._effective_dimension(_logistic(middle)) >= k:
                high = middle
            else:
                low = middle
        return min(_logistic((low + high) / 2), 0.99)

    def _effective_dimension(self, weight: float) -> float:
        """tr(TKT L_t⁻¹) with all candidates at one weight, estimated from probes.

        At a corner with k independent columns it is k.
        """
        active = self._active_at(self.problem.candidates)
        t = like(np.full(len(active), weight), self.operator.like)
        probes = self._draw()
        solve = self.solver.prepare(active.system(t, self.delta))
        solution = solve(t[:, None] * active.product_active_rows(probes))
        self.evaluations += 1
        total = namespace(t).sum(active.active_rows(probes) * t[:, None] * solution.x)
        return float(total) / probes.shape[1]

    def warn_if_unconverged(self) -> None:
        """One warning for all evaluations whose solver stopped at its limit."""
        if self.unconverged:
            warnings.warn(
                f"the solver stopped at its limit in {self.unconverged} of {self.evaluations} "
                "gradients; raise its max_steps, or delta",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _active_at(self, columns: np.ndarray) -> Active:
        if self._active is None or not np.array_equal(self._active.indices, columns):
            self._active = Active(self.problem.unscaled, columns)
            self.columns = self._active.indices
        return self._active

    def _draw(self) -> Array:
        return self.probes.draw(self.operator.n, self.rng, self.operator.like)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def mean_diagonal(pair: Pair, rng: np.random.Generator) -> float:
    """The mean diagonal entry of K at the candidates.

    It is estimated from ten probes when reading it is not cheap.
    """
    operator = pair.operator
    if "diagonal" in operator.cheap:
        return float(np.mean(host(operator.diagonal())[: pair.n].astype(np.float64))) or 1.0
    probes = Rademacher(10).draw(operator.n, rng, operator.like)
    return float(np.mean(host(probes * operator.matmul(probes)).astype(np.float64))) or 1.0
