"""Figure 1: which trajectories are drawn, and how."""

import numpy as np
import pytest

from landmarks.methods.trajectory import Trajectory

pytest.importorskip("matplotlib", reason="needs matplotlib")
T = np.vstack([np.full(40, 0.5), np.linspace(0, 1, 40), np.where(np.arange(40) >= 30, 0.9, 0.0)])


def path(t=T):
    return Trajectory(t, value=np.zeros(len(t)), active=np.zeros(len(t)), steps=np.zeros(len(t)))


def colours(ax):
    return [line.get_color() for line in ax.get_lines()]


def test_the_finally_selected_are_blue_and_on_top():
    assert colours(path().plot()) == ["0.7"] * 30 + ["tab:blue"] * 10


def test_no_more_trajectories_are_drawn_than_asked_for_and_one_seed_draws_the_same():
    first, again, other = (path().plot(at_most=12, seed=seed) for seed in (1, 1, 2))
    assert len(first.get_lines()) == 12
    values = [[line.get_ydata()[1] for line in ax.get_lines()] for ax in (first, again, other)]
    assert values[0] == values[1] != values[2]
