"""Errors of a selection by formulas that cannot turn negative, and the best rank-k error.

From a Gram matrix, an error is accurate only to the rounding of the total. If that is not enough,
one more pass over the rows gives X − X_S B without cancellation. The coefficients B may be as
inaccurate as the Gram matrix, because the residual depends on their error only to second order.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy
import scipy.linalg

from .. import _check
from .._array import (
    Array,
    Indices,
    eps,
    host,
    is_single,
    like,
    namespace,
    on_gpu,
    represented,
    rounded_before,
    take,
)
from .._remembered import Remembered
from ..errors import NotPSDError
from ..operators.base import (
    MEMORY,
    Operator,
    block_width,
    blocks,
    in_parts,
    itemsize,
    remade_in_double,
    source_of,
)
from ..operators.dense import Dense
from ..operators.forms import densify, in_double
from ..operators.out_of_core import ByRows
from ..operators.pair import Pair
from ..operators.pivoted_factor import check_semidefinite, rounding_slack
from ..operators.sources import RowBlocks, pass_height, tile_height, tiles
from ..operators.sums import Sum, Summation, added
from .nystrom import factor_rows, nystrom_factor, pivoted_cholesky, residual_in_parts
from .probes import Rademacher
from .rebuilding import orthonormal

# shares of the total error above which a Gram matrix knows about nine digits of an error, by depth
BELOW = {1: 1e-6, 2: 1e-12}
FULL_SPECTRUM = 3000  # up to this order all eigenvalues are computed, above only the leading ones
MOST_BLOCKS = 24  # of the block Lanczos method, which ends when the tail has six digits
DOUBLED = 20_000  # up to this many columns, float32 matrices get leading eigenvalues in float64

_spectra: Remembered[Operator, np.ndarray] = Remembered()
_tails: Remembered[Operator, dict[tuple[int, int], float]] = Remembered()


def selection_error(pair: Pair, indices: Indices, depth: int) -> float:
    """The error of a choice: Σ ω_j C_jj, or ‖Ω^½CΩ^½‖²_F for depth 2."""
    operator = pair.operator
    pair, indices = averaged(pair, indices)
    if operator.m is not None:
        parts = residual_blocks(pair, indices)
        if depth == 1:
            return sum(_sum_of_squares(E) for E in parts)
        listed = list(parts)
        E = namespace(listed[0]).concat(listed, axis=1)
        return _sum_of_squares(E @ E.T if E.shape[0] < E.shape[1] else E.T @ E)
    if in_parts(operator) is not None and pair.standard:
        residual = residual_in_parts(operator, indices)
        return residual.trace if depth == 1 else residual.squared_norm()
    if depth == 1:
        diagonal, left = operator.diagonal(), np.zeros(operator.n)
        for rows, F in factor_rows(operator, indices, pair.noise):
            left[rows] = host(diagonal[rows] - namespace(F).sum(F * F, axis=1))
        check_semidefinite(left, host(diagonal))
        return pair.total(np.maximum(left, 0.0))
    F = nystrom_factor(operator, indices, pair.noise)
    return squared_residual(pair, F, block_width(operator))


def averaged(pair: Pair, indices: Indices) -> tuple[Pair, np.ndarray]:
    """Each candidate once: r measurements of it are worth one with the variance ν/r.

    Two columns that differ by little but their noise would cost the digits of their difference.
    """
    listed = np.asarray(indices, dtype=np.int64)
    once, counts = np.unique(listed, return_counts=True)
    if pair.noise is None or len(once) == len(listed):
        return pair, listed
    noise = pair.noise.copy()
    noise[once] /= counts
    return replace(pair, noise=noise), once


def exact_error(operator: Operator, indices: Indices, depth: int) -> float:
    """The same, by another pass over the rows if the rounding of their Gram matrix hides it."""
    pair = Pair(operator, operator.n)
    error = selection_error(pair, indices, depth)
    source = source_of(operator)
    if source is None or error > BELOW[depth] * total(pair, depth):
        return error
    # the chosen columns up to the numerical rank, and the coefficients B of all columns in them
    indices = np.asarray(indices)
    columns = operator.columns(indices)
    pivots = pivoted_cholesky(columns[indices])
    B = scipy.linalg.cho_solve((pivots.L, True), columns[:, pivots.order].T)
    height = tile_height(operator.n)
    if isinstance(operator, ByRows):
        height = pass_height(operator.n, operator.pass_memory)
    residuals = _residuals(source, height, indices[pivots.order], B)
    if not isinstance(operator, Dense):
        return float(sum(np.vdot(E, E) for E in residuals)) if depth == 1 else error
    summed: Sum | None = None
    for E in residuals:
        summed = added(summed, Summation().block(E), in_place=True)
    moments, power = Summation().moments(summed, operator.n)
    C = _check.scaled(moments.scatter, -2 * power)
    # those beyond the rank are left out of B; what is left of the other columns is rounding
    beyond = np.delete(indices, pivots.order)
    beyond = beyond[np.diag(C)[beyond] > 1e-24 * operator.diagonal()[beyond]]
    left = Pair(Dense(C), operator.n)
    return selection_error(left, beyond, depth) if len(beyond) else total(left, depth)


def _residuals(
    source: RowBlocks, height: int, used: np.ndarray, B: np.ndarray
) -> Iterator[np.ndarray]:
    """X − X_S B in tiles of rows."""
    for _, X in tiles(source, height):
        E = X - X[:, used] @ B
        E[:, used] = 0.0
        yield E


def squared_residual(pair: Pair, F: Array, width: int) -> float:
    """‖Ω^½CΩ^½‖²_F of C = K − F Fᵀ, in blocks of columns; entries below the diagonal count twice.

    width : the most columns of a block.
    """
    found, n = 0.0, pair.operator.n
    for block in blocks(n, min(width, max(64, n // 16))):
        first, end = int(block[0]), len(block)
        below = F[first:, :]
        C = pair.operator.columns(block)[first:, :] - below @ below[:end, :].T
        if pair.omega is not None:
            root = pair.omega**0.5
            C = C * root[first:, None] * take(root, block)[None, :]
        found += 2 * _sum_of_squares(C) - _sum_of_squares(C[:end, :])
    return found


def _sum_of_squares(block: Array) -> float:
    xp = namespace(block)
    return float(np.sum(host(xp.sum(block * block, axis=0)).astype(np.float64)))


def total(pair: Pair, depth: int) -> float:
    """The error of choosing nothing: Σ ω_j K_jj, or ‖Ω^½KΩ^½‖²_F."""
    operator = pair.operator
    parts = in_parts(operator)
    if parts is not None and pair.standard:
        return parts.trace() if depth == 1 else parts.squared_norm()
    if depth == 1:
        return pair.total(operator.diagonal())
    if operator.m is not None and operator.m < operator.n:
        X = operator.factor()
        X = X if pair.omega is None else X * pair.omega[None, :] ** 0.5
        return _sum_of_squares(X @ X.T)
    if pair.weights is not None:
        return pair.total(pair.diagonals(1)[1])
    return sum(
        _sum_of_squares(operator.columns(block))
        for block in blocks(operator.n, block_width(operator))
    )


def spectrum_is_cheap(operator: Operator) -> bool:
    """Whether all eigenvalues of K are computed, and so the best directions of every number."""
    return min(operator.n, operator.m or operator.n) <= FULL_SPECTRUM


def best_rank_error(operator: Operator, k: int, depth: int) -> float:
    """The error of the best rank-k approximation: a lower bound for every choice of k columns."""
    if spectrum_is_cheap(operator):
        return float(np.sum(spectrum(operator)[k:] ** depth))
    return _leading_tail(operator, k, depth)


def rank_bound(operator: Operator, k: int, depth: int) -> float:
    """The best rank-k error less what rounding may have added to it: a rigorous lower bound."""
    if not spectrum_is_cheap(operator):
        if is_single(operator.like) and operator.n <= DOUBLED:
            operator = remade_in_double(operator) or operator
        rounding = 8 * math.sqrt(operator.n) * eps(operator.digits)
        doubt = rounding * total(Pair(operator, operator.n), depth)
        return max(0.0, _leading_tail(operator, k, depth) - doubt)
    values = spectrum(operator)
    tail = float(np.sum(values[k:] ** depth))
    if operator.m is None:  # the Schatten norm of the error of K bounds that of its eigenvalues
        doubt = _rounding(operator) * float(values[0]) * operator.n ** (1 / depth)
        return max(0.0, tail ** (1 / depth) - doubt) ** depth
    doubt = _rounding(operator) * math.sqrt(float(np.sum(values)))
    return max(0.0, tail ** (0.5 / depth) - doubt) ** (2 * depth)


def _rounding(operator: Operator) -> float:
    """The relative error of eigenvalues in float64, and of the entries if they were in float32."""
    rounding = 8 * (operator.n + (operator.m or 0) + 8) * 2.0**-53
    if operator.m is None and is_single(in_double(operator).digits):
        rounding += 4 * math.sqrt(operator.n) * eps(operator.digits)
    return rounding


def spectrum(operator: Operator) -> np.ndarray:
    """All eigenvalues of K, largest first, without what is below zero by rounding."""
    if operator in _spectra:
        return _spectra[operator]
    promoted = in_double(operator)
    if promoted.m is not None:
        X = host(promoted.factor()).astype(np.float64)
        values = scipy.linalg.svdvals(X, check_finite=False) ** 2
    else:
        K = host(densify(promoted)).astype(np.float64)
        values = scipy.linalg.eigvalsh(K, check_finite=False)[::-1]
        slack = rounding_slack(promoted.digits) * promoted.n**0.5
        if values[-1] < -slack * float(np.max(np.diagonal(K))):
            raise NotPSDError(
                "K must be positive semidefinite, but its eigenvalues are from "
                f"{np.ldexp(values[-1], promoted.exponent):.3g} to "
                f"{np.ldexp(values[0], promoted.exponent):.3g}, so there is no lower bound; clip "
                "the negative ones"
            )
    _spectra[operator] = np.maximum(values, 0.0)
    return _spectra[operator]


def _leading_tail(operator: Operator, k: int, depth: int) -> float:
    """The error beyond k leading eigenvalues, from below; remembered."""
    known = _tails.setdefault(operator, {})
    if (k, depth) not in known:
        known[k, depth] = _tail_by_blocks(operator, k, depth)
    return known[k, depth]


def _tail_by_blocks(operator: Operator, k: int, depth: int) -> float:
    """The tail by the block Lanczos method, with all blocks orthogonal to one another.

    A kernel is evaluated some six times, once for each block; a method with single vectors
    evaluates it more than 2k times. With the eigenvalues λ of QᵀKQ and the singular values σ of
    (I − QQᵀ)KQV for its k leading eigenvectors V, the leading eigenvalues of K are at most λ + σ,
    in sums, if those of K between the columns outside Q are smaller.
    """
    n, whole = operator.n, total(Pair(operator, operator.n), depth)
    width, least = k + max(8, k // 8), 0.0
    parts = in_parts(operator)
    held = Vectors(operator) if parts is None or parts.vectors_here else parts.vectors()
    block, Q, T = held.start(width), [], np.empty((0, 0))
    for count in range(1, MOST_BLOCKS + 1):
        if count * width > n:
            return float(np.sum(spectrum(operator)[k:] ** depth)) if held.here else least
        following = held.product(block)
        Q.append(block)
        S, new = np.eye(width), held.inside(Q, following)
        T = np.block([[T, new[:-width]], [new[:-width].T, new[-width:]]])
        values, V = scipy.linalg.eigh((T + T.T) / 2, subset_by_index=(len(T) - k, len(T) - 1))
        for _ in range(2):  # twice: what is left after one may be rounding, which is not orthogonal
            following, R = held.outside(Q, following, held.inside(Q, following))
            S = R @ S
        block, sigma = following, scipy.linalg.svdvals(S @ V[-width:])
        near = whole - float(np.sum(np.maximum(values, 0.0) ** depth))
        raised = np.maximum(values[::-1], 0.0) + sigma
        least = max(0.0, whole - float(np.sum(raised**depth)))
        if near - least <= max(1e-6 * near, 8 * eps(operator.digits) * whole):
            break
    return least


class Vectors:
    """Blocks of vectors of length n, and what the block Lanczos method does with them."""

    here = True  # on this machine

    def __init__(self, operator: Operator):
        self.operator = operator

    def start(self, width: int) -> np.ndarray:
        """An orthonormal block in random directions."""
        block = np.random.default_rng(0).standard_normal((self.operator.n, width))
        return np.linalg.qr(block)[0]

    def product(self, block: np.ndarray) -> np.ndarray:
        """K times a block."""
        return host(self.operator.matmul(like(block, self.operator.like))).astype(np.float64)

    def inside(self, Q: list[np.ndarray], block: np.ndarray) -> np.ndarray:
        """Qᵀ block, of all blocks of Q."""
        return np.concatenate([part.T @ block for part in Q])

    def outside(
        self, Q: list[np.ndarray], block: np.ndarray, M: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The QR factors of block − QM."""
        for part, rows in zip(Q, np.split(M, len(Q)), strict=True):
            block = block - part @ rows
        return np.linalg.qr(block)


