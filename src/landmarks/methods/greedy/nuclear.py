"""Nuclear scores: greedy selection with diag C² estimated from one block of probes.

Every pick brings the block up to date. Where only products are known, diag C is estimated from it
too. Fornace and Lindsey, arXiv:2407.01698 (2024).

If there are many columns, picks are made in blocks, so that one pass over the factor of the choice
serves many picks. The scores of a few columns depend only on C and CZ at these columns. So the
scores of the best columns are updated on a small matrix, one pick at a time, as if there were no
others. A block ends when a column outside may be better: its score can hardly have risen since the
block began.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ... import _check
from ..._array import (
    Array,
    Indices,
    Part,
    eps,
    first_argmax,
    host,
    like,
    namespace,
    rank_tolerance,
    root_mean_square,
    take,
)
from ...linalg.probes import Identity, Rademacher
from ...operators.base import Derived, Operator, in_parts, product_seconds
from ...operators.pair import Pair
from ...problem import INCLUDE_EXCLUDE, Choice, Problem, brief
from ...residual.residual import Residual, leading_digits, residual_of
from ...runs.runner import cut_short
from ...runs.state import State
from ..sampling.rpcholesky import RPCholesky, quick_draw
from .greedy import Gains, over_diagonal, pick_best, pursue

LARGE = 4096  # above so many columns, picks are made in blocks
FOLLOWED = 1024  # columns that a block chooses from
WIDTH = 128  # most picks in a block

PRODUCTS = 15  # with a vector, which a block of probes takes as long as


@dataclass(frozen=True)
class NuclearScores:
    """Greedy selection at the cost of one block of products and one column per pick.

    Parameters
    ----------
    n_probes : the number of products in the block. More come closer to greedy selection; with n or
        more it is greedy selection itself.

    Examples
    --------
    >>> K = np.diag([1.0, 3.0, 2.0])
    >>> lm.select(lm.function(lambda V: K @ V, n=3), 2, method=lm.NuclearScores()).indices.tolist()
    [1, 2]
    """

    n_probes: int = 100
    honours: ClassVar[frozenset[str]] = INCLUDE_EXCLUDE
    improves: ClassVar[bool] = True
    __repr__ = brief

    def __post_init__(self) -> None:
        _check.count(self.n_probes, "n_probes", least=2)

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        if not problem.affords(PRODUCTS * product_seconds(problem.operator)):
            cut_short()
            return quick_draw(problem, rng)
        pair = problem.searched
        operator = pair.operator
        if in_parts(operator) is not None:
            return self._in_parts(problem, pair, rng)
        exact = operator.n <= self.n_probes
        Z = (Identity() if exact else Rademacher(self.n_probes)).draw(
            operator.n, rng, operator.like
        )
        KZ, off = leading_digits(operator, Z)
        if exact or "diagonal" in operator.cheap:
            residual = Residual(pair, problem.k)
            gains = ProbedGains(residual, Z, KZ, off)
            in_blocks = operator.n > LARGE and "columns" in operator.cheap
            return pursue(
                problem, residual, gains, "nuclear", pick_block if in_blocks else pick_best
            )
        known = WithDiagonal(operator, estimated_diagonal(Z, KZ))
        residual = Residual(replace(pair, operator=known), problem.k)
        return pursue(problem, residual, ProductGains(residual, Z, KZ), "nuclear")

    def _in_parts(self, problem: Problem, pair: Pair, rng: np.random.Generator) -> Choice:
        """The same picks, with all vectors of length n in parts on the workers of a cluster."""
        residual = residual_of(problem, pair)
        key = Rademacher(self.n_probes).key(rng)
        if not residual.probe(key, self.n_probes, problem.deadline):
            return RPCholesky().choose(problem, rng)  # stopped before there were scores
        choice = pursue(problem, residual, GainsInParts(residual), "nuclear", pick_block)
        residual.forget_probes()
        return choice


class ProbedGains(Gains):
    """(C²)_jj/C_jj with the squares from probes Z: the mean of (CZ)_j².

    size : the root mean square of the entries of CZ when it was computed.
    off : the spread of what they may be off by.
    """

    def __init__(self, residual: Residual, Z: Array, KZ: Array, off: float = 0.0):
        self.residual = residual
        self.Z = Z
        self._take(KZ, off)

    def _take(self, CZ: Array, off: float) -> None:
        """Use a block that was just computed."""
        self.CZ = CZ
        self.size = root_mean_square(CZ)
        self.off = max(off, eps(CZ) * self.size)

    def squares(self) -> Array:
        """The estimate of diag C², less what errors of the product add to it."""
        xp = namespace(self.CZ)
        return xp.clip(xp.mean(self.CZ * self.CZ, axis=1) - self.off**2, min=0.0)

    def scores(self) -> Array:
        """The estimated gain of every column; zero for those already represented."""
        c = self.residual.diagonal
        return over_diagonal(namespace(c).maximum(self.squares(), c * c), self.residual)

    def update(self, v: Array) -> None:
        """CZ after C became C − v vᵀ."""
        self.take_in(v[:, None])

    def take_in(self, V: Array) -> None:
        """CZ after C became C − V Vᵀ; computed again when half of its digits are gone."""
        self.CZ = self.CZ - V @ (V.T @ self.Z)
        left = root_mean_square(self.CZ)
        if left * left < self.off * self.size:
            self._take(self.residual.matmul(self.Z), 0.0)

    def highest(self, allowed: Array, count: int) -> tuple[np.ndarray, float]:
        """The allowed columns of the highest scores, and the highest score of any other."""
        return highest_scores(host(self.scores() * allowed).astype(np.float64), count)

    def rows(self, indices: np.ndarray) -> np.ndarray:
        """The rows of CZ, on the host in float64."""
        return host(take(self.CZ, indices)).astype(np.float64)


class GainsInParts(State):
    """The same scores; CZ is in the parts of the residual, which bring it up to date themselves."""

    def __init__(self, residual: Any):
        self.residual = residual

    def highest(self, allowed: None, count: int) -> tuple[np.ndarray, float]:
        """The columns of the highest scores, and the highest score of any other."""
        return self.residual.highest(count, "scores")

    def rows(self, indices: np.ndarray) -> np.ndarray:
        """The rows of CZ."""
        return self.residual.probed_at(indices)

    def update(self, v: None) -> None:
        """CZ after a pick."""
        self.residual.refresh()

    take_in = update


class ProductGains(Gains):
    """The same where diag C is an estimate too.

    It is kept between a part of its mean and √(C²)_jj, which bounds it.
    """

    def __init__(self, residual: Residual, Z: Array, KZ: Array):
        xp = namespace(KZ)
        self.probed = ProbedGains(residual, Z, KZ)
        self.floor = 0.01 * xp.mean(residual.diagonal)
        self.rounding = rank_tolerance(KZ) * xp.sqrt(xp.max(self.probed.squares()))

    def scores(self) -> Array:
        """The estimated gain of every column; zero for those already represented."""
        A = self.probed.squares()
        xp = namespace(A)
        c = xp.minimum(xp.maximum(self.probed.residual.diagonal, self.floor), xp.sqrt(A))
        left = xp.sqrt(A) > self.rounding
        return xp.where(left, A / xp.where(left, c, xp.ones_like(c)), xp.zeros_like(c))

    def update(self, v: Array) -> None:
        """CZ after C became C − v vᵀ; the row of the pick is zero but for rounding."""
        self.probed.update(v)
        self.probed.CZ[self.probed.residual.picks[-1], :] = 0.0


def estimated_diagonal(Z: Array, KZ: Array) -> Array:
    """diag K̂ of a Nyström approximation by half of the probes, plus the mean that the others see.

    A probe estimate of each single entry is far too noisy: it took greedy quality to that of a
    uniform draw.
    """
    xp, half = namespace(KZ), KZ.shape[1] // 2
    F = sketched_factor(Z[:, :half], KZ[:, :half])
    Z, KZ = Z[:, half:], KZ[:, half:]
    left = xp.mean(Z * (KZ - F @ (F.T @ Z)))
    return xp.sum(F * F, axis=1) + xp.maximum(left, xp.zeros_like(left))


def sketched_factor(Z: Array, KZ: Array) -> Array:
    """F with F Fᵀ = KZ (ZᵀKZ)⁺ (KZ)ᵀ."""
    inner = host(Z.T @ KZ).astype(np.float64)
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    positive = values > rank_tolerance(KZ) * max(values[-1], np.finfo(float).tiny)
    return KZ @ like(vectors[:, positive] / np.sqrt(values[positive]), KZ)


class WithDiagonal(Derived):
    """An operator together with the diagonal that it cannot give."""

    def __init__(self, parent: Operator, diagonal: Array):
        super().__init__(parent, parent.n)
        self.cheap = parent.cheap - {"diagonal"}
        self._diagonal = diagonal

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        return self.parent.matmul(block, rows=rows, cols=cols)

    def diagonal(self) -> Array:
        return self._diagonal

    def columns(self, indices: Indices) -> Array:
        return self.parent.columns(indices)


def pick_block(residual: Any, gains: Any, allowed: Any, limit: int) -> bool:
    """Make up to `limit` picks at once; returns False if no column gains anything.

    residual, gains : in memory, or in parts on the workers of a cluster.
    """
    followed, outside = gains.highest(allowed, FOLLOWED)
    if len(followed) == 0:
        return False
    followed = np.sort(followed)  # the lowest of those that tie comes first
    C = residual.principal(followed)
    floor, CZ = residual.floor_at(followed), gains.rows(followed)
    picks, L = follow(C, CZ, floor, outside, min(limit, WIDTH))
    residual.clear(followed[np.diag(C) <= floor])  # or rounding could propose them for ever
    if len(picks) > 0:
        gains.take_in(residual.pick_block(followed[picks], L))
    return True


def highest_scores(scores: np.ndarray, count: int) -> tuple[np.ndarray, float]:
    """The columns of the highest positive scores, and the highest score of any other."""
    least = max(np.partition(scores, -count - 1)[-count - 1], 0.0) if len(scores) > count else 0.0
    order = np.flatnonzero((scores >= least) & (scores > 0))  # the others need not be in order
    order = order[np.argsort(-scores[order], kind="stable")][: count + 1]
    outside = float(scores[order[count]]) if len(order) > count else 0.0
    return order[:count], outside


def follow(
    C: np.ndarray, CZ: np.ndarray, floor: np.ndarray, outside: float, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Pick by pick on a small C, while the best is at least as good as what is outside.

    Returns the positions of the picks and the Cholesky factor of C at them.
    """
    c, CZ, V = np.diag(C).copy(), CZ.copy(), np.zeros((len(C), limit))
    picks: list[int] = []
    while len(picks) < limit:
        left = c > floor
        squares = np.maximum(np.einsum("ij,ij->i", CZ, CZ) / CZ.shape[1], c * c)
        scores = np.where(left, squares / np.where(left, c, 1.0), 0.0)
        i = first_argmax(scores)
        if scores[i] <= 0 or (picks and scores[i] < outside):
            break
        r = len(picks)
        v = (C[:, i] - V[:, :r] @ V[i, :r]) / np.sqrt(c[i])
        v[picks] = 0.0
        V[:, r] = v
        CZ -= np.multiply.outer(v, CZ[i] / np.sqrt(c[i]))
        c = np.maximum(c - v * v, 0.0)
        c[i] = 0.0
        picks.append(i)
    return np.asarray(picks, dtype=np.int64), np.tril(V[picks, : len(picks)])
