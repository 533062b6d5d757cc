"""How good a choice is: its error, what no choice can go below, and the proof that it is best."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

from ..errors import RankWarning
from ..linalg.estimate import Estimate, estimated_error
from ..methods.aimed.certified import certified
from ..problem import Problem
from ..proof.certificate import Certificate, certify, seconds
from ..runs.progress import watching
from .figures import Figures


class Quality(Figures):
    """What a user asks about the quality of a selection."""

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

    def error(self, criterion: str | None = None) -> float:
        """The error of the choice: tr(K − K̂) for "trace", ‖K − K̂‖²_F for "frobenius".

        For columns of X the trace is ‖X − P_S X‖²_F, the squared error of rebuilding all columns.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            In the units of the data, squared.

        Examples
        --------
        >>> import numpy as np
        >>> import landmarks as lm
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.error()
        1.0
        """
        return self._in_units(self._figure("error", criterion), criterion)

    def estimated_error(
        self, criterion: str | None = None, *, n_probes: int = 32, seed: int = 0
    ) -> Estimate:
        """The error with a 95 % confidence interval, where the exact one costs too much.

        It takes one product with a block of random probes.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.
        n_probes : the width of the block; four times as many halve the interval.
        seed : one seed gives one block.

        Returns
        -------
        Estimate
            `value`, and the ends `low` and `high` of the interval.

        Examples
        --------
        >>> import numpy as np
        >>> import landmarks as lm
        >>> points = np.random.default_rng(0).standard_normal((200, 2))
        >>> s = lm.select(lm.kernel(points, lm.rbf(sigma=1.0)), 10, method="greedy")
        >>> found = s.estimated_error(n_probes=100)
        >>> found.low <= found.value <= found.high
        True
        """
        self._refuse("estimated_error", "error() is exact")
        criterion = self._criterion(criterion)
        found = estimated_error(self._data, self.indices, criterion, n_probes=n_probes, seed=seed)
        value, low, high = (
            self._in_units(figure, criterion) for figure in (found.value, found.low, found.high)
        )
        return Estimate(value, low, high, n_probes)

    def total(self, criterion: str | None = None) -> float:
        """The error of choosing nothing: tr K, or ‖K‖²_F.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            What `relative_error` divides by.

        Examples
        --------
        >>> import numpy as np
        >>> import landmarks as lm
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.total()
        14.0
        """
        return self._in_units(self._figure("total", criterion), criterion)

    def relative_error(self, criterion: str | None = None) -> float:
        """The error as a share of the error of choosing nothing.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            From 0, everything is rebuilt, to 1.

        Examples
        --------
        >>> import numpy as np
        >>> import landmarks as lm
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> round(s.relative_error(), 3)
        0.071
        """
        whole = self._figure("total", criterion)
        return self._figure("error", criterion) / whole if whole > 0 else 0.0

    def best_rank_error(self, criterion: str | None = None) -> float:
        """The error of the best k directions (PCA), which need not be columns.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            The sum of the eigenvalues of K after the k largest, or of their squares.

        Examples
        --------
        >>> import numpy as np
        >>> import landmarks as lm
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.best_rank_error()
        1.0
        """
        return self._in_units(self._figure("best_rank", criterion), criterion)

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
        >>> import numpy as np
        >>> import landmarks as lm
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
        >>> import numpy as np
        >>> import landmarks as lm
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
        """A lower bound on the error of every choice, raised for so many seconds.

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
        >>> import numpy as np
        >>> import landmarks as lm
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

    def factor(self, criterion: str | None = None) -> float:
        """The error over that of the best k directions (Section 4).

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            At least 1; NaN, with a warning, beyond the numerical rank.

        Examples
        --------
        >>> import numpy as np
        >>> import landmarks as lm
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.factor()
        1.0
        """
        tail = self._figure("best_rank", criterion)
        certain = tail
        if self.most_columns == self.k:
            certain = self._figure("rank_bound", criterion)
        if tail <= 0 or certain < tail / 2:
            warnings.warn(
                f"the factor is undefined: rounding may be half of the best rank-{self.k} error or"
                " more, k is at the numerical rank",
                RankWarning,
                stacklevel=2,
            )
            return math.nan
        return self._figure("error", criterion) / tail
