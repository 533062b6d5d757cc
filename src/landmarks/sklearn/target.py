"""A target of any of scikit-learn's kinds as columns of numbers, to choose landmarks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import type_of_target

CLASSES = 100  # whole numbers with more distinct values are a quantity, not classes


def numeric_target(X: Any, y: Any, candidates: np.ndarray) -> np.ndarray | None:
    """A column of zeros and ones for each class, a standardised one for each quantity; None when
    nothing varies.

    candidates : the samples that count; the rows of the result are theirs.
    """
    Y = check_array(
        y.toarray() if hasattr(y, "toarray") else y, ensure_2d=False, dtype=None, input_name="y"
    )
    check_consistent_length(X, Y)
    if Y.dtype.kind == "f" and np.max(np.abs(Y), initial=0.0) > 2.0**53:  # no numbers of classes
        Y = np.ldexp(Y.astype(np.float64), -int(np.frexp(np.max(np.abs(Y)))[1]))
    kind = type_of_target(Y, input_name="y")
    if kind == "unknown":
        raise ValueError(
            "Unknown label type: y must hold numbers or the names of classes; selection='swap' "
            "chooses landmarks without y."
        )
    columns = Y.reshape(len(Y), -1)[candidates]
    distinct = np.array([len(np.unique(column)) for column in columns.T])
    columns = columns[:, distinct > 1]
    if columns.shape[1] == 0:
        return None
    if kind == "multilabel-indicator":
        return columns.astype(np.float64)
    quantity = kind.startswith("continuous") or (
        columns.dtype.kind in "biuf" and distinct.max() > CLASSES
    )
    if not quantity:
        encoded = OneHotEncoder(sparse_output=False).fit_transform(columns)
        return np.asarray(encoded, dtype=np.float64)
    columns = columns.astype(np.float64)
    exponents = np.frexp(np.max(np.abs(columns), axis=0))[1]
    return StandardScaler().fit_transform(np.ldexp(columns, -exponents))  # squares stay in range
