"""A target of `ColumnSelector`: prepared as the columns are, rebuilt from them, and scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array, check_consistent_length

from .. import _check
from ..errors import UnsupportedError
from ..linalg.aim import Aim
from ..operators.standard import Prepared, Standard
from ..residual.aimed.reconstructed import reconstructed


@dataclass(frozen=True, eq=False)
class PreparedTarget:
    """The columns to rebuild, centred, scaled and weighted, and what was taken out of them."""

    columns: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, selector: Any, y: Any, X: Any, w: np.ndarray | None) -> PreparedTarget:
        """The target that the settings of the selector ask for."""
        refuse_forms(selector, X)
        values = checked(selector, y, X)
        standard = Standard(selector.center, bool(selector.scale))
        return cls(*standard.of_array(values, w))

    def rebuild(self, selector: Any, prepared: Prepared, dtype: Any) -> None:
        """Set the coefficients of the target in the units of the data, and the scores."""
        chosen = np.flatnonzero(selector.support_)
        rebuilt = reconstructed(prepared.operator, chosen, Aim(target=self.columns))
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
    values = check_array(
        y if by_y else selector.target,
        dtype=np.float64,
        ensure_2d=False,
        input_name="y" if by_y else "target",
    )
    values = values.reshape(len(values), -1)
    check_consistent_length(X, values)
    return _check.matrix(values, "target")


def refuse_forms(selector: Any, X: Any) -> None:
    """Raise for data whose rows are not at hand as they are used."""
    if selector.missing == "pairwise" or (scipy.sparse.issparse(X) and selector.center):
        raise UnsupportedError(
            "a target needs the rows of X as they are used: give X as a dense array, and "
            'missing="impute" where values are missing'
        )


def refuse_target(selector: Any) -> None:
    """Raise when rows that are not kept would have to rebuild a target."""
    if selector.target is not None:
        raise UnsupportedError(
            "partial_fit keeps XᵀX and not the rows, so it knows no target; use fit on all rows"
        )


def target_score(selector: Any, X: Any, y: Any, w: np.ndarray | None) -> float:
    """The share of the variance of y about its training mean that the selected columns explain."""
    if not isinstance(selector.target, str):
        raise ValueError(
            'score needs the target of the rows it is given: set target="y" and give it as y'
        )
    wanted = checked(selector, y, X)
    chosen = X[:, np.flatnonzero(selector.support_)]
    chosen = chosen.toarray() if scipy.sparse.issparse(chosen) else np.asarray(chosen)
    filled = np.where(np.isnan(chosen), selector.mean_[selector.support_], chosen)
    rebuilt = (filled - selector.mean_[selector.support_]) @ selector.target_coefficients_
    weights = np.ones(len(wanted)) if w is None else w
    whole = (wanted - selector.target_mean_) / selector.target_scale_
    left = whole - rebuilt / selector.target_scale_
    total = float(weights @ np.sum(whole**2, axis=1))
    return 1 - float(weights @ np.sum(left**2, axis=1)) / total if total > 0 else 0.0
