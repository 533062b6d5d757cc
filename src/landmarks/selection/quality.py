"""How good a choice is: its error, what no choice can go below, and the proof that it is best."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numpy as np

from .._check import choice
from ..errors import RankWarning, UnsupportedError
from ..linalg.aim import Aim
from ..linalg.error import CRITERIA, best_rank_error, exact_error, rank_bound, total
from ..linalg.estimate import Estimate, estimated_error
from ..methods.search.exact import Exact
from ..operators.base import Operator
from ..problem import Problem
from ..proof.certificate import Certificate, certify, seconds
from ..residual.aimed.judged import Judged
from ..runs.progress import watching

PATIENCE = 3.0  # seconds for a proof that was estimated to take less than one


class Quality:
    """The errors and bounds of a selection, each computed when asked for and then known.

    It has no fields of its own; the annotations name those of `Selection` that it reads.
    """

    indices: np.ndarray
    n: int
    criterion: str
    bound: float | None
    exponent: int
    operator: Operator | None
    known: dict[str, float]
    include: tuple[int, ...]
    exclude: tuple[int, ...]
    aim: Aim | None

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
        """tr(K − K̂) for "trace" (‖X − P_S X‖²_F for columns), ‖K − K̂‖²_F for "frobenius"."""
        return self._in_units(self._figure("error", criterion), criterion)

    def estimated_error(
        self, criterion: str | None = None, *, n_probes: int = 32, seed: int = 0
    ) -> Estimate:
        """The error with a 95 % confidence interval, where the exact one costs too much.

        It takes one block of probes.
        """
        self._refuse("estimated_error", "error() is exact")
        criterion = self._criterion(criterion)
        found = estimated_error(self._data, self.indices, criterion, n_probes=n_probes, seed=seed)
        value, low, high = (
            self._in_units(figure, criterion) for figure in (found.value, found.low, found.high)
        )
        return Estimate(value, low, high, n_probes)

    def total(self, criterion: str | None = None) -> float:
        """The error of choosing nothing: tr K, or ‖K‖²_F."""
        return self._in_units(self._figure("total", criterion), criterion)

    def relative_error(self, criterion: str | None = None) -> float:
        """The error divided by `total`, that of choosing nothing."""
        total = self._figure("total", criterion)
        return self._figure("error", criterion) / total if total > 0 else 0.0

    def best_rank_error(self, criterion: str | None = None) -> float:
        """The error of the best rank-k approximation, which need not come from columns."""
        return self._in_units(self._figure("best_rank", criterion), criterion)

    def lower_bound(self, criterion: str | None = None) -> float:
        """What no choice of k columns that honours include and exclude can go below.

        The best bound known: of the best rank-k error, of an exact search, or of `certificate`.
        With groups or costs it holds for every choice of at most `most_columns` columns.
        """
        return self._in_units(self._bound(criterion), criterion)

    def gap(self, criterion: str | None = None) -> float:
        """How much of the error could still be avoided at most, from 0 (proved optimal) to 1."""
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

        Examples
        --------
        >>> import numpy as np
        >>> import landmarks as lm
        >>> s = lm.select(np.random.default_rng(0).standard_normal((30, 8)), 3)
        >>> s.certificate(budget=1.0).bound <= s.error()
        True
        """
        self._refuse("certificate", 'lower_bound() and method="exact" hold for them')
        begun = time.monotonic()
        criterion = self._criterion(criterion)
        problem = Problem(
            self._data,
            self.most_columns,
            criterion,
            self.include,
            self.exclude,
            deadline=begun + seconds(budget),
        )
        point = None if after is None else after.point
        with watching(callback):
            found = certify(problem, self.indices, self._figure("error", criterion), point)
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
        """The error over the best rank-k error (Section 4).

        NaN, with a warning, beyond the numerical rank.
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

    @property
    def _data(self) -> Operator:
        if self.operator is None:
            raise ValueError(
                "this selection was loaded without its data; give them with load(path, data=…)"
            )
        return self.operator

    @property
    def _judged(self) -> Judged | None:
        """What computes the figures where there is an aim."""
        return None if self.aim is None else Judged(self._data, self.aim, self.exclude)

    def _criterion(self, criterion: str | None) -> str:
        """The criterion that is meant; with a target or noise there is only the trace."""
        criterion = choice(criterion or self.criterion, CRITERIA, "criterion")
        if self.aim is not None and criterion != "trace":
            raise UnsupportedError(
                f"this selection is for {' and '.join(self.aim.asked)}, which has the criterion "
                f'"trace" only, got {criterion!r}'
            )
        return criterion

    def _refuse(self, what: str, instead: str) -> None:
        if self.aim is not None:
            raise UnsupportedError(
                f"{what} is not there for a choice with {' and '.join(self.aim.asked)}; {instead}"
            )

    def _bound(self, criterion: str | None) -> float:
        """The best lower bound that is known, in the units of the operator."""
        criterion = self._criterion(criterion)
        if criterion == self.criterion:
            self._prove_if_asked()
        found = [self.known.get(f"certificate:{criterion}")]
        found.append(self.bound if criterion == self.criterion else None)
        proved = [bound for bound in found if bound is not None]
        if proved:  # the error may be rounded further than what is proved of it
            proved = [min(max(proved), self._figure("error", criterion))]
        return max([self._figure("rank_bound", criterion), *proved])

    def _prove_if_asked(self) -> None:
        """Search all choices if `auto` left a short proof until somebody wants to know."""
        if self.known.pop("provable", None) is None or self.operator is None:
            return
        problem = Problem(
            self.operator,
            self.k,
            self.criterion,
            self.include,
            self.exclude,
            deadline=time.monotonic() + PATIENCE,
        )
        problem.warned.add("rank")
        found = Exact(start=self.indices).choose(problem, np.random.default_rng(0))
        self.known[f"certificate:{self.criterion}"] = float(found.bound or 0.0)

    def _figure(self, kind: str, criterion: str | None) -> float:
        """A figure in the units of the operator, computed once."""
        criterion = self._criterion(criterion)
        key = f"{kind}:{criterion}"
        if key not in self.known:
            self.known[key] = self._compute(kind, criterion)
        return self.known[key]

    def _compute(self, kind: str, criterion: str) -> float:
        if self._judged is not None:
            return self._judged.figure(kind, self.indices)
        if kind == "error":
            return exact_error(self._data, self.indices, criterion)
        if kind == "total":
            return total(self._data, criterion)
        if kind == "rank_bound" and self.operator is None:  # a file of version 0.1
            return self._figure("best_rank", criterion) * (1 - 1e-9)
        if kind == "best_rank":
            return best_rank_error(self._data, self.k, criterion)
        if self.most_columns >= self.n:
            return 0.0
        return rank_bound(self._data, self.most_columns, criterion)

    def _in_units(self, figure: float, criterion: str | None) -> float:
        """The figure in the units of the data: times 2**exponent, squared for ‖·‖²_F."""
        squared = (criterion or self.criterion) == "frobenius"
        exponent = 2 * self.exponent if squared else self.exponent
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(figure, exponent))
