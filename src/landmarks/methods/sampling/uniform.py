"""Uniform sampling without replacement, and draws in proportion to weights.

Williams and Seeger, Advances in Neural Information Processing Systems 13 (2000). All draws are made
on the host, so the same seed gives the same draw with every array library.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...problem import DRAWN, Choice, Problem


@dataclass(frozen=True)
class Uniform:
    """Draw k candidates uniformly without replacement; ignores the data.

    Examples
    --------
    >>> len(lm.select(np.eye(5), 2, method=lm.Uniform()).indices)
    2
    """

    honours: ClassVar[frozenset[str]] = DRAWN

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        include = np.asarray(problem.include, dtype=np.int64)
        apart = np.unique([*problem.include, *problem.exclude]).astype(np.int64)
        places = rng.choice(
            problem.operator.n - len(apart), problem.k - len(include), replace=False
        )
        # the number of place p among those not apart: p + how many apart come before it
        before = np.searchsorted(apart - np.arange(len(apart)), places, side="right")
        return Choice(np.concatenate([include, places + before]))


def draw_order(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All indices in the order of successive draws without replacement, those of weight zero last.

    Efraimidis and Spirakis, Information Processing Letters 97 (2006): sort by exponential variables
    over weights.
    """
    waits = np.full(len(weights), np.inf)
    np.divide(rng.exponential(size=len(weights)), weights, out=waits, where=weights > 0)
    return np.argsort(waits, kind="stable")
