"""Greedy and swaps from an explicit residual, recomputed at every step: the reference."""

import numpy as np
import scipy.linalg


def project(L, S):
    """The residual of the columns S of L, an orthonormal basis Q of them, and T with L_S = QT."""
    Q, T = np.linalg.qr(L[:, S])
    R = L - Q @ (Q.T @ L)
    return R - Q @ (Q.T @ R), Q, T


def error(L, S, criterion="trace"):
    """tr C or ‖C‖²_F of the residual C = RᵀR."""
    R = project(L, list(S))[0]
    return float(np.sum(R * R) if criterion == "trace" else np.sum((R @ R.T) ** 2))


def powers(R):
    """diag C, diag C², diag C³."""
    GR = (R @ R.T) @ R
    return np.sum(R * R, axis=0), np.sum(R * GR, axis=0), np.sum(GR * GR, axis=0)


def greedy(L, k, criterion="trace"):
    """The largest gain at every pick."""
    S, R, whole = [], L, np.sum(L * L, axis=0)
    for _ in range(k):
        c, A, B = powers(R)
        safe = np.where(c > 1e-26 * whole, c, np.inf)
        gains = A / safe if criterion == "trace" else 2 * B / safe - (A / safe) ** 2
        gains[S] = 0.0
        S.append(int(np.argmax(gains)))
        R = project(L, S)[0]
    return S


def swap(L, S, limit=1000):
    """The best swap on the trace while one pays."""
    S = list(S)
    for _ in range(limit):
        gains = swap_gains(L, S)
        i, j = np.unravel_index(int(np.argmax(gains)), gains.shape)
        if gains[i, j] <= 1e-9 * error(L, S):
            break
        S[i] = int(j)
    return S


def swap_gains(L, S):
    """What dropping each member and adding each candidate lowers the trace by."""
    R, Q, T = project(L, S)
    U = scipy.linalg.solve_triangular(T, Q.T).T
    P = (U / np.linalg.norm(U, axis=0)).T @ L
    c, A, _ = powers(R)
    Y = (P @ R.T) @ R
    new = c + P * P
    gains = (A + 2 * P * Y - np.sum(P * P, axis=1)[:, None] * c) / np.maximum(new, 1e-300)
    gains[:, S] = -np.inf
    return np.where(new > 1e-22 * np.sum(L * L, axis=0), gains, -np.inf)
