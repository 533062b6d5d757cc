"""Candidates A and what they must rebuild, B, as explicit columns, and bounds from eigenvalues.

With P the projection on k chosen columns, ‖PB‖² is the trace of P (P_A B Bᵀ P_A) P, since these lie
in the range of A; a projection of rank k takes at most the k largest eigenvalues (Ky Fan). So
E(S) ≥ ‖(I − P_A)B‖² + the sum of the other eigenvalues of P_A B Bᵀ P_A.

Rows beyond the number of candidates are rotated away. What of B lies outside the range of A is then
one number: no choice changes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg

from .._array import cholesky, eps, host, represented, rounded_before
from .._remembered import Remembered
from ..errors import UnsupportedError
from ..operators.base import DENSE_MEMORY
from ..operators.forms import LOW_RANK, densify, in_double
from ..operators.pair import Pair
from ..operators.pivoted_factor import FLOOR, lapack_pivots, pivoted_factor
from .dependence import has_rank

COMPLETE = 5000  # largest order of a kernel or stored matrix that is factorised completely
FULL = 3000  # rows up to which the range of the candidates is computed; beyond, it may be all
STEPS = 60  # most steps of the weights of a design
WORK = 2e10  # most multiplications of the steps
ENOUGH = 5  # fewer steps than this are not worth starting
SURE = 1e-10  # an angle by which a bound hardly changes
GAP = 1e-3  # relative to the error: if the bound is this close to f(w), stop raising it
LEAST = 1e-290  # gains whose sum is less are as good as none


@dataclass(frozen=True, eq=False)
class Rebuilding:
    """Candidates A (r × n), what they must rebuild, B (r × p), and the noise of each candidate.

    outside : ‖B‖² of what no candidate can rebuild, which B here does not hold.
    sigma : the standard deviations of the noise, or None. A chosen candidate has a row of its own
        with its sigma in it, so that one chosen twice has two.
    rounding : the part of a squared length that was rounding already when A was made.
    exact : columns whose dependence, as exact numbers, is that of the candidates.
    """

    A: np.ndarray
    B: np.ndarray
    outside: float
    sigma: np.ndarray | None
    rounding: float
    exact: np.ndarray

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
        return replace(self, A=self.A[:, kept], sigma=sigma, exact=self.exact[:, kept])

    @cached_property
    def angle(self) -> float:
        """By how much rounding may have turned the range of the candidates; at most 1.

        What is left of a candidate by the others is right to the rounding of its length. If they
        are dependent as exact numbers, only the independent ones count. With noise a candidate has
        its sigma beside it, which the others leave.
        """
        columns = self.A
        if self.sigma is not None and np.all(self.sigma > 0):
            least = float(np.min(self.sigma / np.sqrt(self.lengths)))
            if represented(self.n) <= SURE * least:
                return represented(self.n) / least
            columns = self.members(np.arange(self.n))
        shares = np.abs(np.diag(pivoted(columns)[1]))
        rank = int(np.sum(shares > represented(self.n)))
        noisy = columns is not self.A
        if rank < min(len(shares), self.n) and (noisy or not has_rank(self.exact, rank)):
            return 1.0
        return min(1.0, represented(self.n) / float(shares[rank - 1])) if rank else 0.0

    def floor(self, k: int) -> np.ndarray:
        """The squared length up to which the residual of each candidate is rounding."""
        return max(represented(k) ** 2, self.rounding) * self.lengths

    def members(self, indices: np.ndarray) -> np.ndarray:
        """The chosen columns, each with its noise in a row of its own."""
        chosen = self.A[:, indices]
        if self.sigma is None:
            return chosen
        return np.vstack([chosen, np.diag(self.sigma[indices])])

    def left(self, indices: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """What the chosen columns leave of some columns of A or B."""
        Q = orthonormal(self.members(indices), represented(len(indices)))
        rest = columns
        if self.sigma is not None:
            rest = np.vstack([columns, np.zeros((len(indices), columns.shape[1]))])
        for _ in range(2):  # once more: the first product leaves the rounding of what was large
            rest = rest - Q @ (Q.T @ rest)
        return rest

    def variances(self, indices: np.ndarray) -> np.ndarray:
        """What the chosen leave of each candidate: its posterior variance, before its own noise."""
        rest = self.left(np.asarray(indices), self.A)
        return np.sum(rest * rest, axis=0)


def pivoted(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Q and R of the columns scaled to length one, the longest remainder first, and their order."""
    lengths = np.sqrt(np.sum(columns * columns, axis=0))
    scaled = columns / np.where(lengths > 0, lengths, 1.0)
    return scipy.linalg.qr(scaled, mode="economic", pivoting=True, check_finite=False)


