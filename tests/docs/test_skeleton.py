"""The skeleton of a method works as it stands."""

import doctest

import numpy as np
from skeletons import skeleton

import landmarks as lm


def test_its_example_runs():
    assert doctest.testmod(skeleton("skeleton_method")).failed == 0


def test_it_chooses_as_column_pivoted_qr_does():
    import scipy.linalg

    X = np.random.default_rng(0).standard_normal((20, 9))
    pivots = scipy.linalg.qr(X, mode="r", pivoting=True)[1]
    method = skeleton("skeleton_method").LargestResidual()
    assert lm.select(X, 5, method=method).indices.tolist() == pivots[:5].tolist()
