"""Selections as files: one npz with arrays and a JSON record, no pickle."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, fields, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from .._check import is_number, is_whole
from ..allowed import Allowed
from ..errors import FormatError, UnsupportedError
from ..methods.trajectory import Trajectory
from ..objectives.objective import OBJECTIVES
from ..operators.base import Operator
from ..operators.data import opened, warn
from ..operators.fingerprint import same_sketch, sketch
from ..operators.prepare import Preparation
from ..placement import recorded, restored
from ..problem import Trial
from ..runs import archive
from ..runs.archive import MAX_BYTES
from ..targets import saved_objective, with_saved_target
from .selection import Cost, Selection

FORMAT = "landmarks-selection"
VERSION = 3  # earlier programs do not know targets, noise and the sketch of the data
PREFIX = "constraint_"  # of the names of their arrays
PATH_ARRAYS = ("t", "value", "active", "steps")
PLAIN = ("method", "seed", "bound", "exponent", "stopped", "center", "scale", "from_rows")
AS_THEY_ARE = (
    *PLAIN,
    *("n", "criterion", "names", "include", "exclude", "known", "sketch", "searched", "most"),
)
OLD_FLAGS = ("proved", "columns")  # in files of 0.1 they are among the figures
FLAGS = ("center", "scale", "stopped", "searched")
#: what files of earlier versions lack
LACKING: dict[str, Any] = {
    **dict.fromkeys(FLAGS, False),
    **{name: [] for name in ("include", "exclude", "constraints", "sketch")},
    **dict.fromkeys(("labels", "from_rows", "most")),
}
FIGURES = ("error", "total", "best_rank", "rank_bound", "certificate")


def save(selection: Selection, path: Any) -> None:
    """Write the selection to a temporary file and move it into place, so no half file remains."""
    if selection.operator is not None:
        if selection.objective.shares:  # the file holds what the selection remembers
            selection.relative_error()
            selection.best_rank_error()
        selection.gap()
        found = tuple(sketch(selection.operator, selection.indices))
        selection = replace(selection, sketch=found)
    record: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "objective": selection.objective.record(),
        "ledger": asdict(selection.ledger),
        "labels": None if selection.labels is None else [_plain(j) for j in selection.labels],
        "trials": [asdict(trial) for trial in selection.trials],
    }
    record |= {name: getattr(selection, name) for name in AS_THEY_ARE}
    kept = [recorded(constraint) for constraint in selection.constraints]
    record["constraints"] = [described for described, _ in kept]
    arrays = {"indices": selection.indices}
    arrays |= {f"{PREFIX}{i}": values for i, (_, values) in enumerate(kept)}
    if selection.path:
        arrays |= {
            f"path_{name}": np.asarray(getattr(selection.path, name)) for name in PATH_ARRAYS
        }
    archive.write(Path(path), record, arrays, compress=True)


def load(
    path: Any,
    *,
    data: Any = None,
    target: Any = None,
    missing: str = "error",
    numeric_only: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Selection:
    """Read a selection written by `Selection.save`.

    Parameters
    ----------
    path : the npz file.
    data : the data given to `select`, to compute errors and bounds that the file does not hold.
        Other data are refused.
    target : the target given to `select`, if there was one; needed only with the data.
    missing, numeric_only : as for `select`, if the data need it.
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
    if record.get("version") not in range(1, VERSION + 1):
        raise FormatError(
            f"{path} has format version {record.get('version')}, this program reads version "
            f"{VERSION}; upgrade landmarks"
        )
    record = LACKING | {"objective": record.get("aim")} | record  # what it was called in 0.1
    try:
        _check_record(record)
        selection = _build(record, arrays)
    except KeyError as error:
        raise FormatError(f"{path} is damaged: it lacks {error}") from error
    except UnsupportedError as error:
        raise UnsupportedError(f"{path}: {error}") from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(f"{path} is damaged: {error}") from error
    if data is not None:
        prepared = {"center": selection.center, "scale": selection.scale}
        if isinstance(data, Operator):  # it is used as it is
            prepared = {}
        given = opened(data, missing=missing, numeric_only=numeric_only, **prepared)
        warn(given, selection.objective.by_length)
        operator = given.operator
        if operator.n != selection.n:
            raise FormatError(
                f"the data have n = {operator.n}, the selection was made on n = {selection.n}"
            )
        found = sketch(operator, selection.indices)
        if selection.sketch and not same_sketch(selection.sketch, found, operator):
            raise FormatError(
                f"{path} belongs to a run on other data; give the data of the run, or those of "
                "`lm.data(X, …)` prepared in the same way"
            )
        selection = replace(selection, operator=operator)
    standard = Preparation(selection.center, selection.scale)
    objective = with_saved_target(
        selection.objective, record["objective"], selection.operator, target, standard
    )
    return replace(selection, objective=objective)


