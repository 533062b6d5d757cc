"""Candidates and what they must rebuild as explicit columns, and the error of a choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg

from ..explicit import independent_basis


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

    @cached_property
    def products(self) -> np.ndarray:
        """AᵀB."""
        return self.A.T @ self.B

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
