"""A map of the chosen places and of the error that is left at each place."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _check
from .._array import host
from ..linalg.nystrom import nystrom_factor
from ..selection import Selection
from .axes import ORANGE, Display, new_axes


class MapDisplay(Display):
    """Chosen places on a map of the error.

    Parameters
    ----------
    coordinates : where the n candidates are, one or two numbers each.
    indices : the chosen ones, in order of choice.
    errors : the error that is left at each candidate; None draws the places alone.

    Attributes
    ----------
    ax_, figure_ : what was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> places = np.random.default_rng(0).random((100, 2))
    >>> fields = np.sin(np.arange(1, 9)[:, None] * places.sum(axis=1))
    >>> lm.select(fields, 4).plot(coordinates=places).ax_.get_title()
    '4 of 100 places'
    """

    def __init__(self, coordinates: Any, indices: Any, errors: Any = None):
        self.coordinates, self.indices = np.asarray(coordinates), np.asarray(indices)
        self.errors = errors

    @classmethod
    def from_selection(
        cls, selection: Selection, coordinates: Any, *, ax: Any = None
    ) -> MapDisplay:
        """Draw a selection; for data the error is the root mean square over the rows."""
        places = as_places(coordinates, selection.n)
        return cls(places, selection.indices, errors_at_places(selection)).plot(ax=ax)

    def plot(self, ax: Any = None) -> MapDisplay:
        """Draw all places coloured by their error, the chosen ones with their place in the order
        of choice.
        """
        self.ax_ = new_axes(5.2, 4.2) if ax is None else ax
        self.figure_ = self.ax_.figure
        x, y = (*self.coordinates.T, np.zeros(len(self.coordinates)))[:2]
        drawn = self.ax_.scatter(x, y, s=6, c=self.errors, cmap="viridis", linewidths=0)
        if self.errors is not None:
            self.figure_.colorbar(drawn, ax=self.ax_, label="error at the place")
        here = x[self.indices], y[self.indices]
        self.ax_.scatter(*here, s=40, color=ORANGE, edgecolors="white", linewidths=0.8, zorder=3)
        if len(self.indices) <= 30:
            for place, at in enumerate(zip(*here, strict=True), 1):
                self.ax_.annotate(
                    str(place), at, xytext=(4, 4), textcoords="offset points", fontsize=7
                )
        self.ax_.set(title=f"{len(self.indices)} of {len(self.coordinates)} places")
        self.ax_.set(xlabel="first coordinate", ylabel="second coordinate")
        return self


def as_places(coordinates: Any, n: int) -> np.ndarray:
    """The coordinates of n candidates as n × 1 or n × 2 numbers."""
    places = np.asarray(coordinates)
    places = places[:, None] if places.ndim == 1 else places
    places = _check.as_numpy(_check.matrix(places, "coordinates"), "coordinates")
    if places.shape[0] != n or places.shape[1] > 2:
        raise ValueError(
            f"coordinates must be one or two numbers for each of the n = {n} candidates, got shape "
            f"{places.shape}"
        )
    return places


def errors_at_places(selection: Selection) -> np.ndarray:
    """√((K − K̂)_jj) in the units of the data, for data divided by the root of their rows."""
    operator, scale = selection._data, 2.0 ** (selection.exponent / 2)
    if operator.m is None:
        F = host(nystrom_factor(operator, selection.indices)).astype(np.float64)
        left = host(operator.diagonal()).astype(np.float64) - np.sum(F * F, axis=1)
        return scale * np.sqrt(np.maximum(left, 0.0))
    X = host(operator.factor()).astype(np.float64)
    Q = np.linalg.qr(X[:, selection.indices])[0]
    rest = X - Q @ (Q.T @ X)
    return scale * np.sqrt(np.mean(rest * rest, axis=0))
