"""Selections as files: one npz with arrays and a JSON record, no pickle."""

from dataclasses import asdict, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError
from ..methods.trajectory import Trajectory
from ..objectives.objective import OBJECTIVES
from ..operators.base import Operator
from ..operators.data import prepared_operator
from ..operators.standard import Standard
from ..placement.constraint import Constraint
from ..placement.minimum_distance import MinDistance
from ..placement.regions import Regions
from ..problem import Trial
from ..runs import archive
from ..runs.archive import MAX_BYTES
from ..targets import saved_objective, with_saved_target
from .selection import Cost, Selection

FORMAT = "landmarks-selection"
VERSION = 1
AIMED = 2  # the version of a file with a target or noise, which earlier programs must not read
PREFIX = "constraint_"  # of the names of their arrays
PATH_ARRAYS = ("t", "value", "active", "steps")
AS_THEY_ARE = (
    *("n", "criterion", "method", "seed", "names", "center", "scale", "include", "exclude"),
    *("bound", "exponent", "stopped", "known", "from_rows"),
)


def save(selection: Selection, path: Any) -> None:
    """Write the selection to a temporary file and move it into place, so no half file remains."""
    _compute_figures(selection)
    record: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION if selection.objective.plain else AIMED,
        "aim": selection.objective.record(),
        "ledger": asdict(selection.ledger),
        "labels": None if selection.labels is None else [_plain(j) for j in selection.labels],
        "trials": [asdict(trial) for trial in selection.trials],
    }
    record |= {name: getattr(selection, name) for name in AS_THEY_ARE}
    record["constraints"], placed = _places(selection.constraints)
    arrays = {"indices": selection.indices} | placed
    if selection.path:
        arrays |= {
            f"path_{name}": np.asarray(getattr(selection.path, name)) for name in PATH_ARRAYS
        }
    archive.write(Path(path), record, arrays, compress=True)


def _compute_figures(selection: Selection) -> None:
    """Compute the errors and bounds, which the selection remembers and the file then holds."""
    if selection.operator is None:
        return
    criteria: tuple[str, ...] = (selection.criterion,)
    small = selection.operator.m is not None or selection.n <= 3000
    if not selection.objective.asked and small:  # the others cost little too
        criteria = tuple(name for name, found in OBJECTIVES.items() if found.shares)
    for criterion in criteria:
        if OBJECTIVES[criterion].shares:
            selection.relative_error(criterion)
            selection.best_rank_error(criterion)
        selection.gap(criterion)


