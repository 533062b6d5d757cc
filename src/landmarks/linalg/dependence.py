"""Ranks and determinants of floats as exact numbers, whatever rounding hides."""

from __future__ import annotations

import math

import numpy as np

PRIMES = (2147483647, 2147483629)
WORK = 3e7  # most operations of an elimination that decides the rank


def dependent(columns: np.ndarray) -> bool:
    """Whether the columns are dependent; the entries are taken as they are, without rounding.

    Rank over the integers modulo a prime is never above the rank over the rationals, and below it
    only when the prime divides a minor. Two primes of 31 bits make such a coincidence less likely
    than 2⁻⁶⁰.
    """
    if columns.shape[1] > columns.shape[0]:
        return True
    return all(rank_modulo(residues(columns, p), p) < columns.shape[1] for p in PRIMES)


def residues(columns: np.ndarray, p: int) -> np.ndarray:
    """The columns, each times a power of two that makes it whole, modulo p."""
    fractions, exponents = np.frexp(columns)
    whole = np.ldexp(fractions, 53).astype(np.int64) % p
    shifts = exponents - exponents.min(axis=0, initial=0)
    table = np.asarray([pow(2, int(e), p) for e in range(int(shifts.max(initial=0)) + 1)])
    return whole * table[shifts] % p


def rank_modulo(A: np.ndarray, p: int) -> int:
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


def has_rank(columns: np.ndarray, rank: int) -> bool:
    """Whether the columns have exactly that rank; False where finding out would cost too much."""
    if columns.size * rank > WORK:
        return False
    return all(rank_modulo(residues(columns, p), p) == rank for p in PRIMES)


def exact_volume(A: np.ndarray, added: np.ndarray, *, gram: bool = False) -> float:
    """log det (A + diag(added)) of a symmetric matrix, or −∞ if it is not positive definite.

    The entries are taken as they are, without rounding. Elimination without fractions (Bareiss,
    Math. Comp. 22, 1968): all numbers are whole, and divisions are exact.

    gram : whether it is that of AᵀA + diag(added).
    """
    (M, power), (more, least) = whole(A), whole(added)
    if gram:
        M, power = M.T @ M, 2 * power
    lowest = min(power, least)
    M = M << (power - lowest)
    M[np.diag_indices(len(M))] += more << (least - lowest)
    before = 1
    for j in range(len(M)):
        pivot, column = M[j, j], M[j + 1 :, j].copy()
        if pivot <= 0:
            return -math.inf
        M[j + 1 :, j + 1 :] = (pivot * M[j + 1 :, j + 1 :] - np.outer(column, column)) // before
        before = pivot
    return math.log(before) + len(M) * lowest * math.log(2.0)


def whole(entries: np.ndarray) -> tuple[np.ndarray, int]:
    """Floats as Python integers times one power of two, which is returned."""
    fractions, exponents = np.frexp(entries)
    lowest = int(exponents[entries != 0].min(initial=0))
    shifts = np.maximum(exponents - lowest, 0).astype(object)
    return np.ldexp(fractions, 53).astype(np.int64).astype(object) << shifts, lowest - 53
