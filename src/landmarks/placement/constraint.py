"""What every constraint on places answers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .. import _check
from .._array import Indices


@runtime_checkable
class Constraint(Protocol):
    """Says which places may be added to a choice, and which exchanges are allowed."""

    def check(self, n: int) -> None:
        """Raise when the constraint is not about n candidates."""

    def addable(self, chosen: np.ndarray, left: int, open_places: np.ndarray) -> np.ndarray:
        """Whether each of the n candidates may be added, with `left` still to be chosen.

        open_places : whether each candidate is neither chosen nor excluded.
        """

    def exchangeable(self, chosen: np.ndarray) -> np.ndarray:
        """Entry (i, j) says whether j may be added after chosen[i] is dropped."""

    def broken(self, chosen: np.ndarray, complete: bool) -> str | None:
        """How the choice breaks the constraint, in a sentence; None where it does not.

        complete : False for a choice to which more will be added.
        """

    def kept_out(self, chosen: np.ndarray, labels: Sequence[Any]) -> list[str | None]:
        """For each of the n candidates, what keeps it out of the choice; None where nothing does.

        labels : what each candidate is called.
        """

    def crowding(self) -> np.ndarray:
        """How many candidates each one rules out; those of least are tried first."""

    def restrict(self, indices: Indices) -> Constraint:
        """The same constraint on some of the candidates."""

    def fingerprint(self) -> str:
        """A text that differs for different constraints."""


def check_count(constraint: Constraint, sentence: str, values: np.ndarray, n: int) -> None:
    """Raise unless a constraint has a value for each of the n candidates."""
    if len(values) != n:
        raise ValueError(
            f"{type(constraint).__name__}: {sentence} for each of the n = {n} candidates, "
            f"got {len(values)}"
        )


def as_points(coordinates: Any) -> np.ndarray:
    """Coordinates of candidates as float64, a row for each; one number each is one column."""
    values = np.asarray(coordinates)
    values = _check.matrix(values[:, None] if values.ndim == 1 else values, "coordinates")
    return _check.as_numpy(values, "coordinates").astype(np.float64)


def digest(array: np.ndarray) -> str:
    """A short text that differs for different arrays."""
    text = repr(array.tolist()) if array.dtype.kind in "OUS" else ""
    content = text.encode() if text else np.ascontiguousarray(array).tobytes()
    return hashlib.sha256(content).hexdigest()[:16]
