"""`partial_fit` of a selector of columns: rows come in batches, and only their moments are kept."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import metadata_routing

from .._check import column_labels
from ..operators.prepare.covariance import Moments, PairMoments, moments, pair_moments
from ..operators.prepare.preparation import Preparation
from ..operators.standard import Prepared
from ._common import weights
from .prepared_target import refuse_target
from .row_source import check_gram_fits


class Incremental:
    """Adds up batches of rows; a child validates and selects."""

    missing: str
    __metadata_request__partial_fit: ClassVar[dict] = {"select": metadata_routing.UNUSED}
    _moments: Any  # Moments or PairMoments, after partial_fit
    _labels: tuple[Any, ...] | None

    @property
    def _preparation(self) -> Preparation:
        raise NotImplementedError

    def _validated(self, X: Any, *, reset: bool = True, ensure_min_samples: int = 1) -> Any:
        raise NotImplementedError

    def _select(self, prepared: Prepared, dtype: Any) -> None:
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, select: bool = True
    ) -> Self:
        """Add rows to those of earlier calls, and select columns for all of them.

        Only the n_features × n_features Gram matrix is kept, not the rows. After `fit`, the first
        call starts again.

        Parameters
        ----------
        X : array, data frame or SciPy sparse matrix of shape (n_samples, n_features).
        y : ignored.
        sample_weight : n_samples weights.
        select : False only adds the rows and keeps the last selection, which saves time until the
            last call.

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
