"""P̃(t) and K̃(t) of the paper, and the system L_t that their gradients solve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._array import Array, Indices, add_diagonal, namespace, take
from ...operators.base import Operator
from ...operators.dense import Dense
from ...operators.forms import densify
from ...operators.pair import Pair

SMALL = 2000  # up to this order K_+ is stored, since factorising is faster than products


def relaxed_projection(X: Array, t: Array, delta: float) -> Array:
    """P̃(t) = XT [T XᵀX T + δ(I − T²)]⁺ T Xᵀ, stored (Definition 2.1).

    It is the projection onto the chosen columns at every corner of the cube (Lemma 2.2), and
    continuous on the cube (Lemma 2.3).

    Examples
    --------
    >>> from landmarks.methods.relaxation.system import relaxed_projection
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
        evaluates = part.m is None and not part.in_memory and "columns" in part.cheap
        if evaluates and len(self) <= SMALL:
            return Dense(densify(part), ledger=part.ledger)
        return part

    def system(self, t: Array, delta: float) -> System:
        """(L_t)_+ for the weights of the active candidates."""
        noise = self.pair.variances
        return System(
            self.principal, t, delta, None if noise is None else take(noise, self.indices)
        )

    def half_weighed(self, probes: Array) -> Array:
        """Ω^½ times a block with all n rows."""
        omega = self.pair.omega
        return probes if omega is None else probes * omega[:, None] ** 0.5

    def product_active_rows(self, block: Array) -> Array:
        """The active rows of K @ block, for a block with all n rows."""
        return self.operator.matmul(block, rows=None if self.everything else self.indices)

    def product_all_rows(self, block: Array) -> Array:
        """K[:, active] @ block, with all n rows, for a block with the active rows."""
        return self.operator.matmul(block, cols=None if self.everything else self.indices)

    def active_rows(self, block: Array) -> Array:
        """The active rows of a block with all n rows."""
        return block if self.everything else take(block, self.indices)
