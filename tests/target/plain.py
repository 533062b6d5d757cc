"""Plain formulas for targets and noise, in extended precision: everything from least squares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, combinations_with_replacement, product

import numpy as np

Error = Callable[[Sequence[int]], float]


def least_squares(A: np.ndarray, B: np.ndarray, rounding: float = 1e-17) -> Error:
    """‖B − P_S B‖² in extended precision, by orthogonalising the chosen columns twice.

    rounding : the relative length up to which what is left of a column is rounding of A.
    """
    wide, target = A.astype(np.longdouble), B.astype(np.longdouble)
    lengths = np.sqrt(np.sum(wide * wide, axis=0))
    wide = wide / np.where(lengths > 0, lengths, 1.0)

    def error(S: Sequence[int]) -> float:
        rest = target
        basis: list[np.ndarray] = []
        for j in S:
            q = wide[:, j]
            for _ in range(2):
                for u in basis:
                    q = q - u * (u @ q)
            size = np.sqrt(q @ q)
            if size > rounding:
                basis.append(q / size)
        for u in basis * 2:
            rest = rest - np.outer(u, u @ rest)
        return float(np.sum(rest * rest))

    return error


def posterior(K: np.ndarray, noise: np.ndarray, M: np.ndarray | None = None) -> Error:
    """tr((K − K_:S (K_SS + Σ)⁻¹ K_S:) M), the posterior variance of a Gaussian process."""
    M = np.eye(len(K)) if M is None else M

    def error(S: Sequence[int]) -> float:
        S = list(S)
        known = K[:, S] @ np.linalg.solve(K[np.ix_(S, S)] + np.diag(noise[S]), K[S])
        return float(np.trace((K - known) @ M))

    return error


def best(error: Error, n: int, k: int, *, repeats: bool = False) -> float:
    """The lowest error of all choices."""
    choices = combinations_with_replacement if repeats else combinations
    return min(error(S) for S in choices(range(n), k))


def greedy(error: Error, n: int, k: int) -> list[int]:
    """Pick by pick, the one that leaves least."""
    chosen: list[int] = []
    for _ in range(k):
        rest = [j for j in range(n) if j not in chosen]
        chosen.append(min(rest, key=lambda j: error([*chosen, j])))
    return chosen


def swapped(error: Error, n: int, start: Iterable[int], gain: float = 1e-9) -> list[int]:
    """The best swap again and again, while it lowers the error."""
    chosen = list(start)
    while True:
        rest = [j for j in range(n) if j not in chosen]
        trials = [
            [*chosen[:place], j, *chosen[place + 1 :]]
            for place, j in product(range(len(chosen)), rest)
        ]
        found = min(trials, key=error)
        if error(found) >= error(chosen) * (1 - gain):
            return chosen
        chosen = found
