"""The reference of `digits.py`: greedy and swaps on an explicit residual R = (I − QQᵀ)L.

It shares nothing with the package. L may be an array of NumPy, or of torch on a card.
"""

from __future__ import annotations

import math
from typing import Any

from array_api_compat import array_namespace

Array = Any


def project(L: Array, S: list[int]) -> tuple[Array, Array, Array]:
    """The residual of the columns S, an orthonormal basis Q of them, and T with L_S = QT."""
    Q, T = array_namespace(L).linalg.qr(L[:, S])
    R = L - Q @ (Q.T @ L)
    return R - Q @ (Q.T @ R), Q, T


def error(L: Array, S: list[int], criterion: str) -> float:
    """tr C or ‖C‖²_F of C = RᵀR."""
    R = project(L, S)[0]
    G = R if criterion == "trace" else R @ R.T
    return float((G * G).sum())


def powers(R: Array) -> tuple[Array, Array, Array]:
    """diag C, diag C², diag C³."""
    xp = array_namespace(R)
    GR = (R @ R.T) @ R
    return xp.sum(R * R, axis=0), xp.sum(R * GR, axis=0), xp.sum(GR * GR, axis=0)


def reference_greedy(L: Array, k: int) -> list[int]:
    """The largest gain in the trace, computed from the residual at every pick."""
    xp = array_namespace(L)
    S, R = list[int](), L
    floor = 1e-24 * xp.sum(L * L, axis=0)
    for _ in range(k):
        c, A, _ = powers(R)
        gains = xp.where(c > floor, A / xp.clip(c, min=1e-300), 0.0)
        gains[S] = 0.0
        if float(xp.max(gains)) <= 0:
            break
        S.append(int(xp.argmax(gains)))
        R = project(L, S)[0]
    return S


def reference_swap(L: Array, S: list[int], criterion: str, limit: int = 400) -> list[int]:
    """The best swap while it pays, everything recomputed before each."""
    xp = array_namespace(L)
    S = list(S)
    for _ in range(limit):
        gains = swap_gains(L, S, criterion)
        i, j = divmod(int(xp.argmax(gains)), gains.shape[1])
        if float(gains[i, j]) <= 1e-9 * error(L, S, criterion):
            break
        S[i] = j
    return S


def swap_gains(L: Array, S: list[int], criterion: str) -> Array:
    """What dropping each member and adding each candidate lowers the error by."""
    xp = array_namespace(L)
    R, Q, T = project(L, S)
    U = xp.linalg.solve(T, Q.T).T
    P = (U / xp.sqrt(xp.sum(U * U, axis=0))).T @ L
    c, A, B = powers(R)
    Y = (P @ R.T) @ R
    q, e = xp.sum(P * P, axis=1)[:, None], xp.sum(P * Y, axis=1)[:, None]
    new = xp.clip(c + P * P, min=1e-300)
    if criterion == "trace":
        gains = (A + 2 * P * Y - q * c) / new
    else:
        Z = (Y @ R.T) @ R
        squares = (A + 2 * P * Y + q * P * P) / new
        cubes = (B + 2 * P * Z + Y * Y + 2 * q * P * Y + (e + q * q) * P * P) / new
        gains = 2 * cubes - squares**2 - 2 * e - q**2
    gains[:, S] = -math.inf
    return xp.where(new > 1e-22 * xp.sum(L * L, axis=0), gains, -math.inf)
