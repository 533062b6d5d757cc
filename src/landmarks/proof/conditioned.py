"""C = K − K̂ of a partial choice in 106 bits, with a bound on what rounding put into it.

With noise K̂ = K_:S (K_SS + N)⁻¹ K_S:, and the pivot of a candidate is C_jj + ν_j. Columns count by
their weights.

With B the coefficients that rebuild every column from the picks, C = VᵀKV, V = [−B; I]. An error of
ω·d_i·d_j in the entries of K, d² = diag K, therefore moves C_ij by at most ω·s_i·s_j,
s_j = d_j + Σ_i d_i |B_ij|. A pick i with the coefficients β turns s_j into at most s_j + |β_j| s_i.

Where rounding hides whether a column depends on the picks, `dependent` decides with exact numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._array import host, is_single
from ..errors import NotPSDError
from ..linalg.dependence import dependent
from ..linalg.rebuilding import SURE, reached, rebuilding
from ..operators.base import Operator
from ..operators.forms import densify, in_double
from ..operators.pair import Pair
from ..problem import Problem
from .twofold import UNIT, Twofold, add, divide, exactly, gram, outer, subtract

LARGE = 2**26  # entries of X above which XᵀX is formed in float64
EPS = 2.0**-53
DOUBT = 64  # a pivot is certain if its error is below 1/64: then second order is negligible


@dataclass(frozen=True)
class Conditioned:
    """The residual of a partial choice.

    C : the n × n residual. spread : s, what one unit of error in K grows to. omega : that unit.
    columns : exact columns whose dependence is that of the candidates. picks : what was chosen.
    pair : weights and noise. volume : the log determinant of the picks, with its error. missed :
        what no choice rebuilds of the columns that count, as a matrix, with the rounding of its
        eigenvalues; None where that is unknown.
    """

    C: Twofold
    spread: np.ndarray
    omega: float
    columns: np.ndarray
    pair: Pair
    picks: tuple[int, ...] = ()
    volume: tuple[float, float] = (0.0, 0.0)
    missed: tuple[np.ndarray, float] | None = None

    @property
    def n(self) -> int:
        """The number of columns."""
        return len(self.spread)

    @property
    def matrix(self) -> np.ndarray:
        """C rounded to float64."""
        return self.C.high

    @property
    def diagonal(self) -> np.ndarray:
        """The diagonal of C."""
        return np.diagonal(self.C.high)

    @property
    def pivots(self) -> np.ndarray:
        """The squared lengths of fresh measurements: diag C + ν."""
        return self.diagonal if self.pair.noise is None else self.diagonal + self.pair.noise

    @property
    def doubtful(self) -> np.ndarray:
        """Whether rounding may have made the pivot of a column, picks without noise excepted."""
        doubt = self.pivots <= DOUBT * self.omega * self.spread**2
        doubt[[j for j in self.picks if self.noise(j) == 0]] = False
        return doubt

    def noise(self, j: int) -> float:
        """ν_j."""
        return 0.0 if self.pair.noise is None else float(self.pair.noise[j])

    def weighted(self, values: np.ndarray) -> float:
        """Σ ω_j of some numbers."""
        weights = self.pair.weights
        return float(np.sum(values) if weights is None else weights @ values)

    @cached_property
    def trace(self) -> float:
        """Σ ω_j C_jj, a sum of numbers that are not negative."""
        return self.weighted(self.diagonal)

    @cached_property
    def squares(self) -> float:
        """‖Ω^½CΩ^½‖²_F."""
        if self.pair.weights is None:
            return float(np.sum(self.C.high**2))
        return float(self.pair.weights @ self.C.high**2 @ self.pair.weights)

    @cached_property
    def counted(self) -> np.ndarray:
        """Ω^½CΩ^½ of the columns that count, less what no choice rebuilds of them."""
        weights = self.pair.weights
        if weights is None and self.missed is None:
            return self.matrix
        used = np.arange(self.n) if weights is None else np.flatnonzero(weights)
        roots = np.ones(self.n) if weights is None else np.sqrt(weights)
        found = self.matrix[np.ix_(used, used)] * roots[used, None] * roots[None, used]
        return found if self.missed is None else found - self.missed[0]

    def images(self, columns: np.ndarray) -> np.ndarray:
        """Ω^½C at some columns, in the rows that count."""
        weights = self.pair.weights
        if weights is None:
            return self.matrix[:, columns]
        used = np.flatnonzero(weights)
        return np.sqrt(weights[used, None]) * self.matrix[np.ix_(used, columns)]

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of what can still be rebuilt, falling."""
        return np.maximum(np.linalg.eigvalsh(self.counted)[::-1], 0.0)

    def error(self, depth: int) -> float:
        """The error of the picks, by the depth of the objective."""
        if depth == 0:
            return -self.volume[0]
        return self.trace if depth == 1 else self.squares

    def uncertainty(self, depth: int) -> float:
        """How much the error of the picks may be off."""
        if depth == 0:
            return self.volume[1]
        norm = np.sqrt(self.n) * self.omega * self.weighted(self.spread**2)
        if depth == 1:
            return 4 * norm + 2 * self.n * EPS * self.trace
        E = self.squares
        return 8 * np.sqrt(E) * norm + 16 * norm**2 + 2 * self.n * EPS * E

    def pick(self, j: int) -> Conditioned:
        """The residual after choosing j, whose own pivot must be certain."""
        v, c, noise = self.C.at(slice(None), j), self.C.at(j, j), self.noise(j)
        if noise > 0:
            c = add(c, exactly(np.asarray(noise)))
        beta = divide(v, c)
        C = subtract(self.C, outer(v, beta))
        spread = self.spread + np.abs(beta.high) * self.spread[j]
        if noise == 0:
            for part in C:
                part[j], part[:, j] = 0.0, 0.0
            spread[j] = 0.0
        pivot = float(c.high)
        doubt = self.volume[1] + 2 * self.omega * self.spread[j] ** 2 / pivot + 8 * EPS
        value = self.volume[0] + math.log(pivot)
        volume = value, doubt + EPS * (abs(value) + abs(self.volume[0]))
        return replace(self, C=C, spread=spread, picks=(*self.picks, j), volume=volume)

    def represented(self, j: int) -> bool:
        """Whether column j is a combination of the picks, as exact numbers; never with noise."""
        if self.noise(j) > 0:
            return False
        return dependent(self.columns[:, [*(i for i in self.picks if self.noise(i) == 0), j]])

    def exhausted(self) -> bool:
        """Whether the picks represent every column that counts, as exact numbers."""
        weights = self.pair.weights
        counted = np.arange(self.n) if weights is None else np.flatnonzero(weights)
        others = np.setdiff1d(counted, [j for j in self.picks if self.noise(j) == 0])
        return all(self.represented(int(j)) for j in others)

    def pick_all(self, indices: Iterable[int]) -> tuple[Conditioned, int]:
        """The residual after choosing the indices, and how many were in doubt."""
        state, unknown = self, 0
        for j in indices:
            if j in state.picks and not self.pair.repeats:
                continue
            if not state.doubtful[j]:
                state = state.pick(int(j))
            elif not state.represented(int(j)):
                unknown += 1
        return state, unknown


