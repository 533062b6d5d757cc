"""The methods of a column selector apart from `fit`: add rows, rebuild, score, explain."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_array, check_is_fitted

from ..operators.prepare import PairMoments, Preparation, moments, pair_moments
from ..operators.standard import Prepared
from ..operators.sums import Moments
from ..readers.frames import column_labels
from ..selection import Selection
from ._common import readable, validated_table, weights, without_data
from .rebuilder import PreparedTarget, Rebuilder, refuse_target, target_score
from .requested import check_gram_fits


class FittedColumns(SelectorMixin):
    """The methods of a selector apart from fit; a child selects."""

    support_: np.ndarray
    indices_: np.ndarray
    coefficients_: np.ndarray
    mean_: np.ndarray
    scale_: np.ndarray
    selection_: Selection
    center: bool
    scale: bool | None
    missing: str
    target: Any
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {"select": metadata_routing.UNUSED}
    _moments: Any  # Moments or PairMoments, after partial_fit
    _labels: tuple[Any, ...] | None = None

    @property
    def _preparation(self) -> Preparation:
        return Preparation(self.center, bool(self.scale), self.missing)

    def _validated(self, X: Any, *, reset: bool = True, ensure_min_samples: int = 1) -> Any:
        finite = True if self.missing == "error" else "allow-nan"
        return validated_table(self, X, finite, ensure_min_samples, reset)

    def _select(self, prepared: Prepared, dtype: Any) -> None:
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, select: bool = True
    ) -> Self:
        """Add rows to those of earlier calls, and select columns for all of them.

        Only the n_features × n_features Gram matrix is kept, not the rows. The first call after
        `fit` starts with no rows.

        Parameters
        ----------
        X : array, data frame or SciPy sparse matrix of shape (n_samples, n_features).
        y : ignored.
        sample_weight : n_samples weights.
        select : False only adds the rows and keeps the last selection; use it to save time on all
            calls but the last.

        Returns
        -------
        ColumnSelector
            Itself, fitted to all rows so far when select is True.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> selector = lm.ColumnSelector(2, center=True, scale=True)
        >>> selector.partial_fit(X[:90], select=False).partial_fit(X[90:]).indices_.tolist()
        [6, 9]
        """
        refuse_target(self)
        self._labels = column_labels(X)
        X = self._validated(X, reset=not hasattr(self, "_moments"))
        check_gram_fits(X.shape[1])
        batch = self._moments_of(X, weights(sample_weight, X))
        self._moments = self._moments + batch if hasattr(self, "_moments") else batch
        if select:
            resolved = self._moments.resolved(self.missing)
            self._select(self._preparation.of_moments(resolved, X.dtype), X.dtype)
        return self

    def _moments_of(self, X: Any, w: np.ndarray | None) -> Moments | PairMoments:
        if self.missing == "error":
            return moments(X, w)
        origin = self._moments.origin if hasattr(self, "_moments") else None
        return pair_moments(X, w, origin=origin)

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

    def transform(self, X: Any) -> Any:
        """The selected columns of X, in the order of X.

        Parameters
        ----------
        X : data of shape (n_samples, n_features).

        Returns
        -------
        array or data frame of shape (n_samples, n_features_selected)
            As `set_output` says.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X = load_wine().data
        >>> lm.ColumnSelector(4, center=True, scale=True).fit(X).transform(X).shape
        (178, 4)
        """
        return super().transform(readable(X))

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
        X : new data of shape (n_samples, n_features). If fit accepts missing values, they count as
            the mean in selected columns and are left out of the sum in the others.
        y : ignored, unless target="y": then what to rebuild, and the share is that of its variance.
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
        stability : the result of `selection_.stability()`, to be shown as well.

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
                f"this {type(self).__name__} was pickled without its training data; "
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
