"""The box map of Section 3.1."""

import numpy as np
from numpy.testing import assert_allclose

from landmarks.methods.relaxation.algorithm_1 import chain, from_box, highest, to_box


def test_section_3_1_the_map_is_one_minus_exp_of_minus_w_squared(xp):
    w = xp.asarray(np.array([0.0, 0.5, 1.0, -1.0]))
    assert_allclose(np.asarray(to_box(w)), 1 - np.exp(-np.array([0.0, 0.25, 1.0, 1.0])), rtol=1e-15)


def test_section_3_1_the_map_has_an_inverse(xp):
    t = xp.asarray(np.array([0.0, 1e-12, 0.5, 0.999]))
    assert_allclose(np.asarray(to_box(from_box(t))), np.asarray(t), rtol=1e-12)


def test_weights_stay_below_one():
    assert to_box(np.array([100.0]))[0] == highest(np.zeros(1)) < 1
    assert to_box(np.array([100.0], dtype=np.float32))[0] < 1


def test_section_3_1_the_chain_rule_agrees_with_differences():
    w, h = np.array([0.3, 0.9, 1.7]), 1e-6
    slope = (to_box(w + h) - to_box(w - h)) / (2 * h)
    assert_allclose(chain(np.ones(3), w), slope, rtol=1e-7)


def test_zero_is_a_fixed_point_of_the_descent():
    assert chain(np.array([-5.0]), np.array([0.0]))[0] == 0
