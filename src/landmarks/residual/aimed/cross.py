"""The state of a search for an aim: residuals R of the candidates and T of the target, explicit.

With D the dual vectors of the members (DᵀA_S = I), u_i = D_i/‖D_i‖ is what member i alone explains.
Adding j gains ‖Tᵀr_j‖²/‖r_j‖². Dropping i costs q_i = ‖Bᵀu_i‖². After it r_j becomes r_j + P_ij u_i
and Tᵀr_j becomes Tᵀr_j + P_ij Bᵀu_i, where P_ij = u_iᵀa_j, so that dropping i and adding j gains

    (b_j + 2 c_ij P_ij + q_i P_ij²)/(a_j + P_ij²) − q_i,

a_j = ‖r_j‖², b_j = ‖Tᵀr_j‖², c_ij = r_jᵀT Bᵀu_i: sums of squares and products of residuals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._array import add_outer, add_product
from ...runs.state import State
from ..explicit import independent_basis
from .explicit_aim import Rebuilding

DIGITS = 1e-10  # relative to squared lengths: below it RᵀT is recomputed instead of updated
AGE = 24  # exchanges after which all is recomputed, unless the size is larger
ENTRIES = 2**22  # pairs that are compared at a time


class Swap(NamedTuple):
    """The best exchange: whose place is taken, who takes it, the gain, and the cost of the drop."""

    place: int
    j: int
    gain: float
    cost: float


class Cross(State):
    """Members at places, −1 where a place is vacant, and what they leave of A and B.

    highest, highest_inner : the largest ‖r_j‖² and ‖T‖² since RᵀT was computed last.
    oldest : the age at which all is recomputed, which costs as much as this many exchanges.
    """

    highest: np.ndarray
    highest_inner: float

    def __init__(self, base: Rebuilding, size: int, indices: np.ndarray | None = None):
        self.base, self.size = base, size
        self.floor, self.least = base.floor(size), base.least(size)
        self.noise = 0.0 if base.sigma is None else base.sigma**2
        self.oldest = max(AGE, size)
        self.load(np.zeros(0, dtype=np.int64) if indices is None else indices)

    def copy(self) -> Cross:
        """A state of its own with the same numbers."""
        other = object.__new__(Cross)
        other.__dict__.update(self.__dict__)
        for name in ("members", "chosen_columns", "R", "T", "D", "W", "V", "Z", "highest"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def load(self, indices: np.ndarray) -> None:
        """Start from those of the indices that the ones before them do not represent."""
        base, size = self.base, self.size
        kept = independent_basis(base.members(indices), self.floor[indices])[0]
        indices = indices[kept]
        self.members = np.full(size, -1, dtype=np.int64)
        self.members[: len(indices)] = indices
        extra = 0 if base.sigma is None else size
        self.chosen_columns = np.zeros((len(base.A) + extra, size))
        chosen = base.members(indices)
        self.chosen_columns[: len(chosen), : len(indices)] = chosen
        self.R, self.T = (base.padded(X, size).copy() for X in (base.A, base.B))
        self.D = np.zeros_like(self.chosen_columns)
        self.W, self.V = np.zeros((size, base.n)), np.zeros((size, base.B.shape[1]))
        self.Z = base.products.copy()
        if len(indices):
            self._take_out(len(indices))
        self.age = 0
        self._measure()
        self.highest, self.highest_inner = base.lengths.copy(), base.inside

    def _take_out(self, count: int) -> None:
        """Project the first members out of R and T, and set the quantities that depend on them."""
        chosen = self.chosen_columns[:, :count]
        Q, triangle = scipy.linalg.qr(chosen, mode="economic", check_finite=False)
        of_A, of_B = Q.T @ self.R, Q.T @ self.T
        add_product(self.Z, -of_A.T, of_B)
        for rest, inside in ((self.R, of_A), (self.T, of_B)):
            add_product(rest, -Q, inside)
            add_product(rest, -Q, Q.T @ rest)  # what rounding left of the members
        inverse = scipy.linalg.solve_triangular(triangle, np.eye(count), check_finite=False)
        self.D[:, :count] = Q @ inverse.T
        self.W[:count], self.V[:count] = inverse @ of_A, inverse @ of_B

    @property
    def chosen(self) -> np.ndarray:
        """The members, in the order of their places."""
        return self.members[self.members >= 0]

    @property
    def vacant(self) -> np.ndarray:
        """The free places."""
        return np.flatnonzero(self.members < 0)

    @property
    def error(self) -> float:
        """What the members leave of the target."""
        return self.base.outside + self.inner

    def gains(self) -> np.ndarray:
        """By how much adding each candidate lowers the error; zero where that is rounding."""
        self._keep_digits()
        b = np.einsum("jl,jl->j", self.Z, self.Z)
        gains = np.divide(b, self.a, out=np.zeros_like(b), where=self.a > self.floor)
        return np.where(gains > self.least, gains, 0.0)

    def best_addition(self, allowed: np.ndarray) -> int | None:
        """The allowed candidate of the largest gain, None where nothing is gained."""
        gains = np.where(allowed, self.gains(), 0.0)
        j = int(np.argmax(gains))
        return j if gains[j] > 0 else None

    def best_swap(self, allowed: np.ndarray, places: np.ndarray) -> Swap:
        """The exchange of a member at one of the places that gains most.

        allowed : whether each candidate may take each of the places, a row for each place.
        """
        self._keep_digits()
        b = np.einsum("jl,jl->j", self.Z, self.Z)
        best = Swap(-1, -1, -np.inf, 0.0)
        width = max(1, ENTRIES // self.base.n)
        for start in range(0, len(places), width):
            some = places[start : start + width]
            gains, cost = self._pairs(some, b)
            gains[~allowed[start : start + width]] = -np.inf
            i, j = divmod(int(np.argmax(gains)), self.base.n)
            if gains[i, j] > best.gain:
                best = Swap(int(some[i]), j, float(gains[i, j]), float(cost[i]))
        return best

    def pair_gains(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gain of every exchange of a member at a place, and what dropping each costs."""
        self._keep_digits()
        return self._pairs(places, np.einsum("jl,jl->j", self.Z, self.Z))

    def _pairs(self, places: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g = np.sum(self.D[:, places] ** 2, axis=0)[:, None]
        P = self.W[places] / np.sqrt(g)
        reach = self.V[places] / np.sqrt(g)  # Bᵀu_i
        q = np.sum(reach * reach, axis=1)[:, None]
        worth = reach @ self.Z.T  # c_ij, then the numerator; in place, as these are large
        worth *= 2
        worth *= P
        worth += b
        P *= P
        length = P + self.a
        P *= q
        worth += P
        np.divide(worth, length, out=worth, where=length > self.floor)
        worth[length <= self.floor] = 0.0
        worth -= q
        return worth, q[:, 0]

    def add(self, j: int, place: int) -> None:
        """Candidate j takes a free place."""
        self.chosen_columns[: len(self.base.A), place] = self.base.A[:, j]
        q = self.R[:, j].copy()
        if self.base.sigma is not None:
            self.chosen_columns[len(self.base.A) + place, place] = self.base.sigma[j]
            q[len(self.base.A) + place] += self.base.sigma[j]
        length = np.sqrt(self.a[j])
        q = self._orthogonal(q / np.sqrt(q @ q), place)
        v, t = q @ self.R, q @ self.T
        add_outer(self.R, -q, v)
        add_outer(self.T, -q, t)
        add_outer(self.Z, -v, t)
        w = self.W[:, j].copy()
        w[place] = 0.0
        new, new_row, new_reach = q / length, v / length, t / length
        add_outer(self.D, -new, w)
        add_outer(self.W, -w, new_row)
        add_outer(self.V, -w, new_reach)
        self.D[:, place], self.W[place], self.V[place] = new, new_row, new_reach
        self.members[place] = j
        self._changed()

    def drop(self, place: int) -> int:
        """The member at a place leaves; returns who it was."""
        j = int(self.members[place])
        norm = np.sqrt(self.D[:, place] @ self.D[:, place])
        u, p, reach = self.D[:, place] / norm, self.W[place] / norm, self.V[place] / norm
        add_outer(self.R, u, p)
        add_outer(self.T, u, reach)
        add_outer(self.Z, p, reach)
        w = u @ self.D
        add_outer(self.D, -u, w)
        add_outer(self.W, -w, p)
        add_outer(self.V, -w, reach)
        for rows in (self.D.T, self.W, self.V, self.chosen_columns.T):
            rows[place] = 0.0
        if self.base.sigma is not None:  # the row of its noise is free again
            for rows in (self.R, self.T, self.D):
                rows[len(self.base.A) + place] = 0.0
        self.members[place] = -1
        self._changed()
        return j

    def _orthogonal(self, q: np.ndarray, place: int) -> np.ndarray:
        """q without what rounding left of the members in it; the new one is not among them yet."""
        weights = self.D.T @ q
        weights[place] = 0.0
        q = q - self.chosen_columns @ weights
        return q / np.sqrt(q @ q)

    def _changed(self) -> None:
        self.age += 1
        self._measure()
        self.highest = np.maximum(self.highest, self.a)
        self.highest_inner = max(self.highest_inner, self.inner)

    def _measure(self) -> None:
        self.a = np.einsum("ij,ij->j", self.R, self.R) + self.noise
        self.inner = float(np.einsum("ij,ij->", self.T, self.T))

    def _keep_digits(self) -> None:
        """Compute RᵀT again where its entries are small compared with what was subtracted."""
        left = self.a > self.floor
        known = self.highest[left] * self.highest_inner
        if np.any(self.a[left] * self.inner < DIGITS * known):
            self.Z = self.R.T @ self.T
            self.highest, self.highest_inner = self.a.copy(), self.inner
