"""What the selected columns rebuild: all columns, or a target that is prepared as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array, check_consistent_length

from .. import _check
from ..errors import UnsupportedError
from ..linalg.reconstruction import reconstruct
from ..objectives import Target, Trace
from ..objectives.reconstructed import reconstructed
from ..operators.prepare import Preparation, Prepared
from ._common import plain_values

BLOCK = 2**22  # entries of X that are made dense at a time


@dataclass(frozen=True, eq=False)
class Rebuilder:
    """x ≈ mean + (x_S − mean_S) B for the selected columns S.

    coefficients : B, in the units of the data.
    mean, scale : what was subtracted from the columns, and what they were divided by.
    support : mask of the selected columns.
    """

    coefficients: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    support: np.ndarray

    @classmethod
    def fitted(
        cls, prepared: Prepared, support: np.ndarray, dtype: Any
    ) -> tuple[Rebuilder, np.ndarray]:
        """The coefficients in the units of the data, and the loss without each selected column."""
        chosen, scale = np.flatnonzero(support), prepared.scale
        rebuilt = reconstruct(prepared.operator, chosen)
        B = rebuilt.coefficients * scale[None, :] / scale[chosen, None]
        losses = np.zeros(len(scale))
        losses[chosen] = rebuilt.losses
        mean = prepared.mean.astype(dtype)
        return cls(B.astype(dtype), mean, scale.astype(dtype), support), losses

    def rebuild(self, selected: Any) -> np.ndarray:
        """All columns from the selected ones, which stay as they are, in their dtype."""
        B = self.coefficients.astype(selected.dtype)
        mean = self.mean.astype(selected.dtype)
        rebuilt = selected @ B + (mean - mean[self.support] @ B)
        rebuilt[:, self.support] = dense(selected)
        return rebuilt

    def explained(self, X: Any, weights: np.ndarray | None) -> float:
        """The share of the weighted squares of the scaled X − mean that is rebuilt; at most 1."""
        w = np.ones(X.shape[0]) if weights is None else weights
        left = total = 0.0
        for rows, block in dense_blocks(X):  # NaN count as absent
            filled = np.where(np.isnan(block), self.mean, block)
            lost = (block - self.rebuild(filled[:, self.support])) / self.scale
            centred = (block - self.mean) / self.scale
            left += float(w[rows] @ np.nansum(lost**2, axis=1))
            total += float(w[rows] @ np.nansum(centred**2, axis=1))
        return float(1 - left / total) if total > 0 else 0.0


def dense(X: Any) -> np.ndarray:
    """The rows as an array of float64."""
    return np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, dtype=np.float64)


def dense_blocks(X: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """The rows of X in blocks that are made dense one at a time, and where each block is."""
    height = max(1, BLOCK // X.shape[1])
    for start in range(0, X.shape[0], height):
        rows = slice(start, start + height)
        yield rows, dense(X[rows])


@dataclass(frozen=True, eq=False)
class PreparedTarget:
    """The columns to rebuild, centred, scaled and weighted, and what was taken out of them."""

    columns: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, selector: Any, y: Any, X: Any, w: np.ndarray | None) -> PreparedTarget:
        """The target that the settings of the selector ask for."""
        if selector.missing == "pairwise" or (scipy.sparse.issparse(X) and selector.center):
            raise UnsupportedError(
                "a target needs the rows of X as they are used: give X as a dense array, and "
                'missing="impute" where values are missing'
            )
        values = checked(selector, y, X)
        standard = Preparation(selector.center, bool(selector.scale))
        columns, (mean, _, scale), _ = standard.of_array(values, w)
        return cls(columns, mean, scale)

    def rebuild(self, selector: Any, prepared: Prepared, dtype: Any) -> None:
        """Set the coefficients of the target in the units of the data, and the scores."""
        chosen = np.flatnonzero(selector.support_)
        rebuilt = reconstructed(prepared.operator, chosen, Trace(Target(self.columns)))
        lengths = 2.0 ** (prepared.operator.exponent / 2)
        B = rebuilt.coefficients / lengths * self.scale[None, :] / prepared.scale[chosen, None]
        selector.target_coefficients_ = B.astype(dtype)
        selector.target_mean_ = self.mean.astype(dtype)
        selector.target_scale_ = self.scale.astype(dtype)
        total = max(selector.selection_.total(), np.finfo(float).tiny)
        selector.scores_[chosen] = rebuilt.losses / total


def checked(selector: Any, y: Any, X: Any) -> np.ndarray:
    """The target as numbers with the rows of X."""
    by_y = isinstance(selector.target, str)
    if by_y and y is None:
        raise ValueError(
            'target="y" rebuilds y: this ColumnSelector requires y to be passed, but the target y '
            "is None"
        )
    return target_rows(y if by_y else selector.target, X, "y" if by_y else "target")


def target_rows(target: Any, X: Any, name: str = "target") -> np.ndarray:
    """A target as numbers with the rows of X; one dimension is one column."""
    values = plain_values(target, name)
    values = check_array(values, dtype=np.float64, ensure_2d=False, input_name=name)
    check_consistent_length(X, values)
    return _check.matrix(values.reshape(len(values), -1), "target")


def target_score(selector: Any, X: Any, y: Any, w: np.ndarray | None) -> float:
    """The share of the variance of y about its training mean that the selected columns explain."""
    if not isinstance(selector.target, str):
        raise ValueError(
            'score needs the target of the rows it is given: set target="y" and give it as y'
        )
    wanted = checked(selector, y, X)
    chosen = dense(X[:, np.flatnonzero(selector.support_)])
    filled = np.where(np.isnan(chosen), selector.mean_[selector.support_], chosen)
    rebuilt = (filled - selector.mean_[selector.support_]) @ selector.target_coefficients_
    weights = np.ones(len(wanted)) if w is None else w
    whole = (wanted - selector.target_mean_) / selector.target_scale_
    left = whole - rebuilt / selector.target_scale_
    total = float(weights @ np.sum(whole**2, axis=1))
    return 1 - float(weights @ np.sum(left**2, axis=1)) / total if total > 0 else 0.0