def conditioned(problem: Problem) -> Conditioned:
    """The residual of choosing nothing, for the choices of a problem."""
    pair, picks = problem.pair, problem.allowed.most_columns(max(problem.k, 1))
    operator = pair.operator
    double = in_double(operator)
    if double.m is not None and double.m * double.n <= LARGE:
        X = np.asarray(host(double.factor()), dtype=np.float64, order="C")
        K, columns, omega = gram(X), X, 0.0
    else:
        columns = np.asarray(host(densify(double)), dtype=np.float64)
        columns = np.tril(columns) + np.tril(columns, -1).T
        rounding = EPS * (2 if double.m is None else 2 * double.m)
        K, omega = exactly(columns), max(rounding, 2 * indefiniteness(columns, operator))
    omega += 16 * (picks + 2) * UNIT
    spread = np.sqrt(np.maximum(np.diagonal(K.high), 0.0))
    return Conditioned(K, spread, omega, columns, pair, missed=missed_by_all(problem))


def missed_by_all(problem: Problem) -> tuple[np.ndarray, float] | None:
    """What no choice rebuilds of a target, and nobody measures through the noise: see `reached`."""
    pair = problem.pair
    if pair.standard or not problem.objective.additive:
        return None
    whole = rebuilding(pair)
    counted = pair.operator.n if pair.weights is None else np.count_nonzero(pair.weights)
    if whole.B.shape[1] != counted:  # B was replaced by a narrower one
        return None
    if whole.angle > SURE:  # rounding hides what the candidates reach
        return None
    k = problem.allowed.most_columns(max(problem.k, 1))
    inside, _ = reached(whole.without(problem.exclude), k, pair.repeats)
    gram_of_B = whole.B.T @ whole.B
    doubt = 64 * (sum(whole.A.shape) + k) * EPS * whole.total
    doubt += (np.sqrt(whole.rounding) + 2 * whole.angle) * whole.total
    return gram_of_B - inside.T @ inside, doubt


def indefiniteness(K: np.ndarray, operator: Operator) -> float:
    """How far below zero the eigenvalues of K reach when it is scaled to a unit diagonal."""
    d = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    scale = np.where(d > 0, d, 1.0)
    least = float(np.linalg.eigvalsh(K / scale[:, None] / scale[None, :])[0])
    rounding = len(d) * EPS
    slack = (1e-4 if is_single(operator.digits) else 1e-8) * np.sqrt(len(d))
    if least < -slack:
        raise NotPSDError(
            "nothing can be proved for an indefinite matrix: scaled to a unit diagonal, K has the "
            f"eigenvalue {least:.3g}; clip negative eigenvalues first"
        )
    return max(0.0, -least - rounding)
