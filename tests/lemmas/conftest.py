"""Small problems for the statements of the paper."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(params=["full rank", "wide", "rank deficient with a duplicate"])
def X(request, rng):
    """A matrix with 6 columns: more rows than columns, fewer, or repeated columns and low rank."""
    if request.param == "full rank":
        return rng.standard_normal((9, 6))
    if request.param == "wide":
        return rng.standard_normal((4, 6))
    low = rng.standard_normal((8, 3)) @ rng.standard_normal((3, 6))
    low[:, 5] = low[:, 0]
    return low


@pytest.fixture
def K(X):
    return X.T @ X


@pytest.fixture
def t(rng):
    return rng.uniform(0.1, 0.9, 6)
