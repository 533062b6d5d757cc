"""The candidates and the target of an aim as explicit columns of few rows, in float64 on the host.

Rows beyond the number of candidates are rotated away, and a wide B is replaced by a square one
with the same B Bᵀ. What of B lies outside the range of A is one number: no choice changes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import scipy.linalg

from .._array import eps, host, is_single
from ..errors import UnsupportedError
from ..linalg.aim import Aim
from ..operators.base import DENSE_MEMORY, Operator, densify
from ..operators.double import in_double
from .explicit import independent_basis
from .pivoted_factor import FLOOR, pivoted_factor

STORED = 5000  # order up to which a matrix that is no data is factorised in full
LOW_RANK = 600  # columns that the factor of a larger one may have

_made: WeakKeyDictionary[Aim, WeakKeyDictionary[Operator, Rebuilding]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Rebuilding:
    """Candidates A (r × n), what they must rebuild, B (r × p), and the noise of each candidate.

    outside : ‖B‖² of what no candidate can rebuild, which B here does not hold.
    sigma : the standard deviations of the noise, or None. A chosen candidate has a row of its own
        with its sigma in it, so that one chosen twice has two.
    rounding : the part of a squared length that was rounding already when A was made.
    """

    A: np.ndarray
    B: np.ndarray
    outside: float
    sigma: np.ndarray | None
    rounding: float

    @property
    def n(self) -> int:
        """The number of candidates."""
        return self.A.shape[1]

    @cached_property
    def inside(self) -> float:
        """‖B‖², without what lies outside."""
        return float(np.sum(self.B * self.B))

    @property
    def total(self) -> float:
        """The error of choosing nothing."""
        return self.inside + self.outside

    @cached_property
    def lengths(self) -> np.ndarray:
        """The squared lengths of the candidates, with their noise."""
        noise = 0.0 if self.sigma is None else self.sigma**2
        return np.sum(self.A * self.A, axis=0) + noise

    def without(self, exclude: tuple[int, ...]) -> Rebuilding:
        """The same with fewer candidates."""
        if not exclude:
            return self
        kept = np.setdiff1d(np.arange(self.n), exclude)
        sigma = None if self.sigma is None else self.sigma[kept]
        return replace(self, A=self.A[:, kept], sigma=sigma)

    def floor(self, k: int) -> np.ndarray:
        """The squared length up to which the residual of each candidate is rounding."""
        return max(unit(k) ** 2, self.rounding) * self.lengths

    def least(self, k: int) -> float:
        """The gain up to which all that is left of B is rounding."""
        return unit(k) ** 2 * self.inside

    def members(self, indices: np.ndarray) -> np.ndarray:
        """The chosen columns, each with its noise in a row of its own."""
        chosen = self.A[:, indices]
        if self.sigma is None:
            return chosen
        return np.vstack([chosen, np.diag(self.sigma[indices])])

    def padded(self, columns: np.ndarray, k: int) -> np.ndarray:
        """Columns of A or B with zeros in the rows of the noise of k members."""
        if self.sigma is None:
            return columns
        return np.vstack([columns, np.zeros((k, columns.shape[1]))])

    def basis(self, indices: np.ndarray) -> np.ndarray:
        """An orthonormal basis of the chosen columns, of their numerical rank."""
        return orthonormal(self.members(indices), unit(len(indices)))

    def left(self, indices: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """What the chosen columns leave of some columns of A or B."""
        Q = self.basis(indices)
        rest = self.padded(columns, len(indices))
        for _ in range(2):  # once more: the first product leaves the rounding of what was large
            rest = rest - Q @ (Q.T @ rest)
        return rest

    def error(self, indices: np.ndarray) -> float:
        """‖B − P_S B‖²."""
        rest = self.left(np.asarray(indices), self.B)
        return self.outside + float(np.sum(rest * rest))

    def nested_errors(self, indices: np.ndarray) -> np.ndarray:
        """The errors of the first 1, 2, … of the indices."""
        indices = np.asarray(indices)
        kept, Q, _ = independent_basis(self.members(indices), self.floor(len(indices))[indices])
        rest, errors = self.padded(self.B, len(indices)), np.full(len(indices), np.nan)
        for place, q in zip(kept, Q.T, strict=True):
            rest = rest - np.outer(q, q @ rest)
            errors[place] = self.outside + float(np.sum(rest * rest))
        known = np.where(np.isnan(errors), np.inf, errors)
        return np.minimum(np.minimum.accumulate(known), self.total)

    def variances(self, indices: np.ndarray) -> np.ndarray:
        """What the chosen leave of each candidate: its posterior variance, before its own noise."""
        rest = self.left(np.asarray(indices), self.A)
        return np.sum(rest * rest, axis=0)


def unit(k: int) -> float:
    """The relative length up to which the residual of a column is rounding."""
    return 8 * (k + 8) * float(np.finfo(np.float64).eps)


def orthonormal(columns: np.ndarray, tolerance: float) -> np.ndarray:
    """An orthonormal basis of columns; each counts by what is left of its own length."""
    lengths = np.sqrt(np.sum(columns * columns, axis=0))
    scaled = columns / np.where(lengths > 0, lengths, 1.0)
    Q, R, _ = scipy.linalg.qr(scaled, mode="economic", pivoting=True, check_finite=False)
    return Q[:, : int(np.sum(np.abs(np.diag(R)) > tolerance))]


def rebuilding(operator: Operator, aim: Aim) -> Rebuilding:
    """The explicit form of an aim on an operator; made once."""
    made = _made.setdefault(aim, WeakKeyDictionary())
    if operator not in made:
        made[operator] = _explicit(operator, aim)
    return made[operator]


def _explicit(operator: Operator, aim: Aim) -> Rebuilding:
    X, rounding = _factor(operator)
    if aim.target is None:
        B = X
    else:
        B = aim.target if aim.rows else X @ aim.target
    A, B, outside = _fewer_rows(X, B)
    sigma = None if aim.noise is None else np.sqrt(aim.noise)
    return Rebuilding(A, _fewer_columns(B), outside, sigma, rounding)


def _factor(operator: Operator) -> tuple[np.ndarray, float]:
    """X with K = XᵀX, and the relative rounding of its squared lengths."""
    if operator.m is not None:
        _check_size(operator.m, operator.n)
        operator.ledger.add(entries=operator.m * operator.n)
        rounding = (2 * eps(operator.like)) ** 2 if is_single(operator.like) else 0.0
        return host(operator.factor()).astype(np.float64), rounding
    wide = in_double(operator)
    rounding = FLOOR * eps(wide.digits)
    if wide.n <= STORED:
        return stored_factor(host(densify(wide)).astype(np.float64), rounding), rounding
    F = pivoted_factor(wide, LOW_RANK, eps(wide.digits))
    if F is None:
        raise UnsupportedError(
            f"target and noise need a factor of K: at most {STORED} candidates, or a numerical "
            f"rank of at most {LOW_RANK}; this is {operator!r}. Choose among fewer points"
        )
    return host(F).astype(np.float64).T, rounding


def _check_size(m: int, n: int) -> None:
    if m * n * 8 > DENSE_MEMORY // 2:
        raise UnsupportedError(
            f"target and noise need the data as an array in memory, and {m} × {n} numbers take "
            f"{m * n * 8 / 2**30:.1f} GiB; choose on fewer rows"
        )


def stored_factor(K: np.ndarray, rounding: float) -> np.ndarray:
    """X with K = XᵀX by a pivoted Cholesky factor of K scaled to a unit diagonal."""
    lengths = np.sqrt(np.maximum(np.diag(K), 0.0))
    scale = np.where(lengths > 0, lengths, 1.0)
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(
        K / np.outer(scale, scale), lower=1, tol=rounding
    )
    X = np.zeros((max(1, rank), len(K)))
    X[:rank, order - 1] = np.tril(factor)[:, :rank].T
    return X * lengths


def _fewer_rows(X: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """X and B in an orthonormal basis of X where that has fewer rows, and ‖B‖² outside of it."""
    if X.shape[0] <= X.shape[1]:
        return X, B, 0.0
    lengths = np.sqrt(np.sum(X * X, axis=0))
    scale = np.where(lengths > 0, lengths, 1.0)
    Q, R = np.linalg.qr(X / scale)
    if B is X:
        return R * scale, R * scale, 0.0
    inside = Q.T @ B
    rest = B - Q @ inside
    more = Q.T @ rest
    rest = rest - Q @ more
    return R * scale, inside + more, float(np.sum(rest * rest))


def _fewer_columns(B: np.ndarray) -> np.ndarray:
    """B, or a square matrix with the same B Bᵀ where B is wide."""
    if B.shape[1] <= B.shape[0]:
        return B
    return scipy.linalg.qr(B.T, mode="r", check_finite=False)[0][: B.shape[0]].T
