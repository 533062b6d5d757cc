"""C = K − K̂ of a partial choice in 106 bits, with a bound on what rounding put into it.

With B the coefficients that rebuild every column from the picks, C = VᵀKV, V = [−B; I]. An error of
ω·d_i·d_j in the entries of K, d² = diag K, therefore moves C_ij by at most ω·s_i·s_j,
s_j = d_j + Σ_i d_i |B_ij|. A pick i with the coefficients β turns s_j into at most s_j + |β_j| s_i.

Where rounding hides whether a column depends on the picks, `dependent` decides with exact numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._array import host, is_single
from ..errors import NotPSDError
from ..operators.base import Operator
from ..operators.forms import densify, in_double
from .twofold import UNIT, Twofold, divide, exactly, gram, outer, subtract

LARGE = 2**26  # entries of X above which XᵀX is formed in float64
EPS = 2.0**-53
STATES = 2**28  # bytes for residuals that are stored with the open nodes
DOUBT = 64  # a pivot is certain if its error is below 1/64: then second order is negligible
PRIMES = (2147483647, 2147483629)


@dataclass(frozen=True)
class Conditioned:
    """The residual of a partial choice.

    C : the n × n residual. spread : s, what one unit of error in K grows to. omega : ω.
    columns : exact columns whose dependence is that of the candidates. picks : what was chosen.
    """

    C: Twofold
    spread: np.ndarray
    omega: float
    columns: np.ndarray
    picks: tuple[int, ...] = ()

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
    def doubtful(self) -> np.ndarray:
        """Whether rounding may have made the residual of a column, picks excepted."""
        doubt = self.diagonal <= DOUBT * self.omega * self.spread**2
        doubt[list(self.picks)] = False
        return doubt

    @cached_property
    def trace(self) -> float:
        """tr C, a sum of numbers that are not negative."""
        return float(np.sum(self.diagonal))

    @cached_property
    def squares(self) -> float:
        """‖C‖²_F."""
        return float(np.sum(self.C.high**2))

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of C, falling."""
        return np.maximum(np.linalg.eigvalsh(self.matrix)[::-1], 0.0)

    def error(self, frobenius: bool) -> float:
        """The error of the picks."""
        return self.squares if frobenius else self.trace

    def uncertainty(self, frobenius: bool) -> float:
        """How much the error of the picks may be off."""
        norm = np.sqrt(self.n) * self.omega * float(np.sum(self.spread**2))
        if not frobenius:
            return 4 * norm + 2 * self.n * EPS * self.trace
        E = self.squares
        return 8 * np.sqrt(E) * norm + 16 * norm**2 + 2 * self.n * EPS * E

    def pick(self, j: int) -> Conditioned:
        """The residual after choosing j, whose own residual must be certain."""
        v, c = self.C.at(slice(None), j), self.C.at(j, j)
        beta = divide(v, c)
        C = subtract(self.C, outer(v, beta))
        for part in C:
            part[j], part[:, j] = 0.0, 0.0
        spread = self.spread + np.abs(beta.high) * self.spread[j]
        spread[j] = 0.0
        return replace(self, C=C, spread=spread, picks=(*self.picks, j))

    def represented(self, j: int) -> bool:
        """Whether column j is a combination of the picks, as exact numbers."""
        return dependent(self.columns[:, [*self.picks, j]])

    def exhausted(self) -> bool:
        """Whether the picks represent every column, as exact numbers."""
        others = np.setdiff1d(np.arange(self.n), self.picks)
        return all(self.represented(int(j)) for j in others)

    def pick_all(self, indices: Iterable[int]) -> tuple[Conditioned, int]:
        """The residual after choosing the indices, and how many were in doubt."""
        state, unknown = self, 0
        for j in indices:
            if j in state.picks:
                continue
            if not state.doubtful[j]:
                state = state.pick(int(j))
            elif not state.represented(int(j)):
                unknown += 1
        return state, unknown


def conditioned(operator: Operator, picks: int) -> Conditioned:
    """The residual of choosing nothing, for choices with this many picks."""
    double = in_double(operator)
    if double.m is not None and double.m * double.n <= LARGE:
        X = np.asarray(host(double.factor()), dtype=np.float64)
        K, columns, omega = gram(X), X, 0.0
    else:
        columns = np.asarray(host(densify(double)), dtype=np.float64)
        columns = np.tril(columns) + np.tril(columns, -1).T
        rounding = EPS * (2 if double.m is None else 2 * double.m)
        K, omega = exactly(columns), max(rounding, 2 * indefiniteness(columns, operator))
    omega += 16 * (picks + 2) * UNIT
    return Conditioned(K, np.sqrt(np.maximum(np.diagonal(K.high), 0.0)), omega, columns)


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


def dependent(columns: np.ndarray) -> bool:
    """Whether the columns are dependent; the entries are taken as they are, without rounding.

    Rank over the integers modulo a prime is never above the rank over the rationals, and below it
    only when the prime divides a minor. Two primes of 31 bits make such a coincidence less likely
    than 2⁻⁶⁰.
    """
    if columns.shape[1] > columns.shape[0]:
        return True
    return all(_rank(_residues(columns, p), p) < columns.shape[1] for p in PRIMES)


def _residues(columns: np.ndarray, p: int) -> np.ndarray:
    """The columns, each times a power of two that makes it whole, modulo p."""
    fractions, exponents = np.frexp(columns)
    whole = np.ldexp(fractions, 53).astype(np.int64) % p
    shifts = exponents - exponents.min(axis=0, initial=0)
    table = np.asarray([pow(2, int(e), p) for e in range(int(shifts.max(initial=0)) + 1)])
    return whole * table[shifts] % p


def _rank(A: np.ndarray, p: int) -> int:
    """The rank of an integer matrix modulo p."""
    rank = 0
    for j in range(A.shape[1]):
        nonzero = np.flatnonzero(A[rank:, j])
        if len(nonzero) == 0:
            continue
        A[[rank, rank + nonzero[0]]] = A[[rank + nonzero[0], rank]]
        row = A[rank] * pow(int(A[rank, j]), -1, p) % p
        A[rank + 1 :] = (A[rank + 1 :] - A[rank + 1 :, j : j + 1] * row % p) % p
        rank += 1
        if rank == A.shape[0]:
            break
    return rank


class Residuals:
    """The residuals of open nodes, as many as fit; others are computed again."""

    def __init__(self, order: int):
        self.most = STATES // (16 * order**2)
        self.known: dict[tuple[int, ...], Conditioned] = {}

    def get(self, picks: list[int]) -> Conditioned | None:
        """The residual of some picks, if it is known."""
        return self.known.get(tuple(picks))

    def add(self, picks: list[int], state: Conditioned) -> None:
        """Remember a residual; when there are too many, forget the others."""
        if len(self.known) > self.most:
            self.known.clear()
        self.known[tuple(picks)] = state