def basis(pair: Pair, indices: np.ndarray) -> Array:
    """An orthonormal basis Q of the chosen columns of X, of their numerical rank (pivoted QR).

    With noise each has its σ in a row of its own. A column counts as represented when what is left
    of it is the rounding of its own length: searches decide by the same rule.
    """
    operator = pair.operator
    chosen = host(operator.factor(indices)).astype(np.float64)
    if pair.noise is not None:
        chosen = np.vstack([chosen, np.diag(np.sqrt(pair.noise[indices]))])
    tolerance = max(represented(len(indices)), rounded_before(operator.like))
    return like(orthonormal(chosen, tolerance), operator.like)


def residual_blocks(pair: Pair, indices: Indices) -> Iterator[Array]:
    """(X − QQᵀX) Ω^½ in blocks of columns: what the chosen columns leave of X (Section 2.1)."""
    operator, indices = pair.operator, np.asarray(indices, dtype=np.int64)
    Q, card = basis(pair, indices), on_gpu(operator.like)
    Q = Q if card else host(Q)  # on the CPU in NumPy and in C order: no layout changes a bit
    xp, m = namespace(Q), operator.m or 1
    width = max(1, MEMORY // 4 // (m * itemsize(operator.like)))
    counted = np.arange(operator.n) if pair.weights is None else np.flatnonzero(pair.weights)
    for block in blocks(len(counted), width):
        X = operator.factor(counted[block])
        X = X if card else np.ascontiguousarray(host(X))
        if pair.weights is not None:
            X = X * like(np.sqrt(pair.weights[counted[block]]), X)[None, :]
        inside = Q[:m, :].T @ X
        E = X - Q[:m, :] @ inside
        yield E if pair.noise is None else xp.concat([E, Q[m:, :] @ inside])


@dataclass(frozen=True)
class Estimate:
    """A value with a 95 % confidence interval, from the given number of independent probes."""

    value: float
    low: float
    high: float
    n_probes: int


def estimated_error(
    operator: Operator, indices: Indices, depth: int, *, n_probes: int = 32, seed: int = 0
) -> Estimate:
    """tr C as the mean of zᵀCz, or ‖C‖²_F as that of ‖Cz‖², over random signs z."""
    probes, rng = Rademacher(n_probes), np.random.default_rng(seed)
    if in_parts(operator) is not None:
        samples = residual_in_parts(operator, indices).samples(probes.key(rng), n_probes, depth)
    else:
        F = nystrom_factor(operator, indices)
        Z = probes.draw(operator.n, rng, operator.like)
        CZ = operator.matmul(Z) - F @ (F.T @ Z)
        samples = np.sum(host(CZ * (Z if depth == 1 else CZ)).astype(np.float64), axis=0)
    value = float(np.mean(samples))
    spread = 1.96 * float(np.std(samples, ddof=1)) / np.sqrt(n_probes)
    return Estimate(value, max(0.0, value - spread), value + spread, n_probes)
