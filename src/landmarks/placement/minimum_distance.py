"""A minimum distance between chosen places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from .. import _check
from .._array import Indices
from .constraint import as_points, check_count, digest

ROUNDING = 1e-9  # relative to the distance: neighbours on a grid of this exact spacing are allowed


@dataclass(frozen=True, eq=False)
class MinDistance:
    """No two chosen places are closer than the distance.

    Parameters
    ----------
    coordinates : one row for each candidate, or one number for each.
    distance : the minimum distance, in the units of the coordinates.

    Examples
    --------
    >>> X = np.diag([5.0, 4.0, 3.0, 2.0])
    >>> s = lm.select(X, 2, constraints=[lm.MinDistance([0.0, 1.0, 2.0, 3.0], 2.0)])
    >>> sorted(s.indices.tolist())
    [0, 2]
    """

    coordinates: Any = field(repr=False)
    distance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "coordinates", as_points(self.coordinates))
        _check.positive(self.distance, "distance")

    def check(self, n: int) -> None:
        check_count(self, "coordinates must have one row", self.coordinates, n)

    @property
    def _reach(self) -> float:
        return float(self.distance) * (1 - ROUNDING)

    def _near(self, chosen: np.ndarray) -> np.ndarray:
        """Whether each candidate is too close to each chosen one."""
        return cdist(self.coordinates[chosen], self.coordinates) < self._reach

    def addable(self, chosen: np.ndarray, left: int, open_places: np.ndarray) -> np.ndarray:
        return ~np.any(self._near(chosen), axis=0)

    def exchangeable(self, chosen: np.ndarray) -> np.ndarray:
        near = self._near(chosen)
        return np.sum(near, axis=0) - near == 0

    def broken(self, chosen: np.ndarray, complete: bool) -> str | None:
        near = np.triu(self._near(chosen)[:, chosen], 1)
        if not np.any(near):
            return None
        a, b = (int(chosen[place]) for place in np.argwhere(near)[0])
        between = float(np.linalg.norm(self.coordinates[a] - self.coordinates[b]))
        return f"{a} and {b} are {between:g} apart, less than {self.distance:g}"

    def kept_out(self, chosen: np.ndarray, labels: Sequence[Any]) -> list[str | None]:
        between = cdist(self.coordinates[chosen], self.coordinates)
        nearest, near = np.argmin(between, axis=0), np.min(between, axis=0) < self._reach
        return [
            f"closer than {self.distance:g} to {labels[chosen[place]]}" if too_near else None
            for place, too_near in zip(nearest, near, strict=True)
        ]

    def crowding(self) -> np.ndarray:
        tree = cKDTree(self.coordinates)
        return tree.query_ball_point(self.coordinates, self._reach, return_length=True)

    def restrict(self, indices: Indices) -> MinDistance:
        return MinDistance(self.coordinates[np.asarray(indices)], self.distance)

    def fingerprint(self) -> str:
        return f"{self!r} {digest(self.coordinates)}"
