"""The result of a selection: the indices, how good they are, how they were found, their cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .linalg.aim import Aim
from .linalg.nystrom import Nystrom
from .linalg.reconstruction import Reconstruction, reconstruct
from .operators.base import Operator, check_indices
from .placement.constraint import Constraint
from .presentation import Presentation
from .problem import Method, Trial
from .quality import Quality
from .relaxation_path import NoPath
from .residual.aimed.judged import Judged
from .residual.aimed.reconstructed import reconstructed


@dataclass(frozen=True)
class Cost:
    """What a selection used: vectors multiplied by K, columns, entries evaluated, seconds."""

    products: int
    columns: int
    entries: int
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Quality, Presentation):
    """k distinct indices in order of choice, with their errors, bounds and factors.

    bound is the proved lower bound, if any, in the units of the operator; the matrix meant is
    2**exponent times it. include, exclude and constraints were honoured. chooser is the method
    object that `method` describes; a file does not hold it.
    stopped says that a callback ended the run, so that more could have been tried.
    aim is what was rebuilt instead of the columns, and the noise, where `select` was given either;
    all errors and bounds are then of that question.
    center and scale say what `select` did to the columns; labels are the names as they came.

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
    exponent: int = 0
    stopped: bool = False
    operator: Operator | None = field(default=None, repr=False)
    known: dict[str, float] = field(default_factory=dict, repr=False)
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    chooser: Method | None = field(default=None, repr=False)
    labels: tuple[Any, ...] | None = None
    center: bool = False
    scale: bool = False
    aim: Aim | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.path is None:
            object.__setattr__(self, "path", NoPath(self.method))
        repeats = self.aim is not None and self.aim.repeats
        indices = check_indices(self.indices, self.n, repeats=repeats)
        indices.flags.writeable = False
        object.__setattr__(self, "indices", indices)

    def __len__(self) -> int:
        return len(self.indices)

    def nystrom(self) -> Nystrom:
        """The approximation K̂ = F Fᵀ from the chosen columns."""
        return Nystrom(self._data, np.asarray(list(dict.fromkeys(self.indices.tolist()))))

    def posterior_variance(self) -> np.ndarray:
        """The variance that is left of each of the n candidates once the chosen ones are measured.

        It is diag(K − K_:S (K_SS + Σ)⁻¹ K_S:) with the noise Σ that `select` was given, in the
        units of the data; without noise it is diag(K − K̂), what is left of each squared column.
        """
        judged = self._judged or Judged(self._data, Aim())
        return np.ldexp(judged.base.variances(self.indices), self._data.exponent)

    def reconstruction(self, ridge: float | str | None = None) -> Reconstruction:
        """The coefficients that rebuild every column, or the target, and R² of each.

        Parameters
        ----------
        ridge : a penalty on the squares of the coefficients in the units of K; "cv" takes the one
            of the smallest leave-one-out error over the rows of data. None is least squares, with
            the noise that `select` was given.
        """
        if self.aim is None and ridge is None:
            return reconstruct(self._data, self.indices)
        aim = self.aim or Aim(exponent=self._data.exponent)
        return reconstructed(self._data, self.indices, aim, ridge, centred=self.center)

    def save(self, path: Any) -> None:
        """Write the selection to an npz file, without pickle; `landmarks.load` reads it."""
        from .selection_file import save

        save(self, path)

    @property
    def chosen_names(self) -> list[Any] | None:
        """The labels of the chosen columns as the data had them, so `df[s.chosen_names]` works.

        None when the data had no names.
        """
        labels = self.names if self.labels is None else self.labels
        return None if labels is None else [labels[j] for j in self.indices]
