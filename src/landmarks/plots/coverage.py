"""Points with the landmarks among them, and maps of chosen places and of the remaining error."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _check
from .._array import host
from ..linalg.nystrom import nystrom_factor
from ..linalg.rebuilding import rebuilding
from ..objectives import Trace
from ..operators.base import Operator, points_of
from ..placement import as_points
from ..selection import Selection
from .axes import BLUE, GREY, Drawn, mark, new_figure

DRAWN = 5000  # the most points that are drawn besides the landmarks
COORDINATES = ("first coordinate", "second coordinate")


def plot_points(selection: Selection, ax: Any = None) -> Drawn:
    """Draw the points of a kernel in grey, by two principal directions if they have more.

    The landmarks are in colour, with their order of choice.
    """
    points, labels = plane(host(points_of(selection._data)).astype(np.float64))
    others = np.setdiff1d(np.arange(len(points)), selection.indices)
    others = others[:: max(1, len(others) // DRAWN)]
    drawn, grey = Drawn(ax, 4.5, 4.2), {"color": GREY, "alpha": 0.5, "linewidths": 0}
    drawn.ax_.scatter(*points[others].T, s=6, label="points", **grey)
    mark(drawn.ax_, points[selection.indices], s=36, label="landmarks")
    drawn.ax_.set(xlabel=labels[0], ylabel=labels[1])
    drawn.ax_.legend(fontsize=8, frameon=False)
    return drawn


def plane(points: np.ndarray) -> tuple[np.ndarray, tuple[str, str]]:
    """The points in two dimensions, and what these are."""
    if points.shape[1] == 1:
        return np.column_stack([points[:, 0], np.zeros(len(points))]), ("coordinate", "")
    if points.shape[1] == 2:
        return points, COORDINATES
    centred = points - points.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return centred @ vectors[:, :-3:-1], ("first principal direction", "second principal direction")


def plot_maps(selection: Selection, coordinates: Any, field: Any, ax: Any = None) -> Drawn:
    """Draw the field and the error that is left; on given axes the error alone."""
    found = maps(selection, coordinates, field)
    axes = [ax] if ax is not None else new_figure(10.0, 4.2).subplots(1, 2)
    drawn = [Drawn(ax) for ax in axes]
    for each, (label, values) in zip(drawn, found[-len(drawn) :], strict=True):
        plot_map(each, selection, coordinates, values, label)
    return drawn[-1]


def maps(selection: Selection, coordinates: Any, field: Any) -> list[tuple[str, np.ndarray]]:
    """What there is at the places: the field and the error, each with what it is."""
    as_places(coordinates, selection.n)
    values, label = field_at_places(selection, field), "the field"
    if field is None:
        label = "the field, root mean square over the rows"
        if selection._data.m is None:
            label = "the standard deviation before anything is measured"
    return [(label, values), ("the error that is left", errors_at_places(selection))]


def plot_map(
    drawn: Drawn, selection: Selection, coordinates: Any, values: np.ndarray, label: str
) -> None:
    """Draw values at places, the chosen ones with their order, the excluded ones as crosses."""
    places, ax = as_places(coordinates, selection.n), drawn.ax_
    if places.shape[1] == 1:
        at = np.column_stack([places, values])
        ax.plot(*at[np.argsort(places[:, 0], kind="stable")].T, color=BLUE, linewidth=1.2)
        ax.set(xlabel="coordinate", ylabel=label)
    else:
        at = places
        size = float(np.clip(30_000 / len(at), 6, 60))  # near neighbours touch
        coloured = ax.scatter(*at.T, s=size, c=values, cmap="viridis", linewidths=0)
        drawn.figure_.colorbar(coloured, ax=ax, label=label)
        ax.set(xlabel=COORDINATES[0], ylabel=COORDINATES[1])
    if selection.exclude:
        ax.scatter(*at[list(selection.exclude)].T, s=14, c="black", marker="x", lw=0.7)
    mark(ax, at[selection.indices], s=40)
    ax.set(title=f"{selection.k} of {selection.n} places")


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
        return _deviations(host(operator.diagonal()), operator)
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
    operator, noise = selection._data, selection.objective.noise
    if operator.m is None and noise is None:
        F = host(nystrom_factor(operator, selection.indices)).astype(np.float64)
        return _deviations(host(operator.diagonal()) - np.sum(F * F, axis=1), operator)
    pair = Trace(noise=noise).on(operator)
    return _deviations(rebuilding(pair).variances(selection.indices), operator)


def _deviations(squares: np.ndarray, operator: Operator) -> np.ndarray:
    """Roots in the units of the data, for data divided by the root of their rows."""
    squares = np.maximum(squares.astype(np.float64), 0.0) / (operator.m or 1)
    return 2.0 ** (operator.exponent / 2) * np.sqrt(squares)
