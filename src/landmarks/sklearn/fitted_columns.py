"""What a fitted selector of columns can do: transform, rebuild, score, explain, be pickled."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ..operators.standard import Prepared
from ..selection import Selection
from ._common import weights, without_data
from .prepared_target import PreparedTarget, target_score
from .rebuilder import Rebuilder


class FittedColumns(SelectorMixin):
    """The methods of a selector after fit; a child fits and validates."""

    support_: np.ndarray
    indices_: np.ndarray
    coefficients_: np.ndarray
    mean_: np.ndarray
    scale_: np.ndarray
    selection_: Selection
    target: Any

    def _validated(self, X: Any, *, reset: bool = True, ensure_min_samples: int = 1) -> Any:
        raise NotImplementedError

    def _take_in(
        self, selection: Selection, prepared: Prepared, dtype: Any, aim: PreparedTarget | None
    ) -> None:
        """Set the fitted attributes."""
        self.selection_ = selection
        self.indices_ = selection.indices.copy()
        self.support_ = np.isin(np.arange(selection.n), self.indices_)
        self.reconstruction_error_ = selection.error("trace")
        fitted, losses = Rebuilder.fitted(prepared, self.support_, dtype)
        self.coefficients_, self.mean_, self.scale_ = fitted.coefficients, fitted.mean, fitted.scale
        self.scores_ = losses / max(selection.total("trace"), np.finfo(float).tiny)
        if aim is not None:
            aim.rebuild(self, prepared, dtype)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rebuild all columns from the selected ones, with the coefficients found in fit.

        Parameters
        ----------
        X : the selected columns, in the order `transform` gives them, of shape (n_samples,
            n_features_selected).

        Returns
        -------
        array of shape (n_samples, n_features)
            It is dense; the selected columns are as given.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> selector = lm.ColumnSelector(4, center=True, scale=True).fit(X)
        >>> selector.inverse_transform(selector.transform(X)).shape
        (178, 13)
        """
        check_is_fitted(self)
        X = check_array(
            X, dtype=[np.float64, np.float32], accept_sparse="csr", ensure_all_finite=True
        )
        if X.shape[1] != len(self.indices_):
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} selected "
                f"{len(self.indices_)} features."
            )
        return self._rebuilder.rebuild(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of the variance of X that the selected columns explain; at most 1.

        It is taken about the training mean, or about zero if center is False.

        Parameters
        ----------
        X : new data of shape (n_samples, n_features). Missing values, when fit takes them, count as
            the mean where they are selected, and are left out of the sum elsewhere.
        y : ignored; with target="y" what to rebuild, and the share is that of its variance.
        sample_weight : n_samples weights.

        Returns
        -------
        float
            Higher is better, as scikit-learn expects.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> selector = lm.ColumnSelector(4, center=True, scale=True).fit(X)
        >>> round(selector.score(X), 2)
        0.65
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        w = weights(sample_weight, X)
        if self.target is not None:
            return target_score(self, X, y, w)
        return self._rebuilder.explained(X, w)

    def why(self, *, each: int = 3, stability: Any = None) -> Any:
        """Why these columns: what each adds, what could replace it, what rebuilds the others.

        Shares are those of the prepared and weighted training data, which copies made by pickle do
        not hold.

        Parameters
        ----------
        each : how many substitutes and sources to list for each column.
        stability : what `selection_.stability()` returned, to be shown as well.

        Returns
        -------
        Reasons
            With the tables `chosen` and `dropped`, which print themselves.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> selector = lm.ColumnSelector(4, center=True, scale=True).fit(X)
        >>> len(selector.why().chosen["adds"])
        4
        """
        check_is_fitted(self)
        if self.selection_.operator is None:
            raise ValueError(
                f"this {type(self).__name__} was pickled, which leaves the training data behind; "
                "call fit again before why"
            )
        return self.selection_.why(each=each, stability=stability)

    @property
    def _rebuilder(self) -> Rebuilder:
        return Rebuilder(self.coefficients_, self.mean_, self.scale_, self.support_)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __getstate__(self) -> dict[str, Any]:
        return without_data(super().__getstate__())
