"""Whether columns of floats are linearly dependent as exact numbers.

Rank over the integers modulo a prime: never above the rank over the rationals, and below it only
when the prime divides a minor. Two primes of 31 bits make such a coincidence less likely than 2⁻⁶⁰.
"""

from __future__ import annotations

import numpy as np

PRIMES = (2147483647, 2147483629)


def dependent(columns: np.ndarray) -> bool:
    """Whether the columns are dependent; the entries are taken as they are, without rounding."""
    if columns.shape[1] > columns.shape[0]:
        return True
    return all(_rank(_residues(columns, p), p) < columns.shape[1] for p in PRIMES)


def _residues(columns: np.ndarray, p: int) -> np.ndarray:
    """The columns, each times a power of two that makes it whole, modulo p."""
    fractions, exponents = np.frexp(columns)
    whole = np.ldexp(fractions, 53).astype(np.int64) % p
    shifts = exponents - exponents.min(axis=0, initial=0)
    table = np.asarray([pow(2, int(e), p) for e in range(int(shifts.max(initial=0)) + 1)])
    return whole * table[shifts] % p


def _rank(A: np.ndarray, p: int) -> int:
    """The rank of an integer matrix modulo p."""
    rank = 0
    for j in range(A.shape[1]):
        nonzero = np.flatnonzero(A[rank:, j])
        if len(nonzero) == 0:
            continue
        A[[rank, rank + nonzero[0]]] = A[[rank + nonzero[0], rank]]
        row = A[rank] * pow(int(A[rank, j]), -1, p) % p
        A[rank + 1 :] = (A[rank + 1 :] - A[rank + 1 :, j : j + 1] * row % p) % p
        rank += 1
        if rank == A.shape[0]:
            break
    return rank