def _is_known(name: str) -> bool:
    """Whether an array of that name belongs to a selection."""
    if name.startswith(PREFIX):
        return name.removeprefix(PREFIX).isdecimal()
    return name == "indices" or name in {f"path_{part}" for part in PATH_ARRAYS}


def _check_record(record: dict[str, Any]) -> None:
    """Raise an error with the name of a field that holds what no selection has."""
    n = record["n"]
    _expect("n", n, is_whole(n) and 0 < n < 2**53, "a whole number of at least 1")
    seed, names, exponent = (record[name] for name in ("seed", "names", "exponent"))
    rows, most = record["from_rows"], record["most"]
    fine = {
        "criterion": (record["criterion"] in [*OBJECTIVES], "a known one"),
        "method": (_is_text(record["method"]), "a text"),
        "seed": (seed is None or _is_count(seed), "a whole number or null"),
        "names": (names is None or _is_list(names, _is_text, n), f"{n} texts or null"),
        "exponent": (_is_exponent(exponent), "an exponent of 2"),
        **{name: (isinstance(record[name], bool), "true or false") for name in FLAGS},
        "from_rows": (rows is None or isinstance(rows, bool), "true, false or null"),
        "most": (most is None or (is_whole(most) and 1 <= most <= n), f"1 to {n}, or null"),
        "sketch": (_is_list(record["sketch"], _is_finite), "a list of numbers"),
    }
    for name, (holds, what) in fine.items():
        _expect(name, record[name], holds, what)

    include, exclude = record["include"], record["exclude"]
    for name, listed in (("include", include), ("exclude", exclude)):
        indices = _is_list(listed, lambda j: _is_count(j) and j < n)
        distinct = indices and len({*listed}) == len(listed)
        _expect(name, listed, distinct, f"different indices below {n}")
    _expect("exclude", exclude, {*include}.isdisjoint(exclude), "without those of include")

    ledger = record["ledger"]
    _expect("ledger", ledger, _is_record(ledger, Cost), "counts and seconds")
    trials = record["trials"]
    known = _is_list(trials, lambda trial: _is_record(trial, Trial))
    _expect("trials", trials, known, "a list of labels, errors, counts and seconds")
    if record["objective"] is not None:
        _check_objective(record["objective"], n)
    _check_figures(record)


def _check_objective(record: Any, n: int) -> None:
    """Check what a target and noise are."""
    parts = ("target", "columns", "rows", "noise", "repeats", "exponent", "names")
    known = isinstance(record, dict) and {*parts} <= record.keys()
    _expect("objective", record, known, ", ".join(parts))
    digest, columns, rows, noise, repeats, exponent, names = (record[name] for name in parts)
    counted = _is_count(columns) and columns < 2**31 if digest is not None else columns is None
    variances = noise is None or _is_list(noise, lambda v: _is_finite(v) and v >= 0, n)
    fine = {
        "target": (digest is None or _is_text(digest), "a checksum or null"),
        "columns": (counted, "the number of columns of the target"),
        "noise": (variances, f"{n} variances or null"),
        "rows": (isinstance(rows, bool), "true or false"),
        "repeats": (isinstance(repeats, bool), "true or false"),
        "exponent": (_is_exponent(exponent), "an exponent of 2"),
        "names": (
            names is None or _is_list(names, _is_text, columns),
            "the names of the target or null",
        ),
    }
    for name, (holds, what) in fine.items():
        _expect(f"objective, {name}", record[name], holds, what)