def orthonormal(columns: np.ndarray, tolerance: float) -> np.ndarray:
    """An orthonormal basis of columns; each counts by what is left of its own length."""
    Q, R, _ = pivoted(columns)
    return Q[:, : int(np.sum(np.abs(np.diag(R)) > tolerance))]


def independent_basis(
    X: np.ndarray, floor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The columns that those before them do not represent: positions, and the factors Q T.

    floor : the squared length up to which the residual of each column is rounding.
    """
    Q, T = scipy.linalg.qr(X, mode="economic", check_finite=False)
    if X.shape[1] <= X.shape[0] and np.all(np.diag(T) ** 2 > floor):
        return np.arange(X.shape[1]), Q, T
    kept = list[int]()
    basis = np.zeros((X.shape[0], 0))
    for j in range(X.shape[1]):
        r = X[:, j] - basis @ (basis.T @ X[:, j])
        r = r - basis @ (basis.T @ r)
        if r @ r > floor[j]:
            kept.append(j)
            basis = np.column_stack([basis, r / np.sqrt(r @ r)])
    chosen = np.asarray(kept, dtype=np.int64)
    return chosen, basis, np.triu(basis.T @ X[:, chosen])


_made: Remembered[Pair, Rebuilding] = Remembered()


def rebuilding(pair: Pair) -> Rebuilding:
    """The explicit columns of a pair; made once."""
    if pair not in _made:
        X, rounding, exact = factor_of(pair)
        n, weights = pair.n, pair.weights
        A, counted = X[:, :n], X
        if weights is not None:
            used = np.flatnonzero(weights)
            counted = X[:, used] * np.sqrt(weights[used])
        A, B, outside = fewer_rows(A, counted, same=weights is None)
        sigma = None if pair.noise is None else np.sqrt(pair.noise[:n])
        if B.shape[1] > B.shape[0]:  # a square matrix with the same B Bᵀ
            B = scipy.linalg.qr(B.T, mode="r", check_finite=False)[0][: B.shape[0]].T
        _made[pair] = Rebuilding(A, B, outside, sigma, rounding, exact[:, :n])
    return _made[pair]


def factor_of(pair: Pair) -> tuple[np.ndarray, float, np.ndarray]:
    """X with K = XᵀX in float64, the relative rounding of its squared lengths, and exact columns.

    The dependence of these is that of the columns of X before they were rounded.
    """
    operator = pair.operator
    if operator.m is not None:
        if operator.m * operator.n * 8 > DENSE_MEMORY // 2:
            raise UnsupportedError(
                "this bound or estimate needs the data as an array in memory, and "
                f"{operator.m} × {operator.n} numbers take "
                f"{operator.m * operator.n * 8 / 2**30:.1f} GiB; choose on fewer rows"
            )
        operator.ledger.add(entries=operator.m * operator.n)
        rounding = rounded_before(operator.like) ** 2
        X = host(operator.factor()).astype(np.float64, order="C")  # no layout changes a bit
        return X, rounding, X
    promoted = in_double(operator)
    rounding = FLOOR * eps(promoted.digits)
    if promoted.n <= COMPLETE:
        K = host(densify(promoted)).astype(np.float64)
        return stored_factor(K, rounding), rounding, K
    F = pivoted_factor(promoted, LOW_RANK, eps(promoted.digits))
    if F is None:
        raise UnsupportedError(
            f"this bound or estimate needs a factor of K: at most {COMPLETE} candidates, or a "
            f"numerical rank of at most {LOW_RANK}; this is {operator!r}. Choose among fewer points"
        )
    X = host(F).astype(np.float64).T
    return X, rounding, X


def stored_factor(K: np.ndarray, rounding: float) -> np.ndarray:
    """X with K = XᵀX by a pivoted Cholesky factor of K scaled to a unit diagonal."""
    lengths = np.sqrt(np.maximum(np.diag(K), 0.0))
    scale = np.where(lengths > 0, lengths, 1.0)
    L, order = lapack_pivots(K / np.outer(scale, scale), rounding)
    X = np.zeros((max(1, L.shape[1]), len(K)))
    X[: L.shape[1], order] = L.T
    return X * lengths


def fewer_rows(X: np.ndarray, B: np.ndarray, *, same: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """X and B in an orthonormal basis of X where that has fewer rows, and ‖B‖² outside of it.

    same : whether B is X.
    """
    if X.shape[0] <= X.shape[1]:
        return X, B, 0.0
    lengths = np.sqrt(np.sum(X * X, axis=0))
    scale = np.where(lengths > 0, lengths, 1.0)
    Q, R = np.linalg.qr(X / scale)
    if same:
        return R * scale, R * scale, 0.0
    inside = Q.T @ B
    rest = B - Q @ inside
    more = Q.T @ rest
    rest = rest - Q @ more
    return R * scale, inside + more, float(np.sum(rest * rest))


def best_directions(pair: Pair, k: int, exclude: tuple[int, ...], depth: int) -> float:
    """The error of the best k directions in the range of the candidates."""
    base = rebuilding(pair).without(exclude)
    if depth == 2:
        return fourth_powers(pair, k)
    return least_error(base, k, pair.repeats)


def fourth_powers(pair: Pair, k: int) -> float:
    """Σ σ_i⁴ of B beyond k: ‖Bᵀ(I − P)B‖² is at least that for every projection of rank k."""
    values = scipy.linalg.svdvals(weighted_factor(pair), check_finite=False)
    return float(np.sum(values[k:] ** 4))


def weighted_factor(pair: Pair) -> np.ndarray:
    """XΩ^½, the columns to be rebuilt with what no candidate reaches."""
    X = factor_of(pair)[0]
    return X if pair.weights is None else X * np.sqrt(pair.weights)


def least_error(base: Rebuilding, k: int, repeats: bool) -> float:
    """The error of the best k directions in the range of the candidates, for the trace."""
    inside, missed = reached(base, k, repeats)
    values = scipy.linalg.svdvals(inside, check_finite=False) if inside.size else np.zeros(0)
    return base.outside + missed + float(np.sum(values[k:] ** 2))


def safe_bound(pair: Pair, k: int, exclude: tuple[int, ...], depth: int) -> float:
    """A bound that holds: the same less what rounding may have added, or that of a design.

    0 where the columns cannot be had explicitly.
    """
    try:
        base = rebuilding(pair).without(exclude)
    except UnsupportedError:
        return 0.0
    doubt = 8 * (sum(base.A.shape) + base.B.shape[1] + 8) * 2.0**-53 * math.sqrt(base.total)
    doubt += math.sqrt(base.rounding * base.total)
    if depth == 2:
        return max(0.0, fourth_powers(pair, k) ** 0.25 - doubt) ** 4
    turned = doubt + base.angle * math.sqrt(base.total)
    tail = max(0.0, math.sqrt(least_error(base, k, pair.repeats)) - turned) ** 2
    if tail > 0 and base.angle <= SURE:
        return max(tail, design_bound(base, k, pair.repeats))
    values = scipy.linalg.svdvals(weighted_factor(pair), check_finite=False)
    plain = max(0.0, math.sqrt(float(np.sum(values[k:] ** 2))) - doubt) ** 2
    return max(tail, plain, design_bound(base, k, pair.repeats))


def reached(base: Rebuilding, k: int, repeats: bool) -> tuple[np.ndarray, float]:
    """P_A B up to a rotation, and ‖B − P_A B‖² as a sum of squares."""
    if base.sigma is not None and np.all(base.sigma > 0):
        if not repeats:
            return _measured(base)
        # where a column may come k times, N of k columns is at most k times the largest of one
        scaled = base.A / base.sigma
        most = k * float(np.max(np.sum(scaled * scaled, axis=0)))
        return math.sqrt(most / (1 + most)) * base.B, base.inside / (1 + most)
    if base.sigma is not None or len(base.A) > FULL:
        return base.B, 0.0
    # a basis that holds the range of the candidates: a direction is left out only if they are
    # dependent as exact numbers, since a choice can use one that rounding hides
    Q, R, _ = pivoted(base.A)
    rank = int(np.sum(np.abs(np.diag(R)) > represented(base.n)))
    Q = Q[:, :rank] if rank < Q.shape[1] and has_rank(base.exact, rank) else Q
    inside = Q.T @ base.B
    rest = base.B - Q @ inside
    rest = rest - Q @ (Q.T @ rest)
    return inside, float(np.sum(rest * rest))


def _measured(base: Rebuilding) -> tuple[np.ndarray, float]:
    """With noise A = [X; diag σ] and B = [B; 0].

    The Gram matrix of P_A B is Bᵀ N(I + N)⁻¹ B with N = X diag(σ)⁻² Xᵀ.
    """
    U, s, _ = scipy.linalg.svd(base.A / base.sigma, full_matrices=False, check_finite=False)
    inside = U.T @ base.B
    lost = inside / np.sqrt(1 + s * s)[:, None]
    rest = base.B - U @ inside
    missed = float(np.sum(lost * lost) + np.sum(rest * rest))
    return inside * (s / np.sqrt(1 + s * s))[:, None], missed


def design_bound(base: Rebuilding, k: int, repeats: bool) -> float:
    """What no choice of k measurements can go below; 0 where it would cost too much.

    A bound by convex design: weights instead of a choice. With M(w) = I + Σ w_j x_j x_jᵀ/σ_j² the
    error is f(w) = tr Bᵀ M(w)⁻¹ B at the weights 0 and 1 of a choice (Woodbury), and f is convex.
    So every w with the gains g_j = ‖BᵀM⁻¹x_j‖²/σ_j² bounds every choice: f(v) ≥ f(w) + Σ g_j w_j
    − the k largest g_j, or k times the largest where places may repeat (Pukelsheim, Optimal Design
    of Experiments, 1993). The weights are raised where the gains are large.
    """
    if base.sigma is None or np.any(base.sigma == 0) or (base.n < k and not repeats):
        return 0.0
    r, p = base.B.shape
    steps = int(min(STEPS, WORK / (base.n * r * (r + p) + r**3)))
    if steps < ENOUGH:
        return 0.0
    Y, w, best = base.A / base.sigma, np.full(base.n, k / base.n), 0.0
    for _ in range(steps):
        found = _values(Y, base.B, w)
        if found is None:
            break
        error, gains, doubt = found
        largest = k * gains.max() if repeats else np.sum(np.sort(gains)[-k:])
        bound = error + float(gains @ w) - float(largest) - doubt
        best = max(best, bound)
        if bound >= error * (1 - GAP):
            break
        w = _weights(w * np.sqrt(gains), k, np.inf if repeats else 1.0)
    return base.outside + best if best > 0 else 0.0


def _values(Y: np.ndarray, B: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray, float] | None:
    """f(w), the gains, and by how much rounding may have moved the bound; None if it hides M."""
    used = w > 0
    M = np.eye(len(Y)) + (Y[:, used] * w[used]) @ Y[:, used].T
    L = cholesky(M)
    if L is None:
        return None
    half = scipy.linalg.solve_triangular(L, B, lower=True, check_finite=False)
    solved = scipy.linalg.solve_triangular(L, half, lower=True, trans="T", check_finite=False)
    gains = np.sum((solved.T @ Y) ** 2, axis=0)
    error = float(np.sum(half * half))
    spread = float(np.trace(M))  # at least the condition of M, whose smallest eigenvalue is 1
    doubt = 64 * np.finfo(np.float64).eps * spread * (error + float(gains @ w))
    return error, gains, doubt


def _weights(raised: np.ndarray, k: int, most: float) -> np.ndarray:
    """The raised weights times a factor, cut at the most, so that they add up to k."""
    order = np.argsort(-raised, kind="stable")
    left = np.cumsum(raised[order[::-1]])[::-1]
    for full in range(len(order)):  # so many are at the most
        rest = k - full * most if full else k
        if left[full] <= LEAST:  # the others gain nothing: they share the rest
            w = np.full(len(order), min(most, rest / (len(order) - full)))
            w[order[:full]] = most
            return w
        factor = rest / left[full]
        if factor * raised[order[full]] <= most:
            return np.minimum(raised * factor, most)
    return np.full(len(order), float(most))
