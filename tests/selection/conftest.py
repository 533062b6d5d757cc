"""Fixtures of all tests of selections."""

import numpy as np
import pytest

import landmarks as lm


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((20, 8))


@pytest.fixture
def selection(X):
    return lm.select(X, 3, method="greedy")
