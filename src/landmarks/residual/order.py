"""The order in which greedy selection would choose among the members of a choice.

What each member gains in the trace follows from two matrices of order k, G = C_SS and A = (C²)_SS.
Both come from Y = C_:S, which becomes Y − Y_:j G_j:/G_jj when j is picked.
"""

from __future__ import annotations

import numpy as np

from .._array import add_outer, double, host, take
from ..operators.base import Operator
from ..operators.forms import Factored
from ..problem import Problem
from .explicit import Explicit
from .residual import floor

FADED = 1e-6  # of the largest (C²)_jj: below it G and A are computed from Y again


def greedy_order(problem: Problem, chosen: np.ndarray) -> np.ndarray:
    """The chosen indices in the order of greedy selection, the included ones first.

    Those that the ones before them represent come last, in the order given.
    """
    include = [j for j in problem.include if j in chosen]
    members = np.asarray(list(dict.fromkeys([*include, *map(int, chosen)])), dtype=np.int64)
    residual = Members(problem.operator, members)
    for i in range(len(include)):
        residual.pick(i)
    while (best := residual.best()) is not None:
        residual.pick(best)
    return members[list(dict.fromkeys([*residual.order, *range(len(members))]))]


class Members:
    """The residual of the members alone, while they are picked one by one.

    M : what Y must be multiplied by, since G and A were computed from it.
    """

    def __init__(self, operator: Operator, members: np.ndarray):
        self.operator = operator
        self.members = members
        self.order: list[int] = []
        self.floors = host(floor(operator, len(members)))
        self.floor = self.floors[members]
        self.M = np.eye(len(members))
        if isinstance(operator, Factored):
            self.Y = np.zeros((0, len(members)))
        else:
            self.Y = host(double(operator.columns(members)))
        self._compute()

    def _compute(self) -> None:
        """G and A from columns of C: of the residual of X where there is one, else Y."""
        if isinstance(self.operator, Factored):
            source = Explicit(self.operator, 0)
            source.load(self.members[self.order], self.floors, len(self.members))
            left = take(source.R, self.members, axis=1)
            self.G, columns = host(left.T @ left), host(source.R.T @ left)
        else:
            self.Y = columns = self.Y @ self.M
            self.G = self.Y[self.members]
        self.A = columns.T @ columns
        self.M = np.eye(len(self.members))
        self.largest = float(np.max(np.diagonal(self.A), initial=0.0))

    def best(self) -> int | None:
        """The member that gains most in the trace, None where none is left to represent."""
        if np.max(np.diagonal(self.A), initial=0.0) < FADED * self.largest:
            self._compute()
        left = np.diagonal(self.G) > self.floor
        left[self.order] = False
        gains = np.where(left, np.diagonal(self.A) / np.where(left, np.diagonal(self.G), 1.0), -1.0)
        return int(np.argmax(gains)) if np.any(left) else None

    def pick(self, i: int) -> None:
        """Pick the member at a position; one that is represented already changes nothing."""
        self.order.append(i)
        c, a = float(self.G[i, i]), float(self.A[i, i])
        if c <= self.floor[i]:
            return
        g, s = self.G[i] / c, self.A[i] - 0.5 * (a / c) * self.G[i]
        add_outer(self.M, -self.M[:, i] + 0.0, g)
        add_outer(self.A, -g, s)
        add_outer(self.A, -s, g)
        add_outer(self.G, -c * g, g)
        for matrix in (self.M, self.A, self.G):
            matrix[:, i] = 0.0
        self.A[i] = self.G[i] = 0.0
