"""The errors of a choice, each computed once, and lower bounds on the error of any choice."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._check import choice, seconds
from ..errors import UnsupportedError
from ..methods.search.exact import Exact
from ..objectives.objective import OBJECTIVES, Objective
from ..operators.base import Operator
from ..placement.constraint import Constraint
from ..problem import Problem
from ..proof.certificate import Certificate, certify
from ..runs.runner import watching

if TYPE_CHECKING:
    from .selection import Selection


class Bounds:
    """Computes the errors and bounds of a selection, and remembers them in `known`.

    It has no fields of its own; the annotations name those of `Selection` that it reads.
    """

    indices: np.ndarray
    n: int
    objective: Objective
    bound: float | None
    exponent: int
    operator: Operator | None
    known: dict[str, float]
    include: tuple[int, ...]
    exclude: tuple[int, ...]
    constraints: tuple[Constraint, ...]

    @property
    def criterion(self) -> str:
        """The word for what was minimised: "trace", "frobenius"."""
        return self.objective.criterion

    @property
    def k(self) -> int:
        """The number of indices."""
        return len(self.indices)

    @property
    def most_columns(self) -> int:
        """The most columns that an allowed choice has: more than k only with groups or costs."""
        return int(self.known.get("columns", self.k))

    @property
    def proved(self) -> bool:
        """Whether no choice of k columns that satisfies the constraints can be better.

        Better means by more than 1e-9 of the error. This is what is known; `prove` searches.
        """
        if "proved" in self.known:
            return True
        if self.bound is None and f"certificate:{self.criterion}" not in self.known:
            return False
        bound = self._bound(None)
        return bool(self._figure("error", None) <= bound + 1e-9 * abs(bound))

    def lower_bound(self, criterion: str | None = None) -> float:
        """A lower bound on the error of every choice of k columns with include and exclude.

        It is the best bound known: the best rank-k error, or that of an exact search or of
        `certificate`. With groups or costs it holds for every choice of at most `most_columns`
        columns.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            At most `error(criterion)`; equal to it if the choice is proved to be the best.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> round(s.lower_bound(), 6)
        1.0
        """
        return self._in_units(self._bound(criterion), criterion)

    def gap(self, criterion: str | None = None) -> float:
        """The largest share of the error that another choice could avoid; for logdet, in nats.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            From 0 (proved optimal) to 1 (nothing is known).

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> round(s.gap(), 6)
        0.0
        """
        error = self._figure("error", criterion)
        objective = self._objective(self._criterion(criterion))
        return objective.gap(error, self._bound(criterion))

    def certificate(
        self,
        budget: float = 60.0,
        *,
        criterion: str | None = None,
        after: Certificate | None = None,
        callback: Any = None,
    ) -> Certificate:
        """A lower bound on the error of every choice; more seconds raise it.

        `lower_bound`, `gap` and `proved` use it afterwards. It accounts for rounding.

        Parameters
        ----------
        budget : seconds. More give a better bound; the cheap bounds come first.
        criterion : of the error; that of the selection by default.
        after : an earlier certificate of this selection to continue from.
        callback : called with a `Progress` from time to time; if it returns True, the work ends.

        Returns
        -------
        Certificate
            `bound` and `gap`, where the bound comes from, and the seconds it took.

        Examples
        --------
        >>> s = lm.select(np.random.default_rng(0).standard_normal((30, 8)), 3)
        >>> s.certificate(budget=1.0).bound <= s.error()
        True
        """
        begun = time.monotonic()
        criterion = self._criterion(criterion)
        problem = Problem(
            self._data,
            self.most_columns,
            self._objective(criterion),
            self.include,
            self.exclude,
            deadline=begun + seconds(budget),
        )
        point = None if after is None else after.point
        error = self._figure("error", criterion)
        with watching(callback):
            found = certify(problem, self.indices, error, point)
        known = max(found.value, self._bound(criterion))
        self.known[f"certificate:{criterion}"] = known
        return Certificate(
            bound=self._in_units(known, criterion),
            gap=self.gap(criterion),
            source=found.source if found.value >= known else "known",
            seconds=time.monotonic() - begun,
            iterations=found.iterations,
            point=found.point,
        )

    def prove(self, budget: float = 60.0, *, callback: Any = None) -> Selection:
        """The best choice of all, proved if the budget suffices.

        Parameters
        ----------
        budget : seconds.
        callback : called with a `Progress` from time to time; if it returns True, the work ends.

        Returns
        -------
        Selection
            This selection, or a better one if there is one; `proved` says whether it is the best.

        Examples
        --------
        >>> s = lm.select(np.random.default_rng(0).standard_normal((30, 12)), 4, method="greedy")
        >>> s.proved, s.prove().proved
        (False, True)
        """
        if self.constraints or "columns" in self.known:
            raise UnsupportedError(
                "prove compares all choices of k columns, without groups, costs or constraints on "
                "places; certificate() gives a lower bound"
            )
        end = time.monotonic() + seconds(budget)
        problem = Problem(
            self._data, self.k, self.objective, self.include, self.exclude, deadline=end
        )
        problem.warned.add("rank")
        with watching(callback):
            found = Exact(start=self.indices).choose(problem, np.random.default_rng(0))
        known = {name: figure for name, figure in self.known.items() if "error" not in name}
        known |= {"proved": 1.0} if found.details["proved"] else {}
        better = replace(self._itself, indices=found.indices, known=known, bound=found.bound)
        lower = better._figure("error", None) < self._figure("error", None) * (1 - 1e-9)
        if lower:
            return better
        self.known.update({name: known[name] for name in ("proved",) if name in known})
        bound = max(float(found.bound or 0.0), self.known.get(f"certificate:{self.criterion}", 0.0))
        self.known[f"certificate:{self.criterion}"] = bound
        return self._itself

    @property
    def _itself(self) -> Selection:
        """The selection: `Selection` is the only class that derives from this one."""
        return cast("Selection", self)

    @property
    def _data(self) -> Operator:
        if self.operator is None:
            raise ValueError(
                "this selection was loaded without its data; give them with load(path, data=…)"
            )
        return self.operator

    def _criterion(self, criterion: str | None) -> str:
        """The criterion that is meant: that of the selection unless another is named."""
        return choice(criterion or self.criterion, tuple(OBJECTIVES), "criterion")

    def _objective(self, criterion: str) -> Objective:
        """What the selection minimised, or the same target and noise measured in another way."""
        if criterion == self.criterion:
            return self.objective
        return self.objective.measured(OBJECTIVES[criterion])

    def _refuse(self, what: str, instead: str) -> None:
        if not self.objective.plain:
            asked = " and ".join(self.objective.asked)
            raise UnsupportedError(f"{what} is not available for a choice with {asked}; {instead}")

    def _bound(self, criterion: str | None) -> float:
        """The best lower bound that is known, in the units of the operator."""
        criterion = self._criterion(criterion)
        listed = [self.known.get(f"certificate:{criterion}")]
        listed.append(self.bound if criterion == self.criterion else None)
        proved = [bound for bound in listed if bound is not None]
        if proved:  # the error may be rounded further than what is proved of it
            proved = [min(max(proved), self._figure("error", criterion))]
        found = max([self._figure("rank_bound", criterion), *proved])
        if not self._objective(criterion).plain:  # the error may be rounded further than the bound
            found = min(found, self._figure("error", criterion))
        return found

    def _figure(self, kind: str, criterion: str | None) -> float:
        """A figure in the units of the operator, computed once."""
        criterion = self._criterion(criterion)
        key = f"{kind}:{criterion}"
        if key not in self.known:
            self.known[key] = self._compute(kind, criterion)
        return self.known[key]

    def _compute(self, kind: str, criterion: str) -> float:
        objective = self._objective(criterion)
        if kind == "error":
            return objective.exact_error(self._data, self.indices)
        if kind == "total":
            return objective.total(self._data)
        if kind == "rank_bound" and self.operator is None:  # a file of version 0.1
            return self._figure("best_rank", criterion) * (1 - 1e-9)
        if kind == "best_rank":
            return objective.best_rank_error(self._data, self.k, self.exclude)
        if self.most_columns >= self.n and objective.plain:
            return 0.0
        return objective.bound(self._data, self.most_columns, self.exclude)

    def _in_units(self, figure: float, criterion: str | None) -> float:
        """The figure in the units of the data: times 2**exponent, squared for ‖·‖²_F."""
        return self._objective(self._criterion(criterion)).in_units(figure, self.exponent)