def _check_figures(record: dict[str, Any]) -> None:
    """Check that errors and bounds are numbers that can be true of one choice."""
    known, bound = record["known"], record["bound"]
    _expect("known", known, isinstance(known, dict), "an object")
    for name, value in known.items():
        kind, _, criterion = name.partition(":")
        fine = name in OLD_FLAGS or (kind in FIGURES and criterion in OBJECTIVES)
        _expect("known", name, fine, "figures such as error:trace")
        shares = criterion not in OBJECTIVES or OBJECTIVES[criterion].shares
        fine = _is_finite(value) or (not shares and value in (math.inf, -math.inf))
        _expect(f"known, {name}", value, fine, "a number")
    fine = bound is None or (is_number(bound) and not math.isnan(bound))
    _expect("bound", bound, fine, "a number or null")
    for criterion, objective in OBJECTIVES.items():
        figures = {kind: known.get(f"{kind}:{criterion}") for kind in FIGURES}
        figures["bound"] = bound if criterion == record["criterion"] else None
        found = {kind: float(value) for kind, value in figures.items() if value is not None}
        most = found.get("total", max(found.values(), default=0.0))
        if not objective.shares or not found:
            continue
        rounding = 1e-3 * abs(most)
        for kind, value in found.items():
            name = kind if kind == "bound" else f"known, {kind}:{criterion}"
            fine = -rounding <= value <= most + rounding
            _expect(name, value, fine, f"from 0 to the total error, {most:.6g}")
            if kind in ("rank_bound", "certificate", "bound"):
                least = found.get("error", most)
                _expect(name, value, value <= least + rounding, f"at most the error, {least:.6g}")


def _expect(name: str, value: Any, holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{name} must be {what}, got {repr(value)[:60]}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return is_whole(value) and value >= 0


def _is_exponent(value: Any) -> bool:
    return is_whole(value) and abs(value) < 10_000


def _is_finite(value: Any) -> bool:
    return is_number(value) and math.isfinite(value)


def _is_list(value: Any, each: Callable[[Any], bool], size: int | None = None) -> bool:
    """Whether this is a list whose entries all pass, of that size if one is given."""
    return isinstance(value, list) and size in (None, len(value)) and all(map(each, value))


def _is_record(value: Any, kind: Any) -> bool:
    """Whether the entries are those of a Cost or a Trial: texts, an error, counts, seconds."""
    if not isinstance(value, dict):
        return False
    names = {field.name for field in fields(kind)}
    if not names - {"precision"} <= value.keys() <= names:
        return False
    texts = {name: entry for name, entry in value.items() if name in ("label", "precision")}
    counts = {name: value[name] for name in names - texts.keys() - {"error", "precision"}}
    return (
        all(map(_is_text, texts.values()))
        and all(_is_finite(entry) and entry >= 0 for entry in counts.values())
        and (value.get("error") is None or is_number(value["error"]))
    )


def _build(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> Selection:
    path = None
    if "path_t" in arrays:
        path = Trajectory(*(arrays[f"path_{name}"] for name in PATH_ARRAYS))
        for name in PATH_ARRAYS:
            part = getattr(path, name)
            shape = (len(path.t), record["n"]) if name == "t" else (len(path.t),)
            if part.shape != shape or part.dtype.kind not in "iuf":
                raise ValueError(f"path_{name} must be numbers of shape {shape}")
    known = {name: float(value) for name, value in record["known"].items()}
    listed = record["constraints"]
    _expect("constraints", listed, _is_list(listed, lambda c: isinstance(c, dict)), "a list")
    proved, columns = (known.pop(name, None) for name in OLD_FLAGS)
    most = columns if record["most"] is None else record["most"]
    objective = saved_objective(record["criterion"], record["objective"])
    allowed = Allowed(
        record["n"],
        len(arrays["indices"]),
        tuple(record["include"]),
        tuple(record["exclude"]),
        constraints=tuple(
            restored(written, arrays[f"{PREFIX}{i}"], record["n"])
            for i, written in enumerate(listed)
        ),
        repeats=objective.repeats,
    )
    return Selection(
        indices=arrays["indices"],
        allowed=allowed,
        objective=objective,
        ledger=Cost(**record["ledger"]),
        names=None if record["names"] is None else tuple(record["names"]),
        path=path,
        trials=tuple(Trial(**trial) for trial in record["trials"]),
        labels=_labels(record),
        searched=record["searched"] or bool(proved),
        most=None if most is None else int(most),
        known=known,
        sketch=tuple(record["sketch"]),
        **{name: record[name] for name in PLAIN},
    )


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
    labels, n = record["labels"], record["n"]
    if labels is None:
        return None
    _expect("labels", labels, isinstance(labels, list) and len(labels) == n, f"{n} labels")
    try:
        return tuple(_label(label) for label in labels)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"labels must be texts, numbers, dates or tuples: {error}") from error


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
        with suppress(ImportError):
            from pandas import Timestamp

            return Timestamp(value)
    return datetime.fromisoformat(value)
