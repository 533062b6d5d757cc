"""Every method of selection; one more line here adds all the contract's tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skeletons import skeleton

import landmarks as lm
from landmarks.methods.registry import METHODS

KERNELS = frozenset({"rbf"})


@dataclass(frozen=True, eq=False)
class Entry:
    """A method and what the contract may ask of it.

    deterministic : the seed changes nothing, so permuted candidates give the permuted answer.
    avoids_copies : zero and duplicate columns are never chosen while others remain.
    serves : the names of the operator cases that it can serve; None for all.
    """

    method: Any
    deterministic: bool = False
    avoids_copies: bool = True
    serves: frozenset[str] | None = None

    def __repr__(self) -> str:
        return repr(self.method)


CONTRACT = [
    Entry(lm.Uniform(), avoids_copies=False),
    Entry(lm.RidgeLeverage()),
    Entry(lm.KDPP()),
    Entry(lm.RPCholesky(block=1)),
    Entry(lm.RPCholesky(block=3)),
    Entry(lm.RPCholesky()),
    Entry(lm.PivotedQR(), deterministic=True),
    Entry(lm.NuclearScores(n_probes=10)),
    Entry(lm.NuclearScores(), deterministic=True),  # more probes than candidates: greedy selection
    Entry(lm.Greedy(), deterministic=True),
    Entry(
        skeleton("skeleton_method").LargestResidual(), deterministic=True
    ),  # what a contributor copies
    Entry(lm.Greedy(gain="frobenius"), deterministic=True),
    Entry(lm.KMeans(), serves=KERNELS),
    Entry(lm.Continuous(strategy="path")),
    Entry(lm.Annealed(n_steps=20, damping=0.4)),
    Entry(lm.Swap(start="greedy"), deterministic=True),
    Entry(lm.Swap(start="rpcholesky")),
    Entry(lm.Iterated(rounds=3)),
    Entry(lm.Exact(), deterministic=True),
    Entry(lm.Knapsack(), deterministic=True),
    Entry(lm.Auto()),
]
BLIND = {
    name
    for name, made in METHODS.items()
    for entry in CONTRACT
    if type(entry.method) is made and not entry.avoids_copies
}  # the names of methods that draw at once, without a look at what is left
