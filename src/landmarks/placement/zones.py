"""The candidates inside a box, a ball or a polygon: for `include`, `exclude` and region labels."""

from typing import Any

import numpy as np

from .constraint import as_points


def in_box(coordinates: Any, low: Any, high: Any) -> np.ndarray:
    """The indices of the candidates inside a box, border included.

    Parameters
    ----------
    coordinates : one row for each candidate.
    low, high : the corners, one number for each coordinate; infinity leaves a side open.

    Returns
    -------
    numpy.ndarray
        Indices, rising.

    Examples
    --------
    >>> lm.in_box([[0.0, 0.0], [1.0, 1.0], [2.0, 0.5]], low=[0.5, 0.0], high=[3.0, 1.0])
    array([1, 2])
    """
    points = as_points(coordinates)
    low, high = (np.broadcast_to(np.asarray(c, dtype=float), points.shape[1]) for c in (low, high))
    return np.flatnonzero(np.all((points >= low) & (points <= high), axis=1))


def in_ball(coordinates: Any, centre: Any, radius: float) -> np.ndarray:
    """The indices of the candidates inside a ball, border included.

    Parameters
    ----------
    coordinates : one row for each candidate.
    centre : one number for each coordinate.
    radius : in the units of the coordinates.

    Returns
    -------
    numpy.ndarray
        Indices, rising.

    Examples
    --------
    >>> lm.in_ball([[0.0, 0.0], [1.0, 1.0], [2.0, 0.5]], centre=[0.0, 0.0], radius=1.5)
    array([0, 1])
    """
    points = as_points(coordinates)
    return np.flatnonzero(np.linalg.norm(points - np.asarray(centre, float), axis=1) <= radius)


def in_polygon(coordinates: Any, corners: Any) -> np.ndarray:
    """The indices of the candidates inside a polygon in the plane, by the even-odd rule.

    Parameters
    ----------
    coordinates : two numbers for each candidate.
    corners : the corners in order, two numbers each; the last is joined to the first.

    Returns
    -------
    numpy.ndarray
        Indices, rising.

    Examples
    --------
    >>> triangle = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]
    >>> lm.in_polygon([[1.0, 1.0], [3.0, 3.0]], triangle)
    array([0])
    """
    points, corners = as_points(coordinates), as_points(corners)
    if points.shape[1] != 2 or corners.shape[1] != 2:
        raise ValueError("in_polygon needs two coordinates for each candidate and each corner")
    inside = np.zeros(len(points), dtype=bool)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        crosses = (a[1] > points[:, 1]) != (b[1] > points[:, 1])
        height = np.where(b[1] == a[1], 1.0, b[1] - a[1])
        at = a[0] + (points[:, 1] - a[1]) / height * (b[0] - a[0])
        inside ^= crosses & (points[:, 0] < at)
    return np.flatnonzero(inside)
