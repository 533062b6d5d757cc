"""Constraints on places as a file holds them: a record for JSON, and arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .constraint import Constraint
from .minimum_distance import MinDistance
from .regions import Regions

PREFIX = "constraint_"  # of the names of arrays


def recorded(
    constraints: Sequence[Constraint],
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """What JSON holds of the constraints, and the arrays that go with it by their place."""
    records: list[dict[str, Any]] = []
    arrays: dict[str, np.ndarray] = {}
    for constraint in constraints:
        name = f"{PREFIX}{len(records)}"
        if isinstance(constraint, MinDistance):
            records.append({"distance": float(constraint.distance)})
            arrays[name] = np.asarray(constraint.coordinates)
        elif isinstance(constraint, Regions):
            records.append(_limits(constraint))
            arrays[name] = constraint._numbers
    return records, arrays


def _limits(regions: Regions) -> dict[str, Any]:
    """The labels in the order of their numbers, with the most or the exact count of each."""
    names = list(dict.fromkeys(regions.labels.tolist()))
    return {
        "labels": [n if isinstance(n, bool | int | float | str) else str(n) for n in names],
        "at_most": [regions.at_most.get(name) for name in names],
        "exactly": [regions.exactly.get(name) for name in names],
    }


def restored(
    records: Sequence[Mapping[str, Any]], arrays: Mapping[str, np.ndarray]
) -> tuple[Constraint, ...]:
    """The constraints of a file."""
    found: list[Constraint] = []
    for place, record in enumerate(records):
        values = arrays[f"{PREFIX}{place}"]
        if "distance" in record:
            found.append(MinDistance(values, float(record["distance"])))
        else:
            found.append(_regions(record, values))
    return tuple(found)


def _regions(record: Mapping[str, Any], numbers: np.ndarray) -> Regions:
    names = record["labels"]
    if numbers.ndim != 1 or not np.all((numbers >= 0) & (numbers < len(names))):
        raise ValueError(f"the numbers of regions must be below {len(names)}")
    at_most, exactly = (
        {name: int(c) for name, c in zip(names, record[key], strict=True) if c is not None}
        for key in ("at_most", "exactly")
    )
    labels = np.empty(len(numbers), dtype=object)
    labels[:] = [names[number] for number in numbers]
    return Regions(labels, at_most, exactly)
