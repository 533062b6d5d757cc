"""The coefficients that rebuild every column from the chosen ones, and what each chosen column alone adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .._array import Indices, host
from ..approximate.nystrom import pivoted_cholesky
from ..operators.base import Operator
from ..operators.data import Data


@dataclass(frozen=True)
class Reconstruction:
    """X ≈ X_S B by least squares.

    coefficients : the k × n matrix B; each chosen column is rebuilt by itself.
    losses : by how much ‖X − X_S B‖²_F would rise without each chosen column.
    """

    coefficients: np.ndarray
    losses: np.ndarray


def reconstruct(operator: Operator, chosen: Indices) -> Reconstruction:
    """Rebuild the columns of X, where K = XᵀX is the operator, from the chosen ones."""
    chosen = np.asarray(chosen)
    order, L, G = _orthogonal(operator, chosen) if isinstance(operator, Data) else _gram(operator, chosen)
    B = np.zeros((len(chosen), operator.n))
    B[order] = scipy.linalg.solve_triangular(L, G, lower=True, trans="T")
    inverse = scipy.linalg.solve_triangular(L, np.eye(len(order)), lower=True)
    losses = np.zeros(len(chosen))
    losses[order] = np.sum(B[order] ** 2, axis=1) / np.sum(inverse**2, axis=0)  # q_i/g_i of a swap that adds nothing
    losses[_replaceable(B, chosen, order)] = 0.0
    B[:, chosen] = np.eye(len(chosen))
    return Reconstruction(B, np.ldexp(losses, operator.exponent))


def _orthogonal(operator: Data, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pivots, L with K_SS = L Lᵀ, and L⁻¹ K_Sᵀ, by the QR factors of X_S, which do not square its condition."""
    X = host(operator.factor())
    Q, R, order = scipy.linalg.qr(X[:, chosen].astype(np.float64), mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > max(X.shape[0], len(chosen)) * np.finfo(X.dtype).eps * max(diagonal[0], np.finfo(float).tiny)))
    return order[:rank], R[:rank, :rank].T, (Q[:, :rank].T.astype(X.dtype) @ X).astype(np.float64)


def _gram(operator: Operator, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same from the columns of K."""
    columns = host(operator.columns(chosen)).astype(np.float64)
    pivots = pivoted_cholesky(columns[chosen])
    G = scipy.linalg.solve_triangular(pivots.L, columns[:, pivots.order].T, lower=True)
    return pivots.order, pivots.L, G


def _replaceable(B: np.ndarray, chosen: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Which chosen columns a chosen column beyond the numerical rank can stand in for, itself included."""
    beyond = np.setdiff1d(np.arange(len(chosen)), order)
    needed = np.abs(B[:, chosen[beyond]]).max(axis=1, initial=0.0) > 1e-8
    needed[beyond] = True
    return needed
