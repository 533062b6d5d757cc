"""From a stored Gram, covariance or kernel matrix to its operator, with checks."""

import warnings

import numpy as np

from .. import _check
from .._array import Array, add_diagonal, cholesky, host, is_single, namespace
from ..errors import NotPSDError
from ..readers.frames import column_labels, column_names
from .dense import Dense

CHOLESKY_ORDER = 3000  # up to this order a stored matrix is checked by a Cholesky factorisation


def psd(K: Array, *, check_symmetric: bool | str = True) -> Dense:
    """The operator of a stored Gram, covariance or kernel matrix.

    Parameters
    ----------
    K : the n × n symmetric positive semidefinite matrix; never modified.
    check_symmetric : True raises an error if K is not symmetric; "warn" warns. False skips this
        check and the check that K is positive semidefinite.

    Returns
    -------
    Operator
        The matrix K, to be passed to `select`, `path` or `compare`.

    Examples
    --------
    >>> lm.psd(np.eye(3))
    Dense(n=3, dtype=float64)
    """
    names, labels = column_names(K), column_labels(K)
    K = _check.matrix(K, "K")
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"K must be square, got shape {tuple(K.shape)}; for the columns of X use data(X)"
        )
    if check_symmetric:
        _check_symmetric(K, warn=check_symmetric == "warn")
    _check_diagonal(K)
    if check_symmetric:
        _check_definite(K)
    exponent = _check.exponent(float(namespace(K).max(namespace(K).linalg.diagonal(K))), K)
    operator = Dense(_check.scaled(K, exponent), exponent=exponent, names=names)
    operator.labels = labels
    return operator


def _check_symmetric(K: Array, *, warn: bool) -> None:
    xp = namespace(K)
    difference = float(xp.max(xp.abs(K - K.T)))
    relative = difference / max(float(xp.max(xp.abs(K))), np.finfo(float).tiny)
    if relative <= (1e-5 if is_single(K) else 1e-9):
        return
    message = (
        f"K must be symmetric, but max|K − Kᵀ| is {relative:.2g} of max|K|; symmetrise it with "
        "(K + K.T) / 2, or pass check_symmetric=False"
    )
    if not warn:
        raise ValueError(message)
    warnings.warn(message, stacklevel=3)


def _check_diagonal(K: Array) -> None:
    diagonal = host(namespace(K).linalg.diagonal(K)).astype(np.float64)
    j = int(np.argmin(diagonal))
    largest = max(float(np.max(np.abs(diagonal))), np.finfo(float).tiny)
    if diagonal[j] < -(1e-5 if is_single(K) else 1e-9) * largest:
        raise NotPSDError(
            f"K must be positive semidefinite, but K[{j}, {j}] = {diagonal[j]:.3g} is negative"
        )


def _check_definite(K: Array) -> None:
    """Raise when K is clearly indefinite: by Cholesky up to n = 3000, above by its 2 × 2 minors."""
    xp = namespace(K)
    d = xp.clip(xp.linalg.diagonal(K), min=0.0)
    largest = float(xp.max(d))
    slack = 1e-4 if is_single(K) else 1e-8
    excess = xp.abs(K) - xp.sqrt(d)[:, None] * xp.sqrt(d)[None, :]
    place = int(xp.argmax(xp.reshape(excess, (-1,))))
    i, j = divmod(place, K.shape[0])
    if float(excess[i, j]) > slack * largest:
        raise NotPSDError(
            f"K must be positive semidefinite, but |K[{i}, {j}]| = {abs(float(K[i, j])):.3g} "
            f"exceeds √(K[{i}, {i}] K[{j}, {j}])"
        )
    if largest == 0 or K.shape[0] > CHOLESKY_ORDER:
        return
    if cholesky(add_diagonal(K / largest, slack * K.shape[0] ** 0.5)) is None:
        least = float(np.linalg.eigvalsh(host(K).astype(np.float64))[0])
        raise NotPSDError(
            f"K must be positive semidefinite, but it has the eigenvalue {least:.3g}; clip "
            f"negative eigenvalues, or add {-least:.3g} to the diagonal"
        )
