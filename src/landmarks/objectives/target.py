"""What the chosen candidates must rebuild, if not all columns: a matrix, weights or vectors."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from ..operators.base import Operator
from ..operators.pair import Joint, appended


@dataclass(frozen=True)
class Columns:
    """Columns of the data, by their places, that are the target and are not chosen."""

    places: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be rebuilt; `landmarks.targets` checks and makes it.

    values : B, with the m rows of the data; or, for a kernel or a stored K, the n weights w or the
        n × p vectors V, so that the error is Σ w_j C_jj or tr(C V Vᵀ) with C = K − K̂.
    rows : whether it is B.
    exponent : the errors are 2**exponent times what is computed.
    names : of the columns of B, where they have names.
    """

    values: np.ndarray
    rows: bool = True
    exponent: int = 0
    names: tuple[str, ...] | None = None

    @property
    def columns(self) -> np.ndarray:
        """B, or vectors V with the weights W = V Vᵀ."""
        if self.values.ndim == 1:
            return np.diag(np.sqrt(self.values))[:, self.values > 0]
        return self.values

    def joined(self, operator: Operator) -> tuple[Operator, np.ndarray]:
        """K of the candidates and of what is to be rebuilt, and how much each column counts."""
        if self.values.ndim == 1:
            return operator, self.values
        K = appended(operator, self.values) if self.rows else Joint(operator, self.values)
        counted = np.zeros(K.n)
        counted[operator.n :] = 1.0
        return K, counted

    @property
    def digest(self) -> str:
        """A checksum of the values."""
        return hashlib.sha256(np.ascontiguousarray(self.columns).data).hexdigest()
