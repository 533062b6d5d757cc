"""
Add a method
============

A method is a frozen dataclass of its settings with one function, ``choose(problem, rng)``. Here is
one that is not in the package: the columns of largest norm. An object of it can be given wherever a
name can, also as the start of a search.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.datasets import load_digits

import landmarks as lm


@dataclass(frozen=True)
class LargestNorm:
    """The k columns of largest norm, whatever they share."""

    honours: ClassVar[frozenset[str]] = frozenset({"exclude"})

    def choose(self, problem, rng):
        """The candidates by falling diagonal of K."""
        diagonal = np.asarray(problem.operator.diagonal())[problem.candidates]
        return lm.Choice(problem.candidates[np.argsort(-diagonal, kind="stable")[: problem.k]])


# %%
# It is used like the others, and compared with them on equal terms.

X = load_digits().data
X = X - X.mean(axis=0)
for method in (LargestNorm(), "greedy", "auto"):
    selection = lm.select(X, 10, method=method)
    print(f"{selection.method:<16} leaves {selection.relative_error():.1%} of the variance")

# %%
# As a start: swaps improve whatever they are given.

improved = lm.select(X, 10, method=lm.Swap(start=LargestNorm()))
print(f"{improved.relative_error():.1%} after swaps")

# %%
# A method that takes long is a generator that yields a ``Step`` after each step, and ``run`` makes
# the steps. Then it reports progress, ends on request, and goes on from a checkpoint
# (``docs/checkpoints.md``).
#
# To bring it into the package, copy ``docs/skeleton_method.py``, add one line to the registry and
# run ``tools/register``; ``CONTRIBUTING.md`` has the steps.
