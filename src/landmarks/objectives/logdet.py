"""The log determinant: designs and subsets of maximum entropy (D-optimal), and the mode of a k-DPP.

A choice is worth log det K_SS, or log det(I + K_SS/σ²) with noise, the information that noisy
measurements give about a Gaussian process. Adding j gains log C_jj, so greedy is pivoted Cholesky;
exchanging i for j multiplies the determinant by C_jj H_ii + W_ij², numbers that every state has.
By Cauchy's interlacing no choice of k is worth more than the k largest log eigenvalues (Ko, Lee and
Queyranne, Operations Research 43, 1995); sharper bounds are in `linalg.volumes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._array import cholesky, host, represented
from ..errors import UnsupportedError
from ..linalg.dependence import exact_volume
from ..linalg.volumes import lowest
from ..operators.base import Operator
from ..operators.dense import Data
from ..operators.forms import densify, in_double, in_order
from ..operators.pair import Pair, rescaled
from .objective import Objective

LOST = (
    1e-5  # the least share of a length that is left: below it, columns or K, and noise, are exact
)
EXACT = 32  # picks up to which that is affordable
ROWS = 1024  # of data, likewise
FACTORED = 300  # candidates up to which a bound is worth some fifty eigendecompositions
NO_SHARE = (
    "the log determinant is in nats, and a share of it means nothing; use error(), which is "
    "−log det, lower_bound() and gap()"
)


@dataclass(frozen=True, eq=False)
class LogDet(Objective):
    """−log det K_SS in nats; with noise −log det(I + K_SS/σ²), which may be asked for repeats."""

    criterion: ClassVar[str] = "logdet"
    depth: ClassVar[int] = 0
    shares: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("logdet",)
    floor: ClassVar[float] = -np.inf
    error_words: ClassVar[str] = "minus the log determinant of the chosen columns"

    def __post_init__(self) -> None:
        if self.target is not None:
            raise UnsupportedError(
                'criterion="logdet" takes no target: what measurements tell about one is a '
                "difference of two log determinants, for which there is no search or bound here; "
                "leave the target out, or leave the criterion out: with this target and noise the "
                "trace chooses the same if the target is one column, else for the least variance"
            )
        if self.noise is not None and not np.all(self.noise > 0):
            raise ValueError(
                "with criterion='logdet' noise must be above 0 for every candidate: a measurement "
                "without noise among noisy ones is worth infinitely much"
            )

    def on(self, operator: Operator) -> Pair:
        if operator not in self._pairs:
            pair = Pair(operator, operator.n)
            if self.noise is not None:  # I + K_SS/σ², so that every pick is worth its own gain
                unit = np.ones(operator.n)
                K = rescaled(operator, 1 / np.sqrt(self.noise))
                pair = Pair(K, operator.n, None, unit, self.repeats)
            self._pairs[operator] = pair
        return self._pairs[operator]

    def total(self, operator: Operator) -> float:
        raise UnsupportedError(NO_SHARE)

    def error(self, operator: Operator, indices: np.ndarray) -> float:
        indices = np.asarray(indices, dtype=np.int64)
        noisy = self.noise is not None
        variances = np.zeros(len(indices)) if self.noise is None else self.noise[indices]
        before = float(np.sum(np.log(variances))) if noisy else 0.0
        few, unit = len(indices) <= EXACT, self._unit(operator, len(indices))
        if operator.m is not None:  # XᵀX would square the condition
            X = host(operator.factor(indices)).astype(np.float64)
            rows = X
            if noisy:  # I + XᵀX/σ² is the Gram matrix of X/σ with I below it
                rows = np.vstack([X / np.sqrt(variances), np.eye(len(indices))])
            largest = np.max(np.abs(rows), axis=0, initial=0.0)
            if rows.shape[0] < rows.shape[1] or not np.all(largest > 0):
                return float(np.inf)
            rows = rows / largest  # else the squares of very small numbers would be zero
            lengths = np.sqrt(np.sum(rows * rows, axis=0))
            shares = np.abs(np.diagonal(np.linalg.qr(rows / lengths, mode="r")))
            least = float(np.min(shares, initial=1.0))
            full = least > represented(len(indices))  # else one is represented by the others
            if (full or noisy) and least <= LOST and few and len(X) <= ROWS:
                return before - exact_volume(X, variances, gram=True) - unit
            if not full:
                return float(np.inf)
            return -2 * float(np.sum(np.log(shares) + np.log(lengths) + np.log(largest))) - unit
        K = host(in_double(operator).restrict(indices).columns(np.arange(len(indices))))
        K = K.astype(np.float64)
        G = K + np.diag(variances)
        lengths = np.sqrt(np.maximum(np.diagonal(G), 0.0))
        if not np.all(lengths > 0):
            return float(np.inf)
        L = cholesky(G / np.outer(lengths, lengths))
        least = 0.0 if L is None else float(np.min(np.diagonal(L), initial=1.0)) ** 2
        full = L is not None and least > represented(len(indices))
        if (full or noisy) and least <= LOST and few:
            return before - exact_volume(K, variances) - unit
        if L is None or not full:
            return float(np.inf)
        value = 2 * float(np.sum(np.log(np.diagonal(L))) + np.sum(np.log(lengths)))
        return before - value - unit

    exact_error = error

    def _unit(self, operator: Operator, k: int) -> float:
        """What the scale of the operator adds to the log determinant."""
        return k * operator.exponent * float(np.log(2.0)) if self.noise is None else 0.0

    def best_rank_error(self, operator: Operator, k: int, exclude: tuple[int, ...] = ()) -> float:
        raise UnsupportedError(NO_SHARE)

    def bound(self, operator: Operator, k: int, exclude: tuple[int, ...] = ()) -> float:
        """What no choice goes below, rounding included; −∞ for what cannot be stored.

        Of few candidates by factorisation (`linalg.volumes`), else −Σ of the k largest log
        eigenvalues.
        """
        try:
            double = in_double(operator)
            double = in_order(double) if isinstance(double, Data) else double
            K = host(densify(double)).astype(np.float64)
        except (MemoryError, UnsupportedError):
            return -np.inf
        if self.noise is not None:
            roots = np.sqrt(self.noise)
            K = np.eye(len(K)) + K / np.outer(roots, roots)
        kept = np.setdiff1d(np.arange(len(K)), exclude)
        K = K[np.ix_(kept, kept)]
        terms = 4 * len(K) + (operator.m or 0)
        K += np.diag(terms * np.finfo(np.float64).eps * np.diagonal(K))
        values = np.linalg.eigvalsh(K)[::-1]
        if self.repeats:  # k copies of one are worth at most k times the largest
            values = np.full(k, 1 + k * max(values[0], 0.0))
        raised = values[:k] + 16 * len(K) * np.finfo(np.float64).eps * max(values[0], 0.0)
        tiny = np.finfo(np.float64).tiny
        highest = float(np.sum(np.log(np.maximum(raised, tiny))))
        if len(K) <= FACTORED and np.all(np.diagonal(K) > 0):
            t, most = (1.0, k) if self.repeats else (None, 1)
            highest = min(highest, lowest(K, k, t=t, most=most).bound)
        return -highest - self._unit(operator, k)

    def gap(self, error: float, bound: float) -> float:
        """By how many nats another choice could be better."""
        return max(0.0, error - bound)

    def below(self, error: float, tolerance: float) -> float:
        return error - tolerance

    def relative(self, error: float, totals: list[float]) -> float | None:
        return None
