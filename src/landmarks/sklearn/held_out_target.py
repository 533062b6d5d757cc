"""The error of a target on rows held out: columns and coefficients come from the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array, check_consistent_length

import landmarks as lm

from ..linalg.aim import Aim
from ..methods.registry import as_method
from ..operators.standard import Standard
from ..residual.aimed.reconstructed import reconstructed


def target_rows(target: Any, X: Any) -> np.ndarray:
    """The target as numbers with the rows of X."""
    Y = check_array(target, dtype=np.float64, ensure_2d=False, input_name="target")
    check_consistent_length(X, Y)
    return Y.reshape(len(Y), -1)


@dataclass(frozen=True, eq=False)
class TargetFolds:
    """A target, and how columns are chosen for it in each fold."""

    Y: np.ndarray
    ks: np.ndarray
    method: Any
    seed: int
    standard: Standard
    ridge: Any

    def errors(self, X: Any, train: np.ndarray, test: np.ndarray) -> list[float]:
        """What is left of the target on the test rows, as a part of it, for each k."""
        own, held = _prepared(X, train, test, self.standard)
        wanted, unseen = _prepared(self.Y, train, test, self.standard)
        operator, aim = lm.data(own, scale=False), Aim(target=wanted)
        whole = float(np.sum(unseen**2)) or 1.0
        found = []
        for S in self._choices(operator, wanted):
            rebuilt = reconstructed(operator, S, aim, self.ridge, centred=self.standard.center)
            B = rebuilt.coefficients / 2.0 ** (operator.exponent / 2)
            found.append(float(np.sum((unseen - held[:, S] @ B) ** 2)) / whole)
        return found

    def _choices(self, operator: Any, wanted: np.ndarray) -> list[np.ndarray]:
        """The columns chosen for each k; greedy picks serve all k at once."""
        sizes = self.ks[-1:] if as_method(self.method) == lm.Greedy() else self.ks
        chosen = [
            lm.select(operator, int(k), target=wanted, method=self.method, seed=self.seed).indices
            for k in sizes
        ]
        return chosen if len(chosen) == len(self.ks) else [chosen[0][:k] for k in self.ks]


def _prepared(
    X: Any, train: np.ndarray, test: np.ndarray, standard: Standard
) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows, centred and scaled by the training rows."""
    own, held = (_dense(X[rows]) for rows in (train, test))
    prepared, mean, scale = standard.of_array(own)
    return prepared, (held - mean) / scale


def _dense(rows: Any) -> np.ndarray:
    rows = rows.toarray() if scipy.sparse.issparse(rows) else rows
    return np.asarray(rows, dtype=np.float64)
