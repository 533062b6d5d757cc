"""The entropic map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landmarks.methods.annealed import entropic


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 60),
    spread=st.floats(0.02, 0.99),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_the_map_meets_the_sum_and_the_spread(seed, n, spread, scale):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, n))
    p = entropic(scale * rng.standard_normal(n), k, spread)
    assert np.sum(p) == pytest.approx(k, rel=1e-8)
    assert np.sum(p * (1 - p)) == pytest.approx(
        spread * k * (1 - k / n), rel=2e-4
    )  # the search stops at 1e-4


def test_a_larger_score_has_a_larger_probability():
    x = np.random.default_rng(0).standard_normal(30)
    p = entropic(x, 7, 0.5)
    assert np.array_equal(np.argsort(p), np.argsort(x))


def test_at_low_temperature_the_k_largest_have_probability_one():
    x = np.arange(10.0)
    np.testing.assert_allclose(entropic(x, 3, 1e-6), [0.0] * 7 + [1.0] * 3, atol=1e-5)


def test_at_high_temperature_all_are_equal():
    assert np.allclose(entropic(np.arange(8.0), 2, 1.0), 0.25)


def test_equal_scores_share_equally_at_every_temperature():
    assert np.allclose(entropic(np.zeros(6), 3, 0.01), 0.5)


def test_ties_at_the_last_place_share_it():
    p = entropic(np.array([5.0, 1.0, 1.0, -3.0]), 2, 1e-6)
    assert np.allclose(p, [1.0, 0.5, 0.5, 0.0], atol=1e-6)


@pytest.mark.parametrize("k", [0, 4])
def test_none_and_all_need_no_search(k):
    assert np.array_equal(entropic(np.arange(4.0), k, 0.5), np.full(4, k / 4))


def test_outlying_scores_do_no_harm():
    p = entropic(np.array([-700.0, 0.0, 0.1, 0.2, 0.3]), 2, 0.3)
    assert np.sum(p) == pytest.approx(2)
    assert p[0] < 1e-12


def test_no_scores_have_no_probabilities():
    assert len(entropic(np.zeros(0), 0, 0.5)) == 0
