"""Draws in proportion to weights; chi-square tests have a fixed seed and reject below 1e-4."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from landmarks.methods.sampling.uniform import draw, draw_order

WEIGHTS = np.array([0.0, 1.0, 0.0, 3.0, 4.0, 0.0])


def test_draws_follow_the_weights():
    counts = np.bincount(draw(WEIGHTS, 8000, np.random.default_rng(0)), minlength=6)
    assert counts[WEIGHTS == 0].sum() == 0
    assert chisquare(counts[WEIGHTS > 0], 1000 * WEIGHTS[WEIGHTS > 0]).pvalue > 1e-4


def test_the_ends_of_the_weights_are_not_overrun():
    class Edge:
        def random(self, size):
            return np.array([0.0, np.nextafter(1.0, 0.0)])

    assert draw(np.array([0.0, 1e-300, 0.0]), 2, Edge()).tolist() == [1, 1]


def test_an_order_holds_every_index_with_weight_zero_last():
    order = draw_order(WEIGHTS, np.random.default_rng(0))
    assert sorted(order) == list(range(6)) and order[3:].tolist() == [0, 2, 5]


def test_the_first_two_of_an_order_are_successive_draws():
    rng = np.random.default_rng(1)
    pairs = [tuple(draw_order(WEIGHTS, rng)[:2]) for _ in range(8000)]
    expected = {
        (i, j): WEIGHTS[i] / 8 * WEIGHTS[j] / (8 - WEIGHTS[i])
        for i in (1, 3, 4)
        for j in (1, 3, 4)
        if i != j
    }
    assert_allclose(sum(expected.values()), 1.0)
    assert (
        chisquare(
            [pairs.count(pair) for pair in expected], [8000 * p for p in expected.values()]
        ).pvalue
        > 1e-4
    )
