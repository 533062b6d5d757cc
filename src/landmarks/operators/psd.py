"""From a stored Gram, covariance or kernel matrix to its operator, with checks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _check
from .._array import Array, host, is_single, namespace
from ..errors import NotPSDError, warn_user
from ..readers.frames import column_labels, column_names
from .dense import Dense
from .pivoted_factor import check_definite, rounding_slack

AT_ONCE = 256  # order up to which definiteness is checked at once; above, when a product is needed
TILE = 128  # rows and columns compared with their mirror image at a time, within the cache


def psd(
    K: Array, *, check_symmetric: bool | str = True, names: Sequence[Any] | None = None
) -> Dense:
    """The operator of a stored Gram, covariance or kernel matrix.

    Parameters
    ----------
    K : the n × n symmetric positive semidefinite matrix; never modified.
    check_symmetric : True raises an error if K is not symmetric; "warn" warns. False skips this
        check and the check that K is positive semidefinite. Up to n = 256 all of that is looked at
        here; above, eigenvalues are when a method first makes products with K.
    names : of the n columns; a data frame brings its own.

    Returns
    -------
    Operator
        The matrix K, to be passed to `select`, `path` or `compare`.

    Examples
    --------
    >>> lm.psd(np.eye(3))
    Dense(n=3, dtype=float64)
    """
    labels = column_labels(K) if names is None else tuple(names)
    called = column_names(K) if names is None else tuple(map(str, names))
    K = _check.matrix(K, "K")
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"K must be square, got shape {tuple(K.shape)}; for the columns of X use data(X)"
        )
    if called is not None and len(called) != K.shape[1]:
        raise ValueError(
            f"expected {K.shape[1]} names, one for each column of K, got {len(called)}"
        )
    if check_symmetric:
        asymmetry, excess, place = _compared(K)
        _check_symmetric(asymmetry, K, warn=check_symmetric == "warn")
    _check_diagonal(K)
    if check_symmetric:
        _check_minors(excess, place, K)
        if K.shape[0] <= AT_ONCE:
            check_definite(K)
    exponent = _check.exponent(float(namespace(K).max(namespace(K).linalg.diagonal(K))), K)
    operator = Dense(_check.scaled(K, exponent), exponent=exponent, names=called)
    operator.labels = labels
    operator.unchecked = bool(check_symmetric) and K.shape[0] > AT_ONCE
    return operator


def _check_diagonal(K: Array) -> None:
    diagonal = host(namespace(K).linalg.diagonal(K)).astype(np.float64)
    j = int(np.argmin(diagonal))
    largest = max(float(np.max(np.abs(diagonal))), np.finfo(float).tiny)
    if diagonal[j] < -(1e-5 if is_single(K) else 1e-9) * largest:
        raise NotPSDError(
            f"K must be positive semidefinite, but K[{j}, {j}] = {diagonal[j]:.3g} is negative"
        )


def _compared(K: Array) -> tuple[float, float, tuple[int, int]]:
    """max|K − Kᵀ| / max|K|; the most that an entry exceeds √(K_ii K_jj), and where: one pass."""
    xp = namespace(K)
    lengths = xp.sqrt(xp.clip(xp.linalg.diagonal(K), min=0.0))
    difference = excess = 0.0
    place, width = (0, 0), TILE if isinstance(K, np.ndarray) else K.shape[0]
    starts = range(0, K.shape[0], width)
    for i, j in ((i, j) for i in starts for j in starts if j >= i):
        above, below = K[i : i + width, j : j + width], K[j : j + width, i : i + width].T
        difference = max(difference, float(xp.max(xp.abs(above - below))))
        beyond = xp.abs(above) - lengths[i : i + width, None] * lengths[None, j : j + width]
        if float(xp.max(beyond)) > excess:
            row, column = divmod(int(xp.argmax(xp.reshape(beyond, (-1,)))), beyond.shape[1])
            excess, place = float(beyond[row, column]), (i + row, j + column)
    largest = float(xp.max(lengths)) ** 2 + excess  # no entry is larger
    return difference / max(largest, np.finfo(float).tiny), excess, place


def _check_symmetric(relative: float, K: Array, *, warn: bool) -> None:
    if relative <= (1e-5 if is_single(K) else 1e-9):
        return
    message = (
        f"K must be symmetric, but max|K − Kᵀ| is {relative:.2g} of max|K|; symmetrise it with "
        "(K + K.T) / 2, or pass check_symmetric=False"
    )
    if not warn:
        raise ValueError(message)
    warn_user(message)


def _check_minors(excess: float, place: tuple[int, int], K: Array) -> None:
    if excess > rounding_slack(K) * float(namespace(K).max(namespace(K).linalg.diagonal(K))):
        i, j = place
        raise NotPSDError(
            f"K must be positive semidefinite, but |K[{i}, {j}]| = {abs(float(K[i, j])):.3g} "
            f"exceeds √(K[{i}, {i}] K[{j}, {j}])"
        )
