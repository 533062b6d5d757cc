"""Selections as files: one npz with arrays and a JSON record, no pickle."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from .errors import FormatError
from .linalg.error import CRITERIA
from .operators.convert import as_operator
from .problem import Trial
from .relaxation_path import Path
from .runs import archive
from .runs.archive import MAX_BYTES
from .selection import Cost, Selection

FORMAT = "landmarks-selection"
VERSION = 1
PATH_ARRAYS = ("t", "value", "active", "steps")


def save(selection: Selection, path: Any) -> None:
    """Write the selection: to a temporary file first, then in place, so that a crash leaves no half file."""
    if selection.operator is not None:
        for criterion in (
            CRITERIA
            if selection.operator.m is not None or selection.n <= 3000
            else (selection.criterion,)
        ):
            (
                selection.relative_error(criterion),
                selection.best_rank_error(criterion),
                selection.gap(criterion),
            )  # computes what the file then holds
    record = {
        "format": FORMAT,
        "version": VERSION,
        "n": selection.n,
        "criterion": selection.criterion,
        "method": selection.method,
        "seed": selection.seed,
        "ledger": asdict(selection.ledger),
        "names": selection.names,
        "include": selection.include,
        "exclude": selection.exclude,
        "trials": [asdict(trial) for trial in selection.trials],
        "bound": selection.bound,
        "exponent": selection.exponent,
        "stopped": selection.stopped,
        "known": selection.known,
    }
    arrays = {"indices": selection.indices}
    if selection.path is not None:
        arrays |= {
            f"path_{name}": np.asarray(getattr(selection.path, name)) for name in PATH_ARRAYS
        }
    archive.write(FilePath(path), record, arrays, compress=True)


def load(path: Any, *, data: Any = None, max_bytes: int = MAX_BYTES) -> Selection:
    """Read a selection written by `Selection.save`; give the data again to compute figures it does not hold.

    Parameters
    ----------
    path : the npz file.
    data : what was given to `select`, when more than the stored figures is wanted.
    max_bytes : files that would unpack to more are refused.

    Examples
    --------
    >>> import tempfile, os, numpy as np
    >>> import landmarks as lm
    >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2).save(path)
    >>> lm.load(path).error("trace")
    1.0
    """
    known = {"indices"} | {f"path_{name}" for name in PATH_ARRAYS}
    record, arrays = archive.read(FilePath(path), max_bytes=max_bytes, allowed=known.__contains__)
    if record.get("format") != FORMAT:
        raise FormatError(f"{path} is not a selection of landmarks")
    if record.get("version") != VERSION:
        raise FormatError(
            f"{path} has format version {record.get('version')}, this program reads version {VERSION}; use a newer landmarks"
        )
    try:
        return _build(record, arrays, data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(f"{path} is damaged: {error}") from error


def _build(record: dict[str, Any], arrays: dict[str, np.ndarray], data: Any) -> Selection:
    operator = None if data is None else as_operator(data)
    if operator is not None and operator.n != record["n"]:
        raise ValueError(
            f"the data have n = {operator.n}, the selection was made on n = {record['n']}"
        )
    path = Path(*(arrays[f"path_{name}"] for name in PATH_ARRAYS)) if "path_t" in arrays else None
    return Selection(
        indices=arrays["indices"],
        n=int(record["n"]),
        criterion=record["criterion"],
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
        known={str(key): float(value) for key, value in record["known"].items()},
    )
