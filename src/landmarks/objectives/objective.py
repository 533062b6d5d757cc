"""The objective of a choice: what is minimised, for which target, with which noise.

An objective is asked, never compared: it knows how many products with the residual its gains need
(`depth`), its total, the error of a choice, bounds, and the words for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._check import choice
from .._remembered import Remembered
from ..linalg.error import best_rank_error, exact_error, rank_bound, selection_error, total
from ..linalg.rebuilding import best_directions, safe_bound
from ..operators.base import Operator
from ..operators.pair import Pair, pair_of
from .target import Target


@dataclass(frozen=True, eq=False)
class Objective:
    """What is minimised; `Trace` and `Frobenius` say how the residual is measured.

    target : what is to be rebuilt; None is all columns.
    noise : the variance of the noise of each candidate, in the units of the operator; None is none.
    repeats : whether a candidate may be chosen more than once, which needs noise.
    """

    target: Target | None = None
    noise: np.ndarray | None = None
    repeats: bool = False

    #: the word for it: what `criterion=` takes
    criterion: ClassVar[str]
    #: how many products with the residual the gain of a candidate needs
    depth: ClassVar[int]
    #: whether errors are shares of that of choosing nothing
    shares: ClassVar[bool] = True
    #: what no error is below, whatever the choice
    floor: ClassVar[float] = 0.0
    #: whether long columns count for more, so that the user is warned when they decide the choice
    by_length: ClassVar[bool] = True
    #: the words for the error, of what is rebuilt
    error_words: ClassVar[str]
    #: what a choice keeps a share of; None is the measure of the data, such as their variance
    measure: ClassVar[str | None] = None
    #: what a method must honour to choose by it: "target" where the columns count by other weights
    needs: ClassVar[tuple[str, ...]] = ()
    #: the criterion whose swaps come first, since they cost less and lead further; None is none
    cheaper: ClassVar[str | None] = None

    @property
    def plain(self) -> bool:
        """Whether all columns are rebuilt and count alike, from measurements without noise."""
        return not {"target", "noise"}.intersection(self.asked)

    @property
    def additive(self) -> bool:
        """Whether the error is the sum of what is left of each column: Σ ω_j C_jj."""
        return self.depth == 1

    @property
    def volume(self) -> bool:
        """Whether a choice is worth the volume that its columns span: log det (K + N)_SS."""
        return self.depth == 0

    @property
    def asked(self) -> tuple[str, ...]:
        """What a method must honour: "target", "noise" or both, and what the class needs."""
        parts = {"target": self.target, "noise": self.noise}
        given = [name for name, part in parts.items() if part is not None]
        return tuple(dict.fromkeys([*self.needs, *given]))

    def named(self, asked: str) -> str:
        """How the user asked for what a method must honour: by the criterion, or by its name."""
        return f'criterion="{self.criterion}"' if asked in self.needs else asked

    @property
    def minimised(self) -> str:
        """What is minimised, in words."""
        what = "everything" if self.target is None else "the target"
        if self.noise is not None:
            what += " from noisy measurements"
        return self.error_words.format(what=what)

    @property
    def rebuilds_rows(self) -> bool:
        """Whether the target is a matrix with the rows of the data."""
        return self.target is not None and self.target.rows

    def measured(self, objective: type[Objective]) -> Objective:
        """The same target and noise, measured in another way."""
        found = objective(self.target, self.noise, self.repeats)
        same = (getattr(objective, part) is getattr(type(self), part) for part in ("on", "weights"))
        if all(same):  # else its pair of K, weights and noise is another
            vars(found)["_pairs"] = self._pairs
        return found

    @cached_property
    def _pairs(self) -> Remembered[Operator, Pair]:
        return Remembered()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Objective):
            return NotImplemented
        return type(self) is type(other) and self.record() == other.record()

    def __hash__(self) -> int:
        return hash((type(self), self.asked))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_pairs"}

    def on(self, operator: Operator) -> Pair:
        """K with the weights and the noise that this asks for; made once for each operator."""
        if operator not in self._pairs:
            K, counted = (operator, None) if self.target is None else self.target.joined(operator)
            noise = None
            if self.noise is not None:
                noise = np.zeros(K.n)
                noise[: operator.n] = self.noise
            weights = self.weights(K, counted)
            self._pairs[operator] = pair_of(K, operator.n, weights, noise, self.repeats)
        return self._pairs[operator]

    def weights(self, K: Operator, counted: np.ndarray | None) -> np.ndarray | None:
        """How much each column of K counts, in float64; None is all alike.

        counted : how much it counts for the target; None without one.
        """
        return counted

    def exponent(self, operator: Operator) -> int:
        """The errors are 2**exponent times what is computed."""
        return operator.exponent if self.target is None else self.target.exponent

    def total(self, operator: Operator) -> float:
        """The error of choosing nothing."""
        return total(self.on(operator), self.depth)

    def error(self, operator: Operator, indices: np.ndarray) -> float:
        """The error of a choice."""
        return selection_error(self.on(operator), indices, self.depth)

    def exact_error(self, operator: Operator, indices: np.ndarray) -> float:
        """The same, by another pass over the rows where the rounding of a Gram matrix hides it."""
        if not self.on(operator).standard:
            return self.error(operator, indices)
        return exact_error(operator, indices, self.depth)

    def best_rank_error(self, operator: Operator, k: int, exclude: tuple[int, ...] = ()) -> float:
        """The error of the best k directions in the span of the candidates."""
        pair = self.on(operator)
        if pair.standard:
            return best_rank_error(operator, k, self.depth)
        return best_directions(pair, k, exclude, self.depth)

    def bound(self, operator: Operator, k: int, exclude: tuple[int, ...] = ()) -> float:
        """What no choice of k goes below, rounding included."""
        pair = self.on(operator)
        if pair.standard:
            return rank_bound(operator, k, self.depth)
        return safe_bound(pair, k, exclude, self.depth)

    def in_units(self, figure: float, operator_exponent: int) -> float:
        """A figure in the units of the data."""
        exponent = operator_exponent * self.depth
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(figure, exponent))

    def gap(self, error: float, bound: float) -> float:
        """How much better another choice could be: a share of the error."""
        return max(0.0, 1.0 - bound / error) if error > 0 else 0.0

    def below(self, error: float, tolerance: float) -> float:
        """The error from which on another counts as lower than this one."""
        return error * (1 - tolerance)

    def relative(self, error: float, totals: list[float]) -> float | None:
        """An error as a share of that of choosing nothing; None where it is no share.

        totals : Σ ω_j of diag K, diag KΩK, …
        """
        whole = totals[self.depth - 1]
        return error / whole if whole > 0 else None

    def record(self) -> dict[str, Any] | None:
        """Target and noise as JSON holds them, a target by its checksum; None if there are none."""
        target = self.target
        if target is None and self.noise is None:
            return None
        return {
            "target": None if target is None else target.digest,
            "columns": None if target is None else target.columns.shape[1],
            "rows": target is None or target.rows,
            "noise": None if self.noise is None else self.noise.tolist(),
            "repeats": self.repeats,
            "exponent": 0 if target is None else target.exponent,
            "names": None if target is None else target.names,
        }


@dataclass(frozen=True, eq=False)
class Trace(Objective):
    """tr(K − K̂), which is ‖X − P_S X‖²_F for columns, or ‖B − P_S B‖²_F for a target."""

    criterion: ClassVar[str] = "trace"
    depth: ClassVar[int] = 1
    error_words: ClassVar[str] = "the squared error of rebuilding {what}"


@dataclass(frozen=True, eq=False)
class Frobenius(Objective):
    """‖K − K̂‖²_F, or ‖BᵀB − BᵀP_S B‖²_F for a target."""

    criterion: ClassVar[str] = "frobenius"
    depth: ClassVar[int] = 2
    error_words: ClassVar[str] = "the squared error of the kernel matrix of {what}"
    measure: ClassVar[str | None] = "squared norm of the kernel matrix"
    cheaper: ClassVar[str | None] = "trace"


#: by the words that `criterion=` takes; `landmarks.objectives` adds the others
OBJECTIVES: dict[str, type[Objective]] = {found.criterion: found for found in (Trace, Frobenius)}


def by_name(criterion: Any) -> Objective:
    """The objective of the word that `criterion=` takes, for all columns and without noise."""
    return OBJECTIVES[choice(criterion, tuple(OBJECTIVES), "criterion")]()


def as_objective(objective: Objective | str) -> Objective:
    """The objective itself, or the one of that name."""
    return objective if isinstance(objective, Objective) else by_name(objective)
