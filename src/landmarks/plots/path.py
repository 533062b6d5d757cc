"""The trajectories of the weights of a relaxation (Figure 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .axes import Display, new_axes

if TYPE_CHECKING:
    from ..methods.trajectory import Trajectory
    from ..selection import Selection

SUPPORT = 0.05  # relative to the largest final weight: weights above it count as selected


def plot_path(path: Trajectory, ax: Any = None, *, at_most: int = 300, seed: int = 0) -> Any:
    """Draw t against the step, the finally selected columns in blue, others in grey (Figure 1).

    Parameters
    ----------
    path : the record of a relaxation, as `Selection.path` holds it.
    ax : the matplotlib axes to draw on; new ones when None.
    at_most : the number of trajectories to draw, a random sample if there are more.
    seed : of that sample.

    Examples
    --------
    >>> from landmarks.methods.trajectory import Trajectory
    >>> t = np.array([[0.5, 0.5, 0.5], [0.8, 0.3, 0.1], [1.0, 0.0, 0.0]])
    >>> ax = Trajectory(t, value=np.zeros(3), active=np.array([3, 3, 1]), steps=np.zeros(3)).plot()
    >>> [line.get_color() for line in ax.get_lines()]
    ['0.7', '0.7', 'tab:blue']
    """
    ax = new_axes() if ax is None else ax
    selected = finally_selected(path.t)
    for j in drawn(selected, at_most, seed):
        ax.plot(
            path.t[:, j],
            color="tab:blue" if selected[j] else "0.7",
            linewidth=0.8,
            zorder=2 if selected[j] else 1,
        )
    ax.set(xlabel="step", ylabel="t", ylim=(-0.02, 1.02))
    return ax


def finally_selected(t: np.ndarray) -> np.ndarray:
    """Which columns end in the support of t."""
    final = t[-1]
    return final > SUPPORT * final.max()


def drawn(selected: np.ndarray, at_most: int, seed: int) -> np.ndarray:
    """The columns to draw: a random sample, as in the paper, with the selected ones on top."""
    columns = np.sort(np.random.default_rng(seed).permutation(len(selected))[:at_most])
    return columns[np.argsort(selected[columns], kind="stable")]


class PathDisplay(Display):
    """The trajectories of the weights of a relaxation, as `plot_path` draws them.

    Parameters
    ----------
    path : the record of a relaxation, as `Selection.path` holds it.

    Attributes
    ----------
    ax_, figure_ : what was drawn on.

    Examples
    --------
    >>> from landmarks.plots import PathDisplay
    >>> X = np.random.default_rng(0).standard_normal((30, 8))
    >>> PathDisplay.from_selection(lm.select(X, 3, method="annealed")).ax_.get_ylabel()
    't'
    """

    def __init__(self, path: Trajectory):
        self.path = path

    @classmethod
    def from_selection(
        cls, selection: Selection, *, ax: Any = None, at_most: int = 300, seed: int = 0
    ) -> PathDisplay:
        """Draw the path of a selection that was made by a relaxation."""
        if not selection.path:
            raise ValueError(
                f"{selection.method} has no path; use method='annealed' or 'continuous'"
            )
        return cls(selection.path).plot(ax=ax, at_most=at_most, seed=seed)

    def plot(self, ax: Any = None, *, at_most: int = 300, seed: int = 0) -> PathDisplay:
        """Draw."""
        self.ax_ = plot_path(self.path, ax=ax, at_most=at_most, seed=seed)
        self.figure_ = self.ax_.figure
        return self
