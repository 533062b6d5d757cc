"""The ridge penalty of the smallest leave-one-out error, from one singular value decomposition.

With X = U s Vᵀ and d = s²/(s² + ρ), row i is predicted without itself at the cost of dividing its
residual by 1 − h_i, h_i = Σ_l U_il² d_l (Allen, Technometrics 16, 1974). With E = Y − U UᵀY what
no penalty can fit, the residual is E + U(1 − d)UᵀY: nothing is subtracted from anything larger.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

STEPS = np.concatenate([[0.0], np.geomspace(1e-10, 1e2, 61)])  # of the mean of s²


def best_penalty(X: np.ndarray, Y: np.ndarray, *, intercept: bool = False) -> float:
    """The penalty ρ for Y ≈ X B with ‖Y − XB‖² + ρ‖B‖², in the units of XᵀX.

    intercept : whether the columns were centred, so that a mean was fitted too.
    """
    U, s, _ = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
    kept = s > max(X.shape) * np.finfo(np.float64).eps * s[0] if s.size and s[0] > 0 else s > 0
    penalties = STEPS * float(np.mean(s**2)) if s.size else STEPS
    errors = _errors(U[:, kept], s[kept], Y, penalties, intercept)
    return float(penalties[int(np.argmin(errors))])


def _errors(
    U: np.ndarray, s: np.ndarray, Y: np.ndarray, penalties: np.ndarray, intercept: bool
) -> np.ndarray:
    """The sum of squares of the leave-one-out residuals for each penalty."""
    F = U.T @ Y
    E = Y - U @ F
    own, mixed, gram = np.sum(E * E, axis=1), E @ F.T, F @ F.T
    found = []
    for penalty in penalties:
        lost = penalty / (s * s + penalty)
        part = U * lost
        squares = own + 2 * np.sum(part * mixed, axis=1) + np.sum((part @ gram) * part, axis=1)
        leverage = np.sum(U * U * (1 - lost), axis=1) + (1 / len(Y) if intercept else 0.0)
        left = np.maximum(1 - leverage, 1e-9)  # a row that only it can fit cannot be predicted
        found.append(float(np.sum(squares / left**2)))
    return np.asarray(found)
