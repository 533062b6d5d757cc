"""The k that the likelihood-ratio test of the subset factor model does not reject."""

import copy
from dataclasses import dataclass, replace

import numpy as np

from .._array import host
from ..errors import UnsupportedError
from ..operators.base import Operator, block_width, blocks
from ..operators.forms import densify
from ..problem import Choice, Method, Problem
from .subset_factor import SubsetFactor, tail

# searches for the best subset before its size is rejected: missing it would reject too often
STARTS = 10


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
        if problem.aim is not None:
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
        _check_independent(K)
        return K, nu


def _check_independent(K: np.ndarray) -> None:
    """Raise when a column is constant or a combination of others."""
    spread = np.diag(K)
    if np.min(spread) <= 0 or np.linalg.eigvalsh(K / np.sqrt(np.outer(spread, spread)))[0] <= 1e-12:
        raise ValueError(
            "the likelihood-ratio test needs independent columns, but some are constant or "
            "combinations of others; drop those"
        )


def centred_gram(operator: Operator) -> np.ndarray:
    """XᵀX of the centred columns, in float64; a sparse X stays sparse."""
    if operator.factor_in_memory:
        X = host(operator.factor()).astype(np.float64)
        X = X - X.mean(axis=0)
        return X.T @ X
    parts = (operator.factor(block) for block in blocks(operator.n, block_width(operator)))
    sums = np.concatenate([host(part).sum(axis=0, dtype=np.float64) for part in parts])
    return host(densify(operator)).astype(np.float64) - np.outer(sums, sums) / (operator.m or 1)
