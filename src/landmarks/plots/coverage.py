"""Points in the plane with the landmarks among them: whether the choice covers the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import host
from ..selection import Selection
from .axes import GREY, ORANGE, Display, number_places


class CoverageDisplay(Display):
    """Points and landmarks in two dimensions.

    Parameters
    ----------
    points : the n × 2 coordinates of the points.
    indices : the landmarks, in order of choice.
    labels : of the two axes.

    Attributes
    ----------
    ax_, figure_ : what was drawn on.

    Examples
    --------
    >>> from landmarks.plots import CoverageDisplay
    >>> points = np.random.default_rng(0).standard_normal((100, 5))
    >>> s = lm.select(lm.kernel(points, lm.rbf(sigma=2.0)), 6, method="greedy")
    >>> CoverageDisplay.from_selection(s).ax_.get_xlabel()
    'first principal direction'
    """

    def __init__(
        self,
        points: Any,
        indices: Any,
        *,
        labels: tuple[str, str] = ("first coordinate", "second coordinate"),
    ):
        self.points = np.asarray(points)
        self.indices = np.asarray(indices)
        self.labels = labels

    @classmethod
    def from_selection(
        cls, selection: Selection, *, at_most: int = 5000, ax: Any = None
    ) -> CoverageDisplay:
        """Draw the points of a kernel, by two principal directions if they have more."""
        operator = selection._data
        if operator.raw is None:
            raise TypeError(
                "coverage needs the points of a kernel, made by kernel(points, h); this selection "
                f"has {operator!r}"
            )
        points, labels = plane(host(operator.raw).astype(np.float64))
        others = np.setdiff1d(np.arange(len(points)), selection.indices)
        others = others[:: max(1, len(others) // at_most)]
        drawn = np.concatenate([selection.indices, others])
        return cls(points[drawn], np.arange(selection.k), labels=labels).plot(ax=ax)

    def plot(self, ax: Any = None) -> CoverageDisplay:
        """Draw the points in grey, and the landmarks in colour with their order of choice."""
        self._set_axes(ax, 4.5, 4.2)
        x, y = self.points.T
        self.ax_.scatter(x, y, s=6, color=GREY, alpha=0.5, linewidths=0, label="points")
        self.ax_.scatter(
            x[self.indices],
            y[self.indices],
            s=36,
            color=ORANGE,
            edgecolors="white",
            linewidths=0.8,
            label="landmarks",
            zorder=3,
        )
        number_places(self.ax_, x[self.indices], y[self.indices])
        self.ax_.set(xlabel=self.labels[0], ylabel=self.labels[1])
        self.ax_.legend(fontsize=8, frameon=False)
        return self


def plane(points: np.ndarray) -> tuple[np.ndarray, tuple[str, str]]:
    """The points in two dimensions, and what these are."""
    if points.shape[1] == 1:
        return np.column_stack([points[:, 0], np.zeros(len(points))]), ("coordinate", "")
    if points.shape[1] == 2:
        return points, ("first coordinate", "second coordinate")
    centred = points - points.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return centred @ vectors[:, :-3:-1], ("first principal direction", "second principal direction")
