"""The result of a selection: the indices, how good they are, how they were found, and what they cost."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._check import choice
from ..approximate import CRITERIA, Nystrom, best_rank_error, selection_error, total
from ..errors import RankWarning
from ..operators.base import Operator, check_indices
from .problem import Trial


@dataclass(frozen=True)
class Cost:
    """What a selection used: vectors multiplied by K, columns read, entries read or evaluated, seconds."""

    products: int
    columns: int
    entries: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Selection:
    """k distinct indices in order of choice, with their errors, bounds and factors.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
    >>> sorted(s.indices.tolist()), s.error("trace")
    ([1, 2], 1.0)
    """

    indices: np.ndarray
    n: int
    criterion: str
    method: str
    seed: int | None
    ledger: Cost
    names: tuple[str, ...] | None = None
    path: Any = None
    trials: tuple[Trial, ...] = ()
    bound: float | None = None
    operator: Operator | None = field(default=None, repr=False)
    known: dict[str, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        indices = check_indices(self.indices, self.n)
        indices.flags.writeable = False
        object.__setattr__(self, "indices", indices)

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def k(self) -> int:
        """The number of indices."""
        return len(self.indices)

    @property
    def proved(self) -> bool:
        """Whether no choice of k columns can be better, as far as rounding lets one say."""
        return self.bound is not None and self.error() <= self.bound * (1 + 1e-9)

    def error(self, criterion: str | None = None) -> float:
        """tr(K − K̂) for "trace" (‖X − P_S X‖²_F for columns), ‖K − K̂‖²_F for "frobenius"."""
        return self._value("error", criterion, lambda c: selection_error(self._data, self.indices, c))

    def total(self, criterion: str | None = None) -> float:
        """The error of choosing nothing: tr K, or ‖K‖²_F."""
        return self._value("total", criterion, lambda c: total(self._data, c))

    def relative_error(self, criterion: str | None = None) -> float:
        """The error as a part of the whole."""
        whole = self.total(criterion)
        return self.error(criterion) / whole if whole > 0 else 0.0

    def best_rank_error(self, criterion: str | None = None) -> float:
        """The error of the best rank-k approximation, which need not come from columns."""
        return self._value("best_rank", criterion, lambda c: best_rank_error(self._data, self.k, c))

    def lower_bound(self, criterion: str | None = None) -> float:
        """What no choice of k columns can go below: the best rank-k error, or the bound that was proved."""
        tail = self.best_rank_error(criterion)
        proved = self.bound if self.bound is not None and criterion in (None, self.criterion) else 0.0
        return max(tail, proved)

    def gap(self, criterion: str | None = None) -> float:
        """How much of the error could still be avoided at most, from 0 (proved optimal) to 1."""
        error = self.error(criterion)
        return max(0.0, 1.0 - self.lower_bound(criterion) / error) if error > 0 else 0.0

    def factor(self, criterion: str | None = None) -> float:
        """The error over the best rank-k error (Section 4); NaN, with a warning, beyond the numerical rank."""
        tail, whole = self.best_rank_error(criterion), self.total(criterion)
        if tail <= 1e-9 * whole:
            warnings.warn(
                f"the factor is undefined: the best rank-{self.k} error is below 1e-9 of the whole, k is at the numerical rank",
                RankWarning,
                stacklevel=2,
            )
            return math.nan
        return self.error(criterion) / tail

    def nystrom(self) -> Nystrom:
        """The approximation K̂ = F Fᵀ from the chosen columns."""
        return Nystrom(self._data, self.indices)

    def save(self, path: Any) -> None:
        """Write the selection to an npz file, without pickle; `landmarks.load` reads it."""
        from .storage import save

        save(self, path)

    @property
    def chosen_names(self) -> tuple[str, ...] | None:
        """The names of the chosen columns, when the data had names."""
        return None if self.names is None else tuple(self.names[j] for j in self.indices)

    @property
    def _data(self) -> Operator:
        if self.operator is None:
            raise ValueError("this selection was loaded without its data; give them with load(path, data=…)")
        return self.operator

    def _value(self, kind: str, criterion: str | None, compute: Any) -> float:
        """A figure in the units of the data, computed once."""
        criterion = choice(criterion or self.criterion, CRITERIA, "criterion")
        key = f"{kind}:{criterion}"
        if key not in self.known:
            power = self._data.exponent * (1 if criterion == "trace" else 2)
            with np.errstate(over="ignore", under="ignore"):
                self.known[key] = float(np.ldexp(compute(criterion), power))
        return self.known[key]
