"""The record of a relaxation: every step while it is small, every other one when it is large."""

from __future__ import annotations

import numpy as np

from landmarks.methods.trajectory import Recorder


def recorded(steps: int, n: int = 3, limit: int = 10**9) -> Recorder:
    recorder = Recorder(n, limit)
    for i in range(steps):
        recorder.add(np.array([0.25, i / 1024]), np.array([2, 0]), float(i), 2 * i)
    return recorder


def test_every_step_is_recorded_with_zeros_for_the_columns_that_are_frozen():
    path = recorded(5).trajectory()
    assert len(path) == 5 and path.t.dtype == np.float32
    np.testing.assert_array_equal(path.t[:, 1], np.zeros(5))
    np.testing.assert_array_equal(path.t[:, 2], np.full(5, 0.25))
    np.testing.assert_array_equal(path.t[:, 0], np.arange(5) / 1024)
    assert path.value.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert path.active.tolist() == 5 * [2] and path.steps.tolist() == [0, 2, 4, 6, 8]


def test_a_large_record_keeps_evenly_spaced_steps():
    whole, thin = recorded(1000), recorded(1000, limit=3 * 100)
    assert len(whole.rows) == 1000 and whole.stride == 1
    path = thin.trajectory()
    assert thin.seen == 1000 and len(path) <= 101
    np.testing.assert_array_equal(path.value, thin.stride * np.arange(len(path)))
    assert thin.stride == 16


def test_sixty_four_steps_are_always_kept():
    assert len(recorded(64, limit=3).rows) == 64
    assert len(recorded(65, limit=3).rows) == 33
    assert len(recorded(100, limit=300).rows) == 100  # just as many numbers as allowed
    assert len(recorded(101, limit=300).rows) == 51


def test_a_record_draws_itself():
    axes = recorded(5).trajectory().plot(at_most=2, seed=1)
    assert len(axes.get_lines()) == 2
