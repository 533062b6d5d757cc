"""Points with the landmarks among them, and maps of chosen places and of the remaining error."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _check
from .._array import host
from ..linalg.nystrom import nystrom_factor
from ..operators.base import points_of
from ..placement import as_points
from ..selection import Selection
from .axes import GREY, Display, mark, new_axes


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
        given = points_of(operator)
        if given is None:
            raise TypeError(
                "coverage needs the points of a kernel, made by kernel(points, h); this selection "
                f"has {operator!r}"
            )
        points, labels = plane(host(given).astype(np.float64))
        others = np.setdiff1d(np.arange(len(points)), selection.indices)
        others = others[:: max(1, len(others) // at_most)]
        drawn = np.concatenate([selection.indices, others])
        return cls(points[drawn], np.arange(selection.k), labels=labels).plot(ax=ax)

    def plot(self, ax: Any = None) -> CoverageDisplay:
        """Draw the points in grey, and the landmarks in colour with their order of choice."""
        self._set_axes(ax, 4.5, 4.2)
        x, y = self.points.T
        self.ax_.scatter(x, y, s=6, color=GREY, alpha=0.5, linewidths=0, label="points")
        mark(self.ax_, x[self.indices], y[self.indices], s=36, label="landmarks")
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


class MapDisplay(Display):
    """Chosen places on a map of the error, and on one of the field.

    Parameters
    ----------
    coordinates : the positions of the n candidates, one or two numbers each.
    indices : the chosen ones, in order of choice.
    errors : the remaining error at each candidate; None draws only the places.
    field : a value for each candidate, drawn next to the error; None draws only the error.
    excluded : candidates that were excluded, drawn as crosses.

    Attributes
    ----------
    ax_, figure_ : what the error was drawn on.
    field_ax_ : what the field was drawn on; None where it was not.

    Examples
    --------
    >>> places = np.random.default_rng(0).random((100, 2))
    >>> fields = np.sin(np.arange(1, 9)[:, None] * places.sum(axis=1))
    >>> lm.select(fields, 4).plot(coordinates=places).ax_.get_title()
    '4 of 100 places'
    """

    field_ax_: Any = None

    def __init__(
        self,
        coordinates: Any,
        indices: Any,
        errors: Any = None,
        field: Any = None,
        excluded: Any = (),
    ):
        self.coordinates, self.indices = np.asarray(coordinates), np.asarray(indices)
        self.errors, self.field, self.excluded = errors, field, list(excluded)

    @classmethod
    def from_selection(
        cls, selection: Selection, coordinates: Any, *, field: Any = None, ax: Any = None
    ) -> MapDisplay:
        """Draw a selection; for data the error is the root mean square over the rows."""
        places, values = as_places(coordinates, selection.n), field_at_places(selection, field)
        errors, excluded = errors_at_places(selection), selection.exclude
        return cls(places, selection.indices, errors, values, excluded).plot(ax=ax)

    def plot(self, ax: Any = None) -> MapDisplay:
        """Draw all places coloured by their error, the chosen ones with their place in the order
        of choice. On given axes the field is left out.
        """
        if ax is None and self.field is not None:
            self.field_ax_, self.ax_ = new_axes(10.0, 4.2, 2)
            self._draw(self.field_ax_, self.field, "field")
        else:
            self.ax_ = new_axes(5.2, 4.2) if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(self.ax_, self.errors, "error at the place")
        return self

    def _draw(self, ax: Any, values: Any, label: str) -> None:
        x, y = (*self.coordinates.T, np.zeros(len(self.coordinates)))[:2]
        drawn = ax.scatter(x, y, s=6, c=values, cmap="viridis", linewidths=0)
        if values is not None:
            ax.figure.colorbar(drawn, ax=ax, label=label)
        if self.excluded:
            ax.scatter(x[self.excluded], y[self.excluded], s=14, c="white", marker="x", lw=0.7)
        mark(ax, x[self.indices], y[self.indices], s=40)
        ax.set(title=f"{len(self.indices)} of {len(self.coordinates)} places")
        ax.set(xlabel="first coordinate", ylabel="second coordinate")


def as_places(coordinates: Any, n: int) -> np.ndarray:
    """The coordinates of n candidates as n × 1 or n × 2 numbers."""
    places = as_points(coordinates)
    if places.shape[0] != n or places.shape[1] > 2:
        raise ValueError(
            f"coordinates must be one or two numbers for each of the n = {n} candidates, got shape "
            f"{places.shape}"
        )
    return places


def field_at_places(selection: Selection, field: Any = None) -> np.ndarray:
    """The values given, checked; else √K_jj, for data divided by the root of their rows."""
    if field is None:
        operator = selection._data
        squares = np.maximum(host(operator.diagonal()).astype(np.float64), 0.0)
        return 2.0 ** (operator.exponent / 2) * np.sqrt(squares / (operator.m or 1))
    values = np.asarray(_check.as_numpy(field, "field"), dtype=np.float64)
    if values.shape != (selection.n,) or not np.all(np.isfinite(values)):
        raise ValueError(
            f"field must be one finite number for each of the n = {selection.n} candidates, got "
            f"shape {values.shape}"
        )
    return values


def errors_at_places(selection: Selection) -> np.ndarray:
    """√((K − K̂)_jj) in the units of the data, for data divided by the root of their rows.

    With noise it is the root of the posterior variance.
    """
    operator = selection._data
    scale = 2.0 ** (operator.exponent / 2)
    if selection.objective.noise is not None:
        return np.sqrt(selection.posterior_variance() / (operator.m or 1))
    if operator.m is None:
        F = host(nystrom_factor(operator, selection.indices)).astype(np.float64)
        left = host(operator.diagonal()).astype(np.float64) - np.sum(F * F, axis=1)
        return scale * np.sqrt(np.maximum(left, 0.0))
    X = host(operator.factor()).astype(np.float64)
    Q = np.linalg.qr(X[:, selection.indices])[0]
    rest = X - Q @ (Q.T @ X)
    return scale * np.sqrt(np.mean(rest * rest, axis=0))
