"""All choices that are nearly as good as the best one, and which columns are in all of them."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._shown import PRINTED_ROWS, ShownAsBars, Table, columns_of, listed, wrapped
from ..errors import UnsupportedError
from ..problem import Problem
from ..proof.search import Search
from ..runs.runner import watching

if TYPE_CHECKING:
    from ..selection import Selection


INDENT = 2  # of what the command line prints
SURE = 1e-9  # of an error: rounding that may decide whether a choice is listed


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives(ShownAsBars):
    """Every choice whose error is within a share, or so many nats, of the best, the best first.

    Attributes
    ----------
    rows : the indices of each choice; `choices` has them as one array.
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

    rows: tuple[np.ndarray, ...]
    errors: np.ndarray
    above: np.ndarray
    within: float
    complete: bool
    names: tuple[str, ...] | None
    in_nats: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def choices(self) -> Any:
        """The indices: an array with a row for each choice, or a list if their lengths differ."""
        lengths = {len(row) for row in self.rows}
        return np.stack(self.rows) if len(lengths) == 1 else [row.tolist() for row in self.rows]

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
        indices, counts = np.unique(np.concatenate(self.rows), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {self.label(int(indices[i])): int(counts[i]) for i in order}

    @property
    def table(self) -> Table:
        """A row for each choice: its columns, its error, and the share above the best."""
        names = [", ".join(str(self.label(int(j))) for j in row) for row in self.rows]
        columns = {"choice": names, "error": self.errors.tolist(), "above": self.above.tolist()}
        return Table(columns)

    @property
    def sentence(self) -> str:
        """How many there are and what they have in common."""
        n, sizes = len(self), {len(row) for row in self.rows}
        of = f" of {sizes.pop()}" if len(sizes) == 1 else ""
        reach = f"{self.within:.3g} nats" if self.in_nats else f"{100 * self.within:.3g}%"
        share = f"within {reach} of the best"
        if not self.complete:
            return f"More than {n} choices{of} are {share}; these are the best {n}."
        if n == 1:
            return f"No other choice{of} is {share}."
        common = ", ".join(repr(str(name)) for name in self.always)
        return f"{n} choices{of} are {share}; " + (
            f"{common} {'is' if len(self.always) == 1 else 'are'} in all of them."
            if common
            else "no column is in all of them."
        )

    def __repr__(self) -> str:
        width, columns = columns_of(sys.stdout) - INDENT, self.table.columns
        others = {name: columns[name] for name in ("error", "above")}
        room = width - len("  ") - max(map(len, repr(Table(others)).splitlines()))
        names = [[str(self.label(int(j))) for j in row] for row in self.rows[:PRINTED_ROWS]]
        choice = [listed(row, room) for row in names] + [""] * (len(self) - len(names))
        return "\n".join(
            [*wrapped(self.sentence, width), repr(Table({"choice": choice, **others}))]
        )

    @property
    def bars(self) -> tuple[list[Any], list[float], str]:
        """In how many of the choices each column is."""
        return [*self.counts], [*self.counts.values()], f"in so many of {len(self)} choices"


def alternatives(
    selection: Selection, within: float | str, at_most: int, budget: float, callback: Any
) -> Alternatives:
    """All choices within a share of the best error, by looking at all."""
    asked = _reach(within, selection.objective.shares)
    at_most = _check.count(at_most, "at_most")
    problem = selection.problem(time.monotonic() + _check.seconds(budget))
    share, found = asked, None
    with watching(callback):
        while found is None:
            search = Search(problem, within=share)
            search.begin(selection.indices)
            bound = search.search()
            if bound < search.cutoff:
                raise UnsupportedError(_too_many(problem))
            found = None if search.full else search.listed
            share = share if found is not None else share / 4
    in_nats = not problem.objective.shares
    units = list(dict.fromkeys(tuple(sorted(row)) for row in found))
    units = [row for row in units if row or problem.include]  # nothing is no choice
    if in_nats and problem.allowed.sized:  # of dependent columns the search leaves out some
        units = [row for row in units if problem.count(search.columns(row)) == problem.k]
    if not units and in_nats:
        raise UnsupportedError("every choice has the determinant 0; choose fewer, or give noise")
    if not units:
        raise UnsupportedError("no column lowers the error, so nothing need be chosen")
    rows = [search.columns(row) for row in units]
    errors, margins = np.asarray([search.error_of(row) for row in units]).T
    best = int(np.argmin(errors))
    least = float(errors[best])
    top, margins = least + share if in_nats else least * (1 + share), margins + margins[best]
    if np.any((np.abs(errors - top) <= margins) & (margins > SURE * abs(top))):
        raise UnsupportedError(_too_many(problem))  # rounding hides on which side
    if in_nats:
        above = errors - least
    else:
        above = errors / least - 1 if least > 0 else np.where(errors > 0, np.inf, 0.0)
    order = [i for i in np.argsort(errors, kind="stable") if above[i] <= share + 1e-12]
    kept = order[:at_most]
    if in_nats:  # with what the scale of the data adds
        errors = errors + (problem.objective.error(problem.operator, rows[order[0]]) - least)
    return Alternatives(
        tuple(rows[i] for i in kept),
        np.asarray([selection._in_units(float(errors[i]), None) for i in kept]),
        above[kept],
        asked,
        len(kept) == len(order) and share == asked,
        selection.names,
        in_nats,
    )


def _too_many(problem: Problem) -> str:
    return (
        f"the choices of {problem.k or 'any number'} of {problem.count(problem.candidates)} "
        "candidates could not all be compared in this time, or rounding hides which are nearly as "
        "good; give a larger budget, another within, or choose fewer"
    )


def _reach(within: Any, shares: bool) -> float:
    """The share as a number; "1%" is 0.01. Or else how many nats."""
    percent = isinstance(within, str) and within.strip().endswith("%")
    if percent and not shares:
        raise UnsupportedError(
            f"a log determinant has no shares, so within is a number of nats such as 0.01, got "
            f"{within!r}"
        )
    if percent:
        with suppress(ValueError):
            within = float(within.strip()[:-1]) / 100
    if not _check.is_number(within) or not within >= 0:
        what = "a share of at least 0" if shares else "a number of nats, at least 0"
        raise ValueError(f"within must be {what}, such as 0.01, got {within!r}")
    return float(within)
