"""Errors of a selection by formulas that cannot turn negative, and the best rank-k error.

From a Gram matrix, an error is accurate only to the rounding of the total. If that is not enough,
one more pass over the rows gives X − X_S B without cancellation. The coefficients B may be as
inaccurate as the Gram matrix, because the residual depends on their error only to second order.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import scipy
import scipy.linalg

from .._array import Array, Indices, eps, host, is_single, like, namespace
from ..operators.base import MEMORY, Operator, block_width, blocks, itemsize
from ..operators.dense import Dense
from ..operators.forms import densify, in_double
from ..operators.rows.moments import CompensatedSum, gram
from ..operators.rows.tiles import pass_height, tile_height, tiles
from .nystrom import nystrom_factor, pivoted_cholesky
from .probes import Rademacher

CRITERIA = ("trace", "frobenius")
# shares of the total error above which a Gram matrix knows about nine digits of an error
BELOW = {"trace": 1e-6, "frobenius": 1e-12}
FULL_SPECTRUM = 3000  # up to this order all eigenvalues are computed, above only the leading ones
DOUBLED = 20_000  # up to this many columns, float32 matrices get leading eigenvalues in float64

_spectra: WeakKeyDictionary[Operator, np.ndarray] = WeakKeyDictionary()


def selection_error(operator: Operator, indices: Indices, criterion: str) -> float:
    """tr(K − K̂) for "trace", which is ‖X − P_S X‖²_F for columns; ‖K − K̂‖²_F for "frobenius"."""
    if operator.m is not None:
        return _projection_error(operator, indices, criterion)
    F = nystrom_factor(operator, indices)
    if criterion == "trace":
        return _trace_error(operator, F)
    return squared_residual(operator, F, block_width(operator))


def exact_error(operator: Operator, indices: Indices, criterion: str) -> float:
    """The same, by another pass over the rows if the rounding of their Gram matrix hides it."""
    error = selection_error(operator, indices, criterion)
    if operator.source is None or error > BELOW[criterion] * total(operator, criterion):
        return error
    if not operator.in_memory:
        return residual_trace(operator, indices) if criterion == "trace" else error
    C, beyond = residual_gram(operator, indices)
    return selection_error(C, beyond, criterion) if len(beyond) else total(C, criterion)


def _projection_error(operator: Operator, indices: Indices, criterion: str) -> float:
    if criterion == "trace":
        return sum(_sum_of_squares(E) for E in residual_blocks(operator, indices))
    xp = namespace(operator.like)
    E = xp.concat(list(residual_blocks(operator, indices)), axis=1)
    return _sum_of_squares(E @ E.T if E.shape[0] < E.shape[1] else E.T @ E)


def _trace_error(operator: Operator, F: Array) -> float:
    xp = namespace(F)
    left = operator.diagonal() - xp.sum(F * F, axis=1)
    return float(np.sum(np.maximum(host(left).astype(np.float64), 0.0)))


def squared_residual(operator: Operator, F: Array, width: int) -> float:
    """‖C‖²_F of C = K − F Fᵀ, in blocks of columns; entries below the diagonal count twice.

    width : the most columns of a block.
    """
    found, n = 0.0, operator.n
    for block in blocks(n, min(width, max(64, n // 16))):
        first, end = int(block[0]), len(block)
        below = F[first:, :]
        C = operator.columns(block)[first:, :] - below @ below[:end, :].T
        found += 2 * _sum_of_squares(C) - _sum_of_squares(C[:end, :])
    return found


def _sum_of_squares(block: Array) -> float:
    xp = namespace(block)
    return float(np.sum(host(xp.sum(block * block, axis=0)).astype(np.float64)))


def total(operator: Operator, criterion: str) -> float:
    """The error of choosing nothing: tr K, or ‖K‖²_F."""
    if criterion == "trace":
        return float(np.sum(host(operator.diagonal()).astype(np.float64)))
    if operator.m is not None and operator.m < operator.n:
        X = operator.factor()
        return _sum_of_squares(X @ X.T)
    return sum(
        _sum_of_squares(operator.columns(block))
        for block in blocks(operator.n, block_width(operator))
    )


def best_rank_error(operator: Operator, k: int, criterion: str) -> float:
    """The error of the best rank-k approximation: a lower bound for every choice of k columns."""
    if min(operator.n, operator.m or operator.n) <= FULL_SPECTRUM:
        tail = spectrum(operator)[k:]
        return float(np.sum(tail if criterion == "trace" else tail**2))
    return _leading_tail(operator, k, criterion)


def rank_bound(operator: Operator, k: int, criterion: str) -> float:
    """The best rank-k error less what rounding may have added to it: a rigorous lower bound."""
    if min(operator.n, operator.m or operator.n) > FULL_SPECTRUM:
        if is_single(operator.like) and operator.n <= DOUBLED:
            operator = operator.remade_in_double() or operator
        rounding = 8 * math.sqrt(operator.n) * eps(operator.digits)
        doubt = rounding * total(operator, criterion)
        return max(0.0, _leading_tail(operator, k, criterion) - doubt)
    values = spectrum(operator)
    power = 1 if criterion == "trace" else 2
    tail = float(np.sum(values[k:] ** power))
    if operator.m is None:  # the Schatten norm of the error of K bounds that of its eigenvalues
        doubt = _rounding(operator) * float(values[0]) * operator.n ** (1 / power)
        return max(0.0, tail ** (1 / power) - doubt) ** power
    doubt = _rounding(operator) * math.sqrt(float(np.sum(values)))
    return max(0.0, tail ** (0.5 / power) - doubt) ** (2 * power)


def _rounding(operator: Operator) -> float:
    """The relative error of eigenvalues in float64, and of the entries if they were in float32."""
    rounding = 8 * (operator.n + (operator.m or 0) + 8) * 2.0**-53
    if operator.m is None and is_single(in_double(operator).digits):
        rounding += 4 * math.sqrt(operator.n) * eps(operator.digits)
    return rounding


def spectrum(operator: Operator) -> np.ndarray:
    """All eigenvalues of K, largest first, without what is below zero by rounding."""
    if operator not in _spectra:
        _spectra[operator] = _eigenvalues(operator)
    return _spectra[operator]


def _eigenvalues(operator: Operator) -> np.ndarray:
    operator = in_double(operator)
    if operator.m is not None:
        X = host(operator.factor()).astype(np.float64)
        values = scipy.linalg.svdvals(X, check_finite=False) ** 2
    else:
        K = host(densify(operator)).astype(np.float64)
        values = scipy.linalg.eigvalsh(K, check_finite=False)[::-1]
    return np.maximum(values, 0.0)


def _leading_tail(operator: Operator, k: int, criterion: str) -> float:
    """The error beyond k leading eigenvalues, each raised by its residual: still a lower bound."""

    def product(block: np.ndarray) -> np.ndarray:
        block = block.reshape(operator.n, -1)
        return host(operator.matmul(like(block, operator.like))).astype(np.float64)

    matrix = scipy.sparse.linalg.LinearOperator(
        (operator.n, operator.n), matvec=product, matmat=product, dtype=np.float64
    )
    start = np.random.default_rng(0).standard_normal(operator.n)
    values, vectors = scipy.sparse.linalg.eigsh(
        matrix, k=k, which="LM", v0=start, tol=1e-5 if is_single(operator.like) else 1e-8
    )
    residuals = np.linalg.norm(product(vectors) - vectors * values, axis=0)
    values = np.maximum(values, 0.0) + residuals
    leading = float(np.sum(values if criterion == "trace" else values**2))
    return max(0.0, total(operator, criterion) - leading)


def basis(operator: Operator, indices: Indices) -> Array:
    """An orthonormal basis Q of the chosen columns of X, of their numerical rank (pivoted QR)."""
    chosen = host(operator.factor(indices)).astype(np.float64)
    Q, R, _ = scipy.linalg.qr(chosen, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(R))
    tolerance = (
        max(chosen.shape) * np.finfo(np.float64).eps * (diagonal[0] if diagonal.size else 0.0)
    )
    return like(Q[:, : int(np.sum(diagonal > tolerance))], operator.like)


def residual_blocks(operator: Operator, indices: Indices) -> Iterator[Array]:
    """X − QQᵀX in blocks of columns: what the chosen columns leave of X (Section 2.1)."""
    Q = basis(operator, indices)
    width = max(1, MEMORY // 4 // ((operator.m or 1) * itemsize(operator.like)))
    for block in blocks(operator.n, width):
        X = operator.factor(block)
        yield X - Q @ (Q.T @ X)


@dataclass(frozen=True)
class Estimate:
    """A value with a 95 % confidence interval, from the given number of independent probes."""

    value: float
    low: float
    high: float
    n_probes: int


def estimated_error(
    operator: Operator, indices: Indices, criterion: str, *, n_probes: int = 32, seed: int = 0
) -> Estimate:
    """tr C as the mean of zᵀCz, or ‖C‖²_F as that of ‖Cz‖², over random signs z."""
    F = nystrom_factor(operator, indices)
    Z = Rademacher(n_probes).draw(operator.n, np.random.default_rng(seed), operator.like)
    CZ = operator.matmul(Z) - F @ (F.T @ Z)
    samples = np.sum(host(CZ * (Z if criterion == "trace" else CZ)).astype(np.float64), axis=0)
    value = float(np.mean(samples))
    spread = 1.96 * float(np.std(samples, ddof=1)) / np.sqrt(n_probes)
    return Estimate(value, max(0.0, value - spread), value + spread, n_probes)


def residual_gram(operator: Operator, indices: Indices) -> tuple[Dense, np.ndarray]:
    """The Gram matrix of X − X_S B, and the chosen columns beyond the rank, which B leaves out."""
    used, beyond, B = _coefficients(operator, np.asarray(indices))
    total = CompensatedSum((operator.n, operator.n))
    for E in _residuals(operator, used, B):
        total.add(gram(E))
    C = total.total
    # what is left of the other columns is rounding
    clear = np.diag(C)[beyond] > 1e-24 * operator.diagonal()[beyond]
    return Dense(C), beyond[clear]


def residual_trace(operator: Operator, indices: Indices) -> float:
    """‖X − X_S B‖²_F."""
    used, _, B = _coefficients(operator, np.asarray(indices))
    return float(sum(np.vdot(E, E) for E in _residuals(operator, used, B)))


def _coefficients(
    operator: Operator, indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The chosen columns up to the numerical rank, those beyond it, and B for the former."""
    columns = operator.columns(indices)
    pivots = pivoted_cholesky(columns[indices])
    B = scipy.linalg.cho_solve((pivots.L, True), columns[:, pivots.order].T)
    return indices[pivots.order], np.delete(indices, pivots.order), B


def _residuals(operator: Operator, used: np.ndarray, B: np.ndarray) -> Iterator[np.ndarray]:
    """X − X_S B in tiles of rows."""
    height = tile_height(operator.n)
    if operator.pass_memory is not None:
        height = pass_height(operator.n, operator.pass_memory)
    for _, X in tiles(operator.source, height):  # type: ignore[arg-type]  # callers checked it
        E = X - X[:, used] @ B
        E[:, used] = 0.0
        yield E
