"""Every method of selection; one more line here adds all the contract's tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skeletons import skeleton

from landmarks import Annealed, Auto, Continuous, Exact, Iterated, Swap
from landmarks.methods.greedy.greedy import Greedy
from landmarks.methods.greedy.nuclear import NuclearScores
from landmarks.methods.greedy.pivoted_qr import PivotedQR
from landmarks.methods.groups.knapsack import Knapsack
from landmarks.methods.sampling.kdpp import KDPP
from landmarks.methods.sampling.kmeans import KMeans
from landmarks.methods.sampling.leverage import RidgeLeverage
from landmarks.methods.sampling.rpcholesky import RPCholesky
from landmarks.methods.sampling.uniform import Uniform

KERNELS = frozenset({"rbf"})


@dataclass(frozen=True, eq=False)
class Entry:
    """A method and what the contract may ask of it.

    deterministic : the seed changes nothing, so permuted candidates give the permuted answer.
    looks_at_data : zero and duplicate columns are never chosen while others remain.
    serves : the names of the operator cases that it can serve; None for all.
    """

    method: Any
    deterministic: bool = False
    looks_at_data: bool = True
    serves: frozenset[str] | None = None

    def __repr__(self) -> str:
        return repr(self.method)


METHODS = [
    Entry(Uniform(), looks_at_data=False),
    Entry(RidgeLeverage()),
    Entry(KDPP()),
    Entry(RPCholesky(block=1)),
    Entry(RPCholesky(block=3)),
    Entry(RPCholesky()),
    Entry(PivotedQR(), deterministic=True),
    Entry(NuclearScores(n_probes=10)),
    Entry(NuclearScores(), deterministic=True),  # more probes than candidates: greedy selection
    Entry(Greedy(), deterministic=True),
    Entry(
        skeleton("skeleton_method").LargestResidual(), deterministic=True
    ),  # what a contributor copies
    Entry(Greedy(gain="frobenius"), deterministic=True),
    Entry(KMeans(), serves=KERNELS),
    Entry(Continuous(strategy="path")),
    Entry(Continuous(strategy="frank_wolfe")),
    Entry(Annealed(n_steps=20, damping=0.4)),
    Entry(Swap(start="greedy"), deterministic=True),
    Entry(Swap(start="rpcholesky")),
    Entry(Iterated(rounds=3)),
    Entry(Exact(), deterministic=True),
    Entry(Knapsack(), deterministic=True),
    Entry(Auto()),
]
