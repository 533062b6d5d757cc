"""Uniform sampling without replacement.

Williams and Seeger, Advances in Neural Information Processing Systems 13 (2000).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...problem import INCLUDE_EXCLUDE, Choice, Problem


@dataclass(frozen=True)
class Uniform:
    """k candidates drawn uniformly without replacement; the data are not looked at.

    Examples
    --------
    >>> len(lm.select(np.eye(5), 2, method=lm.Uniform()).indices)
    2
    """

    honours: ClassVar[frozenset[str]] = INCLUDE_EXCLUDE

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        drawn = rng.permutation(problem.free)[: problem.k - len(problem.include)]
        return Choice(np.concatenate([np.asarray(problem.include, dtype=np.int64), drawn]))
