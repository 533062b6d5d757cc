"""
Add a method
============

A method is a frozen dataclass of its settings with one function, ``choose(problem, rng)``. Here is
one that is not in the package: the columns of largest norm. You can pass an object of it wherever
you can pass the name of a method, and as the start of a search.
"""

from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import landmarks as lm


@dataclass(frozen=True)
class LargestNorm:
    """The k columns of largest norm, even if they are nearly the same."""

    honours: ClassVar[frozenset[str]] = frozenset({"exclude"})

    def choose(self, problem, rng):
        """The candidates in decreasing order of the diagonal of K."""
        diagonal = np.asarray(problem.operator.diagonal())[problem.candidates]
        return lm.Choice(problem.candidates[np.argsort(-diagonal, kind="stable")[: problem.k]])


# %%
# Use it like any other method, and compare it with others.

X = load_digits().data
X = X - X.mean(axis=0)
table = lm.compare(X, [2, 5, 10, 20], methods=[LargestNorm(), "greedy", "auto"])
print(table)
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
curves = table.plot(ax)

# %%
# Use it as a start: swaps improve any choice.

improved = lm.select(X, 10, method=lm.Swap(start=LargestNorm()))
print(f"{1 - improved.relative_error():.1%} kept after swaps")

# %%
# Write a method that takes long as a generator that yields a ``Step`` after each step, and let
# ``run`` drive it. Then it reports progress, stops on request, and can continue from a checkpoint
# (``docs/checkpoints.md``).
#
# To add it to the package, copy ``docs/skeleton_method.py``, add one line to the registry and
# run ``tools/register``; ``CONTRIBUTING.md`` has the steps.
