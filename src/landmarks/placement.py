"""Where chosen candidates may lie: minimum distances, limits by region, and how to satisfy them.

`Constraint` is what every constraint answers; nothing asks which one it is. `packed` finds a choice
that satisfies all of them without looking at the error: greedy may end where no further place is
allowed; then the last picks are undone and replaced by places that rule out the fewest others.
Small cases are searched completely.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from . import _check
from ._array import Indices
from .errors import UnsupportedError, suggestion

ROUNDING = 1e-9  # relative to the distance: neighbours on a grid of this exact spacing are allowed
UNLIMITED = 2**62  # how many a region may have that is not limited: places may repeat
SEARCHED = 20_000  # choices that the complete search examines


class Constraint(ABC):
    """Says which places may be added to a choice, and which exchanges are allowed.

    A choice that satisfies it must still do so without its last members, except for what `broken`
    asks of complete ones.
    """

    def check(self, n: int) -> Constraint:
        """The constraint on n candidates; it raises when it is not about n."""
        return self

    def check_size(  # noqa: B027 - most constraints cannot tell
        self, k: int, chosen: np.ndarray, open_places: np.ndarray, repeats: bool
    ) -> None:
        """Raise when it is plain that no choice of k satisfies the constraint.

        chosen : what must be chosen. open_places : whether each candidate may be added to it.
        """

    @abstractmethod
    def addable(self, chosen: np.ndarray, left: int, open_places: np.ndarray) -> np.ndarray:
        """Whether each of the n candidates may be added, with `left` still to be chosen.

        It rules out only what no completion of the choice has, since proofs leave out what it rules
        out; it may allow more than some completion has.

        open_places : whether each candidate may be chosen, as far as is known.
        """

    @abstractmethod
    def exchangeable(self, chosen: np.ndarray) -> np.ndarray:
        """Entry (i, j) says whether j may be added after chosen[i] is dropped."""

    @abstractmethod
    def broken(self, chosen: np.ndarray, complete: bool) -> str | None:
        """How the choice breaks the constraint, in a sentence; None where it does not.

        complete : False for a choice to which more will be added.
        """

    @abstractmethod
    def kept_out(self, chosen: np.ndarray, labels: Sequence[Any]) -> list[str | None]:
        """For each of the n candidates, what keeps it out of the choice; None where nothing does.

        labels : what each candidate is called.
        """

    def crowding(self) -> Any:
        """How many candidates each one rules out, if that is known; those of least come first."""
        return 0

    def clashes(self, places: np.ndarray) -> np.ndarray | None:
        """Entry (i, j) says whether j cannot be chosen together with places[i].

        None where such pairs do not say all. Then `exact` asks for `counts_left`, and without
        these it can only branch.
        """
        return None

    def counts_left(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """The number of the region of each candidate, and how many more each must and may have.

        None where such counts do not say all.
        """
        return None

    @abstractmethod
    def restrict(self, indices: Indices) -> Constraint:
        """The same constraint on some of the candidates."""

    def fingerprint(self) -> str:
        """A text that differs for different constraints."""
        record, values = self.record()
        content = np.ascontiguousarray(values).tobytes()
        return f"{type(self).__name__} {record} {hashlib.sha256(content).hexdigest()[:16]}"

    def record(self) -> tuple[dict[str, Any], np.ndarray]:
        """What a file keeps: something that JSON holds, and an array of numbers."""
        raise UnsupportedError(
            f"a file cannot keep {self!r}: give {type(self).__name__} the functions record and "
            "restored, as lm.MinDistance has them"
        )

    @classmethod
    def restored(cls, record: dict[str, Any], values: np.ndarray) -> Constraint:
        """The constraint that `record` wrote."""
        raise UnsupportedError(f"{cls.__name__} needs the function restored to be read from a file")


class Pairwise(Constraint):
    """A constraint that rules out pairs of candidates, which `clashes` names."""

    @abstractmethod
    def clashes(self, places: np.ndarray) -> np.ndarray: ...

    def addable(self, chosen: np.ndarray, left: int, open_places: np.ndarray) -> np.ndarray:
        return ~np.any(self.clashes(chosen), axis=0)

    def exchangeable(self, chosen: np.ndarray) -> np.ndarray:
        near = self.clashes(chosen)
        return np.sum(near, axis=0) - near == 0


def check_count(constraint: Constraint, sentence: str, values: np.ndarray, n: int) -> None:
    """Raise unless a constraint has a value for each of the n candidates."""
    if len(values) != n:
        raise ValueError(
            f"{type(constraint).__name__}: {sentence} for each of the n = {n} candidates, "
            f"got {len(values)}"
        )


def as_points(coordinates: Any) -> np.ndarray:
    """Coordinates of candidates as float64, a row for each; one number each is one column."""
    values = _check.as_numpy(coordinates, "coordinates").astype(np.float64)
    return _check.matrix(values[:, None] if values.ndim == 1 else values, "coordinates")


@dataclass(frozen=True, eq=False)
class MinDistance(Pairwise):
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

    def check(self, n: int) -> MinDistance:
        check_count(self, "coordinates must have one row", self.coordinates, n)
        return self

    @property
    def _reach(self) -> float:
        return float(self.distance) * (1 - ROUNDING)

    def _between(self, chosen: np.ndarray) -> np.ndarray:
        """The distance of each candidate from each chosen one."""
        from scipy.spatial.distance import cdist  # here: SciPy's trees load slowly

        return cdist(self.coordinates[chosen], self.coordinates)

    def clashes(self, places: np.ndarray) -> np.ndarray:
        return self._between(places) < self._reach

    def broken(self, chosen: np.ndarray, complete: bool) -> str | None:
        near = np.triu(self.clashes(chosen)[:, chosen], 1)
        if not np.any(near):
            return None
        a, b = (int(chosen[place]) for place in np.argwhere(near)[0])
        between = float(np.linalg.norm(self.coordinates[a] - self.coordinates[b]))
        return f"{a} and {b} are {between:g} apart, less than {self.distance:g}"

    def kept_out(self, chosen: np.ndarray, labels: Sequence[Any]) -> list[str | None]:
        between = self._between(chosen)
        nearest, near = np.argmin(between, axis=0), np.min(between, axis=0) < self._reach
        return [
            f"closer than {self.distance:g} to {labels[chosen[place]]}" if too_near else None
            for place, too_near in zip(nearest, near, strict=True)
        ]

    def crowding(self) -> np.ndarray:
        from scipy.spatial import cKDTree  # here: it loads slowly

        tree = cKDTree(self.coordinates)
        return tree.query_ball_point(self.coordinates, self._reach, return_length=True)

    def restrict(self, indices: Indices) -> MinDistance:
        return MinDistance(self.coordinates[np.asarray(indices)], self.distance)

    def record(self) -> tuple[dict[str, Any], np.ndarray]:
        return {"distance": float(self.distance)}, self.coordinates

    @classmethod
    def restored(cls, record: dict[str, Any], values: np.ndarray) -> MinDistance:
        return cls(values, float(record["distance"]))


@dataclass(frozen=True, eq=False)
class Regions(Constraint):
    """Limit the number of chosen places in each region: at most, or exactly, a given count.

    Parameters
    ----------
    labels : the region of each candidate.
    at_most, exactly : counts by label; a label may be in one of the two, or in neither. A number is
        the count of every region.

    Examples
    --------
    >>> X = np.diag([5.0, 4.0, 3.0, 2.0])
    >>> s = lm.select(X, 2, constraints=[lm.Regions(["a", "a", "b", "b"], exactly={"b": 1})])
    >>> sorted(s.indices.tolist())
    [0, 2]
    """

    labels: Any = field(repr=False)
    at_most: Any = field(default_factory=dict)
    exactly: Any = field(default_factory=dict)

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.ndim != 1:
            raise ValueError(f"labels must be one for each candidate, got shape {labels.shape}")
        object.__setattr__(self, "labels", labels)
        for name in ("at_most", "exactly"):
            counts = getattr(self, name)
            if _check.is_whole(counts):
                counts = dict.fromkeys(self._names, int(counts))
            if not isinstance(counts, Mapping):
                raise TypeError(
                    f"{name} must be a number, or a dict that has a count for each label it "
                    f"limits, got {counts!r}"
                )
            for label, count in counts.items():
                if label not in self._names:
                    close = suggestion(str(label), [str(name) for name in self._names])
                    raise ValueError(f"no candidate has the label {label!r}{close}")
                if not _check.is_whole(count) or count < 0:
                    raise ValueError(
                        f"the count of {label!r} must be a whole number ≥ 0, got {count!r}"
                    )
            object.__setattr__(self, name, counts)
        if not self.at_most and not self.exactly:
            raise ValueError("Regions needs at_most={label: count} or exactly={label: count}")
        if both := [label for label in self.at_most if label in self.exactly]:
            raise ValueError(f"label {both[0]!r} is in at_most and in exactly; keep one of them")

    @cached_property
    def _names(self) -> list[Any]:
        """The regions as the labels come."""
        return list(dict.fromkeys(self.labels.tolist()))

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The number of the region of each candidate."""
        numbers = {name: number for number, name in enumerate(self._names)}
        return np.asarray([numbers[label] for label in self.labels.tolist()])

    @cached_property
    def _limits(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the most of each region."""
        low = [self.exactly.get(name, 0) for name in self._names]
        high = [self.exactly.get(name, self.at_most.get(name, UNLIMITED)) for name in self._names]
        return np.asarray(low), np.asarray(high)

    def _counts(self, chosen: np.ndarray) -> np.ndarray:
        return np.bincount(self._numbers[chosen], minlength=len(self._limits[0]))

    def check(self, n: int) -> Regions:
        check_count(self, "labels must be one", self.labels, n)
        return self

    def check_size(
        self, k: int, chosen: np.ndarray, open_places: np.ndarray, repeats: bool
    ) -> None:
        """Raise when no choice of k places can have these counts."""
        (low, high), counts = self._limits, self._counts(chosen)
        others = self._counts(np.flatnonzero(open_places))
        available = np.minimum(high, counts + (k * (others > 0) if repeats else others))
        for label, count in self.exactly.items():
            region = self._names.index(label)
            if available[region] < count:
                raise ValueError(
                    f"region {label!r} must have exactly {count}, but only {available[region]} "
                    "of its candidates may be chosen"
                )
        if np.sum(low) > k:
            raise ValueError(f"exactly asks for {np.sum(low)} places, more than k = {k}; raise k")
        if np.sum(available) < k:
            raise ValueError(
                f"the regions leave room for {np.sum(available)} places, fewer than k = {k}"
            )

    def addable(self, chosen: np.ndarray, left: int, open_places: np.ndarray) -> np.ndarray:
        (low, high), counts = self._limits, self._counts(chosen)
        needed = np.maximum(low - counts, 0)
        below = counts < high
        if np.sum(needed) >= left:
            below &= needed > 0
        return below[self._numbers]

    def counts_left(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        (low, high), counts = self._limits, self._counts(chosen)
        return self._numbers, np.maximum(low - counts, 0), high - counts

    def exchangeable(self, chosen: np.ndarray) -> np.ndarray:
        (low, high), counts = self._limits, self._counts(chosen)
        own = self._numbers[chosen]
        below = (counts < high)[self._numbers]
        spare = (counts > low)[own]
        return (own[:, None] == self._numbers) | (spare[:, None] & below)

    def broken(self, chosen: np.ndarray, complete: bool) -> str | None:
        (low, high), counts = self._limits, self._counts(chosen)
        wrong = (counts > high) | (complete & (counts < low))
        if not np.any(wrong):
            return None
        region = int(np.argmax(wrong))
        label = self._names[region]
        limit = f"exactly {low[region]}" if label in self.exactly else f"at most {high[region]}"
        return f"region {label!r} has {counts[region]} places, but must have {limit}"

    def kept_out(self, chosen: np.ndarray, labels: Sequence[Any]) -> list[str | None]:
        high, counts = self._limits[1], self._counts(chosen)
        full = [
            f"region {name!r} has its {most} already" if count >= most else None
            for name, most, count in zip(self._names, high, counts, strict=True)
        ]
        return [full[number] for number in self._numbers]

    def restrict(self, indices: Indices) -> Regions:
        labels = self.labels[np.asarray(indices)]
        at_most, exactly = (
            {label: count for label, count in limits.items() if label in labels.tolist()}
            for limits in (self.at_most, self.exactly)
        )
        return Regions(labels, at_most, exactly)

    def record(self) -> tuple[dict[str, Any], np.ndarray]:
        plain = [n if isinstance(n, bool | int | float | str) else str(n) for n in self._names]
        at_most, exactly = (
            [int(limit[name]) if name in limit else None for name in self._names]
            for limit in (self.at_most, self.exactly)
        )
        return {"labels": plain, "at_most": at_most, "exactly": exactly}, self._numbers

    @classmethod
    def restored(cls, record: dict[str, Any], values: np.ndarray) -> Regions:
        names = record["labels"]
        if values.ndim != 1 or not np.all((values >= 0) & (values < len(names))):
            raise ValueError(f"the numbers of regions must be below {len(names)}")
        at_most, exactly = (
            {name: int(c) for name, c in zip(names, record[key], strict=True) if c is not None}
            for key in ("at_most", "exactly")
        )
        labels = np.empty(len(values), dtype=object)
        labels[:] = [names[number] for number in values]
        return cls(labels, at_most, exactly)


def recorded(constraint: Constraint) -> tuple[dict[str, Any], np.ndarray]:
    """What a file keeps of a constraint, with the name of its class."""
    record, values = constraint.record()
    return {"kind": type(constraint).__name__} | record, np.asarray(values)


def restored(record: dict[str, Any], values: np.ndarray, n: int) -> Constraint:
    """The constraint on n candidates that `recorded` wrote; its class must be defined."""
    kind = record.get("kind", "MinDistance" if "distance" in record else "Regions")  # as in 0.2
    known, classes = {}, [Constraint]
    while classes:
        cls: Any = classes.pop()
        known[cls.__name__] = cls
        classes += cls.__subclasses__()
    if kind not in known:
        raise UnsupportedError(
            f"the file holds a constraint of the class {kind}, which is not defined here; import "
            "it before the file is read"
        )
    return known[kind].restored(record, values).check(n)


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


def addable(
    constraints: Sequence[Constraint], chosen: np.ndarray, left: int, open_places: np.ndarray
) -> np.ndarray:
    """Whether each open place may be added under all constraints."""
    allowed = open_places.copy()
    for constraint in constraints:
        allowed &= constraint.addable(chosen, left, allowed)
    return allowed


def exchangeable(constraints: Sequence[Constraint], chosen: np.ndarray) -> np.ndarray:
    """Entry (i, j) says whether all constraints allow j in the place of chosen[i]."""
    allowed = constraints[0].exchangeable(chosen)
    for constraint in constraints[1:]:
        allowed = allowed & constraint.exchangeable(chosen)
    return allowed


def packed(
    constraints: Sequence[Constraint],
    picks: Sequence[int],
    fixed: int,
    open_places: np.ndarray,
    k: int,
    repeats: bool,
) -> np.ndarray:
    """k places with as many of the first picks as can be kept; the first `fixed` ones stay.

    repeats : whether a place may be chosen more than once.
    """
    if len(picks) >= k:
        return np.asarray(picks[:k], dtype=np.int64)
    packing = _Packing(constraints, open_places.copy(), k, repeats)
    kept, longest = len(picks), 0
    while True:
        found = packing.extended(list(picks[:kept]))
        longest = max(longest, len(found))
        if len(found) == k:
            return np.asarray(found, dtype=np.int64)
        if kept == fixed:
            break
        kept = fixed + (kept - fixed) // 2
    complete = packing.searched(list(picks[:fixed]))
    if complete is not None:
        return np.asarray(complete, dtype=np.int64)
    which = " and ".join(repr(constraint) for constraint in constraints)
    if packing.visits < SEARCHED:
        reason = f"no choice of k = {k} places satisfies {which}"
    else:
        reason = (
            f"found no choice of k = {k} places that satisfies {which}: at most {longest} could be "
            "placed"
        )
    raise ValueError(f"{reason}; choose fewer or relax them")


class _Packing:
    """Extends choices to k places, trying first the places that rule out the fewest others."""

    def __init__(
        self, constraints: Sequence[Constraint], open_places: np.ndarray, k: int, repeats: bool
    ):
        self.constraints, self.open, self.k, self.repeats = constraints, open_places, k, repeats
        crowding = np.zeros(len(open_places)) + sum(c.crowding() for c in constraints)
        self.order = np.argsort(crowding, kind="stable")
        self.visits = 0

    def addable(self, chosen: list[int]) -> np.ndarray:
        """The places that may be added, in the order in which they are tried."""
        left = self.open.copy()
        left[chosen] &= self.repeats
        members = np.asarray(chosen, dtype=int)
        allowed = addable(self.constraints, members, self.k - len(chosen), left)
        return self.order[allowed[self.order]]

    def extended(self, chosen: list[int]) -> list[int]:
        """The chosen ones and, in this order, every further place that is allowed."""
        while len(chosen) < self.k and len(ranked := self.addable(chosen)):
            chosen.append(int(ranked[0]))
        return chosen

    def searched(self, chosen: list[int]) -> list[int] | None:
        """The chosen ones extended to k, by trying all choices in turn up to a number of visits."""
        if len(chosen) == self.k:
            return chosen
        if len(chosen) > 200 or self.visits >= SEARCHED:
            self.visits = SEARCHED
            return None
        self.visits += 1
        ranked = self.addable(chosen)
        tried: list[int] = []
        for j in ranked.tolist():
            if not self.repeats and len(ranked) - len(tried) < self.k - len(chosen):
                break
            if (found := self.searched([*chosen, j])) is not None:
                return found
            tried.append(j)
            self.open[j] = False
        self.open[tried] = True
        return None
