"""All choices that are nearly as good as the best one, and which columns are in all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._shown import Table
from ..errors import UnsupportedError
from ..problem import Problem
from ..proof.counting import counted
from ..proof.entropy import large_volumes
from ..proof.tree import Tree
from ..runs.runner import watching

if TYPE_CHECKING:
    from ..selection import Selection


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Every choice whose error is within a share of the best, the best first.

    Attributes
    ----------
    choices : a row of k indices for each choice.
    errors : of each, in the units of the data.
    above : by which share each error is above the best.
    within : the largest share.
    complete : whether these are all such choices; False if there are more than were asked for.
    names : of all candidates, if the data have names.
    in_nats : whether `above` and `within` are nats, as for a log determinant.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> s = lm.select(load_breast_cancer(as_frame=True).data, 5, center=True, scale=True)
    >>> found = s.alternatives(within=0.01)
    >>> len(found), found.complete, found.always
    (3, True, ['compactness error', 'worst texture'])
    """

    choices: np.ndarray
    errors: np.ndarray
    above: np.ndarray
    within: float
    complete: bool
    names: tuple[str, ...] | None
    in_nats: bool = False

    def __len__(self) -> int:
        return len(self.choices)

    def label(self, j: int) -> Any:
        """The name of a candidate, or its index."""
        return j if self.names is None else self.names[j]

    @property
    def always(self) -> list[Any]:
        """The columns that are in all of the choices."""
        return [name for name, count in self.counts.items() if count == len(self)]

    @property
    def counts(self) -> dict[Any, int]:
        """In how many of the choices each column is, the most frequent first."""
        indices, counts = np.unique(self.choices, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {self.label(int(indices[i])): int(counts[i]) for i in order}

    @property
    def table(self) -> Table:
        """A row for each choice: its columns, its error, and the share above the best."""
        names = [", ".join(str(self.label(int(j))) for j in row) for row in self.choices]
        columns = {"choice": names, "error": self.errors.tolist(), "above": self.above.tolist()}
        return Table(columns)

    @property
    def sentence(self) -> str:
        """How many there are and what they have in common."""
        k, n = self.choices.shape[1], len(self)
        reach = f"{self.within:.3g} nats" if self.in_nats else f"{100 * self.within:.3g}%"
        share = f"within {reach} of the best"
        if not self.complete:
            return f"More than {n} choices of {k} are {share}; these are the best found."
        if n == 1:
            return f"No other choice of {k} is {share}."
        common = ", ".join(repr(str(name)) for name in self.always)
        return f"{n} choices of {k} are {share}; " + (
            f"{common} {'is' if len(self.always) == 1 else 'are'} in all of them."
            if common
            else "no column is in all of them."
        )

    def __repr__(self) -> str:
        return f"{self.sentence}\n{self.table!r}"

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence}</p>{self.table._repr_html_()}"

    def plot(self, ax: Any = None, *, at_most: int = 20) -> Any:
        """Draw in how many of the choices each column is, as bars."""
        from ..plots.axes import bars

        label = f"in so many of {len(self)} choices"
        return bars(list(self.counts), list(self.counts.values()), label, ax, at_most)


def alternatives(
    selection: Selection, within: float | str, at_most: int, budget: float, callback: Any
) -> Alternatives:
    """All choices within a share of the best error, by counting all."""
    share = _share(within)
    if selection.constraints or selection.most is not None:
        raise UnsupportedError(
            "alternatives compares all choices of k columns, without groups, costs or constraints "
            "on places"
        )
    end = time.monotonic() + _check.seconds(budget)
    problem = Problem(
        selection._data,
        selection.k,
        selection.objective,
        selection.include,
        selection.exclude,
        deadline=end,
    )
    if problem.objective.depth == 0:
        return _in_nats(selection, problem, share, at_most, callback)
    tree = Tree(problem)
    first, rest = tree.split(selection.indices)
    tree.offer(first, rest)
    with watching(callback):
        found = counted(tree, tree.error * (1 + share) * (1 + 1e-9), tighten=False, every=True)
    if found is None or not found.complete:
        raise UnsupportedError(_too_many(problem))
    errors = []
    for picks in found.choices:
        state, unknown = first.pick_all(picks)
        errors.append(np.inf if unknown else state.error(tree.frobenius))
    order = np.argsort(errors, kind="stable")
    least = min([tree.error, *errors])
    kept = [i for i in order if errors[i] <= least * (1 + share) * (1 + 1e-12)]
    rows = [[*selection.include, *found.choices[i]] for i in kept[:at_most]]
    values = np.asarray([errors[i] for i in kept[:at_most]])
    return Alternatives(
        np.asarray(rows, dtype=np.int64).reshape(len(rows), selection.k),
        np.asarray([selection._in_units(float(value), None) for value in values]),
        values / least - 1 if least > 0 else np.zeros(len(values)),
        share,
        len(kept) <= at_most,
        selection.names,
    )


def _in_nats(
    selection: Selection, problem: Problem, within: float, at_most: int, callback: Any
) -> Alternatives:
    """The choices whose log determinant is within so many nats of the largest."""
    with watching(callback):
        found = large_volumes(problem, selection.indices, within)
    if found is None:
        raise UnsupportedError(_too_many(problem))
    objective, operator = problem.objective, problem.operator
    errors = np.asarray([objective.error(operator, np.asarray(row)) for row in found])
    order = np.argsort(errors, kind="stable")
    kept = order[errors[order] <= errors.min() + within + 1e-12]
    rows = np.asarray(found, dtype=np.int64)[kept[:at_most]]
    values, complete = errors[kept[:at_most]], len(kept) <= at_most
    return Alternatives(
        rows, values, values - errors.min(), within, complete, selection.names, True
    )


def _too_many(problem: Problem) -> str:
    return (
        f"the choices of {problem.k} of {len(problem.choosable)} candidates could not all be "
        "compared: there are too many, too many are nearly as good, or rounding hides which are; "
        "give a larger budget, a smaller within, or choose fewer"
    )


def _share(within: Any) -> float:
    """The share as a number; "1%" is 0.01."""
    if isinstance(within, str) and within.strip().endswith("%"):
        within = float(within.strip()[:-1]) / 100
    if isinstance(within, bool) or not isinstance(within, int | float) or not within >= 0:
        raise ValueError(f"within must be a share of at least 0, such as 0.01, got {within!r}")
    return float(within)