def load(
    path: Any, *, data: Any = None, target: Any = None, max_bytes: int = MAX_BYTES
) -> Selection:
    """Read a selection written by `Selection.save`.

    Parameters
    ----------
    path : the npz file.
    data : the data given to `select`, to compute errors and bounds that the file does not hold.
    target : the target given to `select`, if there was one; needed only with the data.
    max_bytes : files that would unpack to more are refused.

    Returns
    -------
    Selection
        The choice with the errors and bounds that the file holds.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2).save(path)
    >>> lm.load(path).error("trace")
    1.0
    """
    record, arrays = archive.read(Path(path), max_bytes=max_bytes, allowed=_is_known)
    if record.get("format") != FORMAT:
        raise FormatError(f"{path} is not a selection; give a file that Selection.save wrote")
    if record.get("version") not in (VERSION, AIMED):
        raise FormatError(
            f"{path} has format version {record.get('version')}, this program reads version "
            f"{AIMED}; upgrade landmarks"
        )
    try:
        selection = _build(record, arrays, data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(f"{path} is damaged: {error}") from error
    standard = Standard(selection.center, selection.scale)
    objective = with_saved_target(
        selection.objective, record.get("aim"), selection.operator, target, standard
    )
    return replace(selection, objective=objective, path=selection.path)


def _is_known(name: str) -> bool:
    """Whether an array of that name belongs to a selection."""
    if name.startswith(PREFIX):
        return name.removeprefix(PREFIX).isdecimal()
    return name == "indices" or name in {f"path_{part}" for part in PATH_ARRAYS}


def _build(record: dict[str, Any], arrays: dict[str, np.ndarray], data: Any) -> Selection:
    center = bool(record.get("center", False))
    scale = bool(record.get("scale", False))
    operator = None if data is None else _operator(data, center, scale)
    if operator is not None and operator.n != record["n"]:
        raise ValueError(
            f"the data have n = {operator.n}, the selection was made on n = {record['n']}"
        )
    path = None
    if "path_t" in arrays:
        path = Trajectory(*(arrays[f"path_{name}"] for name in PATH_ARRAYS))
    return Selection(
        indices=arrays["indices"],
        n=int(record["n"]),
        objective=saved_objective(record["criterion"], record.get("aim")),
        method=record["method"],
        seed=record["seed"],
        ledger=Cost(**record["ledger"]),
        names=None if record["names"] is None else tuple(record["names"]),
        path=path,
        trials=tuple(Trial(**trial) for trial in record["trials"]),
        bound=record["bound"],
        exponent=int(record["exponent"]),
        stopped=bool(record.get("stopped", False)),
        operator=operator,
        include=tuple(int(j) for j in record.get("include", ())),
        exclude=tuple(int(j) for j in record.get("exclude", ())),
        constraints=_constraints(record, arrays),
        labels=_labels(record),
        center=center,
        scale=scale,
        known={str(key): float(value) for key, value in record["known"].items()},
        from_rows=record.get("from_rows"),
    )


def _places(
    constraints: tuple[Constraint, ...],
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """What JSON holds of the constraints on places, and the arrays that go with it."""
    records: list[dict[str, Any]] = []
    arrays: dict[str, np.ndarray] = {}
    for constraint in constraints:
        name = f"{PREFIX}{len(records)}"
        if isinstance(constraint, MinDistance):
            records.append({"distance": float(constraint.distance)})
            arrays[name] = np.asarray(constraint.coordinates)
        elif isinstance(constraint, Regions):
            labels = list(dict.fromkeys(constraint.labels.tolist()))  # in the order of the numbers
            plain = [n if isinstance(n, bool | int | float | str) else str(n) for n in labels]
            limits = {"at_most": constraint.at_most, "exactly": constraint.exactly}
            counts = {key: [limit.get(n) for n in labels] for key, limit in limits.items()}
            records.append({"labels": plain} | counts)
            arrays[name] = constraint._numbers
    return records, arrays


def _constraints(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> tuple[Constraint, ...]:
    """The constraints that `_places` wrote."""
    found: list[Constraint] = []
    for place, written in enumerate(record.get("constraints", ())):
        values = arrays[f"{PREFIX}{place}"]
        if "distance" in written:
            found.append(MinDistance(values, float(written["distance"])))
        else:
            found.append(_regions(written, values))
        found[-1].check(int(record["n"]))
    return tuple(found)


def _regions(written: dict[str, Any], numbers: np.ndarray) -> Regions:
    names = written["labels"]
    if numbers.ndim != 1 or not np.all((numbers >= 0) & (numbers < len(names))):
        raise ValueError(f"the numbers of regions must be below {len(names)}")
    at_most, exactly = (
        {name: int(c) for name, c in zip(names, written[key], strict=True) if c is not None}
        for key in ("at_most", "exactly")
    )
    labels = np.empty(len(numbers), dtype=object)
    labels[:] = [names[number] for number in numbers]
    return Regions(labels, at_most, exactly)


def _operator(data: Any, center: bool, scale: bool) -> Operator:
    """The operator of data, prepared as for the selection; an operator is used as it is."""
    if isinstance(data, Operator):
        return prepared_operator(data)
    return prepared_operator(data, center=center, scale=scale)


def _plain(label: Any) -> Any:
    """A label for JSON: text and numbers as they are, tuples and dates with a mark."""
    if isinstance(label, tuple):
        return {"tuple": [_plain(part) for part in label]}
    if isinstance(label, bool | int | float | str | None):
        return label
    if isinstance(label, np.generic):
        return _plain(label.item())
    if isinstance(label, datetime | date):
        return {type(label).__name__: label.isoformat()}
    return str(label)


def _labels(record: dict[str, Any]) -> tuple[Any, ...] | None:
    labels = record.get("labels")
    if labels is None:
        return None
    if len(labels) != record["n"]:
        raise ValueError(f"{len(labels)} labels for n = {record['n']}")
    return tuple(_label(label) for label in labels)


def _label(plain: Any) -> Any:
    """The label that `_plain` wrote; dates of pandas come back as dates of pandas."""
    if not isinstance(plain, dict):
        return plain
    ((kind, value),) = plain.items()
    if kind == "tuple":
        return tuple(_label(part) for part in value)
    if kind == "date":
        return date.fromisoformat(value)
    if kind == "Timestamp":
        return _timestamp(value)
    return datetime.fromisoformat(value)


def _timestamp(text: str) -> Any:
    try:
        from pandas import Timestamp
    except ImportError:
        return datetime.fromisoformat(text[:26])  # pandas may have written nanoseconds
    return Timestamp(text)
