"""The operator of the columns of a dask array or data frame: `dask_data`."""

from __future__ import annotations

from typing import Any

from ... import _check
from ..base import Ledger, Operator
from ..dense import Dense, gram_is_cheaper
from ..standard import Standard
from .data import checked, distributed_gram, tiled
from .standard import standard_gram, standard_tiles


def dask_data(X: Any, standard: Standard | None = None) -> Operator:
    """The operator of the columns of a dask array or data frame; a tall one is read here, once."""
    standard = standard or Standard()
    names = _check.column_names(X)
    X = checked(X, "X")
    m, n = X.shape
    if not gram_is_cheaper(m, n, 8):
        return tiled(X if standard.plain else standard_tiles(X, standard), names)
    K, exponent = distributed_gram(X) if standard.plain else standard_gram(X, standard)
    ledger = Ledger()
    ledger.add(entries=m * n)
    return Dense(K, exponent=exponent, ledger=ledger, names=names)
