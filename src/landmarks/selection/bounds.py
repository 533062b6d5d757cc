"""What no choice can go below, and the proof that a choice is best."""

from __future__ import annotations

import time
from typing import Any

from .._check import seconds
from ..methods.aimed.certified import certified
from ..problem import Problem
from ..proof.certificate import Certificate, certify
from ..runs.runner import watching
from .figures import Figures


class Bounds(Figures):
    """What a user asks about the choices that were not made."""

    @property
    def proved(self) -> bool:
        """Whether no choice of k columns that honours the constraints can be better.

        Better means by more than 1e-9 of the error.
        """
        self._prove_if_asked()
        if "proved" in self.known:
            return True
        if self.bound is None and f"certificate:{self.criterion}" not in self.known:
            return False
        return self._figure("error", None) <= self._bound(None) * (1 + 1e-9)

    def lower_bound(self, criterion: str | None = None) -> float:
        """What no choice of k columns that honours include and exclude can go below.

        The best bound known: of the best rank-k error, of an exact search, or of `certificate`.
        With groups or costs it holds for every choice of at most `most_columns` columns.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            At most `error(criterion)`; equal to it where the choice is proved to be the best.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> round(s.lower_bound(), 6)
        1.0
        """
        return self._in_units(self._bound(criterion), criterion)

    def gap(self, criterion: str | None = None) -> float:
        """How much of the error another choice could avoid at most.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            From 0, proved optimal, to 1: nothing is known.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> round(s.gap(), 6)
        0.0
        """
        error = self._figure("error", criterion)
        return max(0.0, 1.0 - self._bound(criterion) / error) if error > 0 else 0.0

    def certificate(
        self,
        budget: float = 60.0,
        *,
        criterion: str | None = None,
        after: Certificate | None = None,
        callback: Any = None,
    ) -> Certificate:
        """A lower bound on the error of every choice; more seconds raise it.

        `lower_bound`, `gap` and `proved` know it afterwards. It holds with rounding included.

        Parameters
        ----------
        budget : seconds. More give a better bound; the cheap bounds come first.
        criterion : of the error; that of the selection by default.
        after : a certificate of this selection to go on from.
        callback : called with a `Progress` now and then; when it returns True the work ends.

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
            criterion,
            self.include,
            self.exclude,
            aim=self.aim,
            deadline=begun + seconds(budget),
        )
        point = None if after is None else after.point
        error = self._figure("error", criterion)
        with watching(callback):
            if self.aim is None:
                found = certify(problem, self.indices, error, point)
            else:
                found = certified(problem, self.indices, error)
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
