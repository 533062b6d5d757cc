"""The start of the default: greedy selection by the compiled search."""

from __future__ import annotations

import numpy as np
import pytest

import landmarks as lm
from landmarks.methods.search.filled import Filled

POINTS = np.random.default_rng(5).standard_normal((120, 3))


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0, 8.0, 40.0])
@pytest.mark.parametrize("given", [{}, {"include": (3, 40), "exclude": (7, 8)}])
def test_it_chooses_what_greedy_chooses(sigma, given):
    """The widest kernels leave less than rounding after a few picks."""
    problem = lm.Problem(lm.psd(lm.rbf(sigma=sigma)(POINTS, POINTS)), 12, **given)
    rng = np.random.default_rng(0)
    found, plain = (method.choose(problem, rng).indices for method in (Filled(), lm.Greedy()))
    assert found.tolist() == plain.tolist()


def test_data_with_few_rows_are_left_to_greedy(monkeypatch):
    problem = lm.Problem(lm.data(POINTS.T), 3)
    found = Filled().choose(problem, np.random.default_rng(0)).indices
    assert found.tolist() == lm.select(lm.data(POINTS.T), 3, method="greedy").indices.tolist()


def test_it_is_reported_as_greedy():
    heard = []
    lm.select(lm.kernel(POINTS, lm.rbf(sigma=1.0)), 30, callback=heard.append)
    steps = [step for step in heard if step.phase == "greedy"]
    assert steps and steps[-1].done == 30
