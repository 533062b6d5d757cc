"""The k that the likelihood-ratio test of the subset factor model does not reject.

In this model each column is a linear function of the chosen ones plus normal noise: Sood and
Hastie, A Statistical View of Column Subset Selection (2023). With C the residual of K given S and R
the correlation matrix of the q = n − k columns that are left, the likelihood ratio of the model
against any covariance is −log det R: what is left must be uncorrelated. Under the model det R is a
product of independent Beta((ν − i)/2, i/2), i = 1 … q − 1, where ν is the degrees of freedom of K
less k (Anderson, An Introduction to Multivariate Statistical Analysis, 2003, Section 9.3), whatever
the coefficients and the variances are.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace

import numpy as np
import scipy.optimize
import scipy.special

from .._array import host
from ..errors import UnsupportedError
from ..operators.base import Operator, block_width, blocks
from ..operators.dense import Data
from ..operators.forms import densify
from ..problem import Choice, Method, Problem

# searches for the best subset before its size is rejected: missing it would reject too often
STARTS = 10
GAIN = 1e-9  # the least decrease of the statistic that counts


@dataclass(frozen=True)
class LikelihoodRatio:
    """The smallest k that fits the model "the others are k columns plus independent noise".

    Sizes are tested one after the other, each with its most likely subset, until a test does not
    reject at the level alpha. If the rows are independent and normal and the model holds with k0
    columns, k exceeds k0 with probability at most alpha. The test is scale-free, and needs more
    rows than columns (Sood and Hastie, 2023). The method then chooses the columns.

    Parameters
    ----------
    alpha : the level of each test.
    degrees : the degrees of freedom of K, if it is a scatter or covariance matrix: one fewer than
        the number of rows if their mean was subtracted. None for data X, whose means are subtracted
        for the test.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> causes, noise = rng.standard_normal((500, 2)), rng.standard_normal((500, 6))
    >>> X = np.hstack([causes, causes @ rng.standard_normal((2, 6)) + noise])
    >>> lm.select(X, lm.LikelihoodRatio(alpha=0.05)).k
    2
    """

    alpha: float = 0.05
    degrees: float | None = None

    def __post_init__(self) -> None:
        alpha: object = self.alpha
        if not isinstance(alpha, float) or not 0 < alpha < 1:
            raise ValueError(f"alpha must be a number between 0 and 1, got {alpha!r}")
        if self.degrees is not None and not self.degrees > 0:
            raise ValueError(f"degrees must be a positive number or None, got {self.degrees!r}")

    def apply(self, problem: Problem, method: Method, rng: np.random.Generator) -> Choice:
        return method.choose(replace(problem, k=self.size(problem, copy.deepcopy(rng))), rng)

    def size(self, problem: Problem, rng: np.random.Generator) -> int:
        """The first k that is not rejected; include counts as chosen, exclude is never chosen.

        Parameters
        ----------
        problem : the data, with include and exclude; problem.k is ignored.
        rng : for the starts of the searches for the best subset.

        Returns
        -------
        int
            How many columns the model needs.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> causes, noise = rng.standard_normal((500, 2)), rng.standard_normal((500, 6))
        >>> X = np.hstack([causes, causes @ rng.standard_normal((2, 6)) + noise])
        >>> lm.LikelihoodRatio().size(lm.Problem(lm.data(X), k=0), rng)
        2
        """
        if problem.groups is not None:
            raise UnsupportedError(
                "LikelihoodRatio tests single columns; with groups give k as a number or as a "
                "MaxError"
            )
        if not problem.objective.plain:
            raise UnsupportedError(
                "LikelihoodRatio tests whether all columns are rebuilt, without target or noise; "
                "give k as a number, as a MaxError or as a Knee"
            )
        K, nu = self._scatter(problem.operator)
        model = SubsetFactor(K, problem.include, problem.exclude)
        while len(model.chosen) < len(problem.candidates):
            if model.chosen and self._holds(model, nu, rng):
                break
            model.grow()
        return len(model.chosen)

    def _holds(self, model: SubsetFactor, nu: float, rng: np.random.Generator) -> bool:
        """Whether the size is not rejected by any subset found from several starts."""
        k = len(model.chosen)
        n = len(model.K)
        for _ in range(STARTS):
            if tail(model.statistic, n - k, nu - k) > self.alpha:
                return True
            model.restart(rng)
        return tail(model.statistic, n - k, nu - k) > self.alpha

    def _scatter(self, operator: Operator) -> tuple[np.ndarray, float]:
        """K in float64, centred unless degrees is given, and the degrees of freedom."""
        if self.degrees is None and operator.m is None:
            raise UnsupportedError(
                "LikelihoodRatio needs the rows of X; for a covariance matrix give "
                "LikelihoodRatio(degrees=rows − 1)"
            )
        if self.degrees is None:
            K = centred_gram(operator)
        else:
            K = host(densify(operator)).astype(np.float64)
        nu = self.degrees or (operator.m or 0) - 1
        if nu < len(K):
            raise ValueError(
                "the likelihood-ratio test needs more degrees of freedom than columns, got "
                f"{nu:g} for {len(K)}; use MaxError or Knee"
            )
        spread = np.diag(K)
        correlated = K / np.sqrt(np.outer(spread, spread)) if np.min(spread) > 0 else 0.0 * K
        if np.linalg.eigvalsh(correlated)[0] <= 1e-12:
            raise ValueError(
                "the likelihood-ratio test needs independent columns, but some are constant or "
                "combinations of others; drop those"
            )
        return K, nu


def centred_gram(operator: Operator) -> np.ndarray:
    """XᵀX of the centred columns, in float64; a sparse X stays sparse."""
    if isinstance(operator, Data):
        X = host(operator.factor()).astype(np.float64)
        X = X - X.mean(axis=0)
        return X.T @ X
    parts = (operator.factor(block) for block in blocks(operator.n, block_width(operator)))
    sums = np.concatenate([host(part).sum(axis=0, dtype=np.float64) for part in parts])
    return host(densify(operator)).astype(np.float64) - np.outer(sums, sums) / (operator.m or 1)


class SubsetFactor:
    """The likelihood ratio of subsets of rising size: forward steps, each followed by swaps.

    K : the positive definite scatter matrix.
    chosen : S, which grows by `grow`.
    statistic : −log det R of S.
    """

    def __init__(self, K: np.ndarray, include: tuple[int, ...], exclude: tuple[int, ...]):
        scale = np.sqrt(np.diag(K))
        self.K = K / np.outer(scale, scale)
        self.free = np.ones(len(K), dtype=bool)
        self.free[list(include + exclude)] = False
        self.fixed = list(include)
        self.chosen = list(include)
        self.statistic = self._statistic()

    def grow(self) -> None:
        """Add the column that lowers the statistic most, then swap until no swap lowers it."""
        self.chosen.append(self._best_addition(self.residual(self.chosen))[0])
        self._descend()

    def restart(self, rng: np.random.Generator) -> None:
        """Search again from random columns, and keep the better result."""
        chosen, statistic = self.chosen, self.statistic
        drawn = rng.choice(
            np.flatnonzero(self.free), size=len(chosen) - len(self.fixed), replace=False
        )
        self.chosen = [*self.fixed, *(int(j) for j in drawn)]
        self._descend()
        if self.statistic > statistic:
            self.chosen, self.statistic = chosen, statistic

    def _descend(self) -> None:
        """Swap each member for the best candidate, until no swap lowers the statistic."""
        while any([self._swap(place) for place in range(len(self.fixed), len(self.chosen))]):
            pass
        self.statistic = self._statistic()

    def residual(self, chosen: list[int]) -> np.ndarray:
        """C = K − K_S K_SS⁻¹ K_Sᵀ; the rows and columns of S are those of the identity."""
        if not chosen:
            return self.K
        columns = self.K[:, chosen]
        C = self.K - columns @ np.linalg.solve(columns[chosen], columns.T)
        C[chosen] = 0.0
        C[:, chosen] = 0.0
        C[chosen, chosen] = 1.0
        return C

    def _statistic(self) -> float:
        return -float(np.linalg.slogdet(correlations(self.residual(self.chosen)))[1])

    def _best_addition(self, C: np.ndarray) -> tuple[int, np.ndarray]:
        """The best candidate to add, and by how much each column would lower the statistic."""
        R = correlations(C)
        np.fill_diagonal(R, 0.0)
        gains = -np.sum(np.log1p(-np.minimum(R * R, 1.0 - 1e-15)), axis=0)
        allowed = self.free.copy()
        allowed[self.chosen] = False
        return int(np.argmax(np.where(allowed, gains, -1.0))), gains

    def _swap(self, place: int) -> bool:
        """Replace a member by the best candidate; returns whether that lowered the statistic."""
        i = self.chosen[place]
        others = self.chosen[:place] + self.chosen[place + 1 :]
        j, gains = self._best_addition(self.residual(others))
        pays = bool(self.free[j]) and j not in self.chosen and gains[j] - gains[i] > GAIN
        self.chosen[place] = j if pays else i
        return pays


def correlations(C: np.ndarray) -> np.ndarray:
    """The correlation matrix of a covariance matrix."""
    d = np.sqrt(np.diag(C))
    return C / np.outer(d, d)


def tail(statistic: float, q: int, nu: float) -> float:
    """P(−log det R > statistic) under the model (Lugannani and Rice, Adv. Appl. Prob. 12, 1980)."""
    if q < 2 or statistic <= 0:
        return 1.0
    s = _saddle(statistic, q, nu)
    value = cumulant(s, q, nu, 0)
    spread = math.sqrt(cumulant(s, q, nu, 2))
    u = s * spread
    w = math.copysign(math.sqrt(max(0.0, 2 * (s * statistic - value))), s)
    if abs(u) < 1e-4:  # at the mean the two terms of the formula cancel; this is their limit
        return 0.5 - cumulant(s, q, nu, 3) / (6 * math.sqrt(2 * math.pi) * spread**3)
    density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
    return float(np.clip(scipy.special.ndtr(-w) + density * (1 / u - 1 / w), 0.0, 1.0))


def cumulant(s: float, q: int, nu: float, order: int) -> float:
    """The derivative of that order of log E det R⁻ˢ."""
    a, b = (nu - np.arange(1, q)) / 2, nu / 2
    if order == 0:
        gamma = scipy.special.gammaln
        return float(np.sum(gamma(a - s) - gamma(a) + gamma(b) - gamma(b - s)))
    sign = -1.0 if order % 2 else 1.0
    polygamma = scipy.special.polygamma
    return sign * float(np.sum(polygamma(order - 1, a - s) - polygamma(order - 1, b - s)))


def _saddle(statistic: float, q: int, nu: float) -> float:
    """The s at which the first derivative of the cumulant function is the statistic."""
    pole = (nu - q + 1) / 2

    def slope(s: float) -> float:
        return cumulant(s, q, nu, 1) - statistic

    low, high = -1.0, pole / 2
    while slope(low) > 0:
        low *= 4
    while slope(high) < 0:
        high = (high + pole) / 2
    return float(scipy.optimize.brentq(slope, low, high, xtol=1e-12))
