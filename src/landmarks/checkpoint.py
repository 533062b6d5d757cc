"""Checkpoints: files from which an interrupted run continues (docs/checkpoints.md)."""

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._check import is_number
from .errors import FormatError
from .operators.fingerprint import fingerprint, same_data
from .problem import Method, Problem
from .runs import archive
from .runs.journal import Journal
from .runs.state import Arrays

FORMAT = "landmarks-checkpoint"
VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """The file to which a run is saved while it works, and how often.

    Parameters
    ----------
    path : the file. The run creates it; an existing file must belong to the same run.
    interval : the fewest seconds between two writes; 0 writes after every step of every iteration.
        Large states are written less often, so that writing takes about a tenth of the time at
        most.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> X = np.random.default_rng(0).standard_normal((30, 10))
    >>> first = lm.select(X, 3, checkpoint=lm.Checkpoint(path, interval=30))
    >>> again = lm.select(X, 3, checkpoint=path)  # the run has ended: its result is read
    >>> first.indices.tolist() == again.indices.tolist()
    True
    """

    path: str | os.PathLike[str]
    interval: float = 5.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise TypeError(f"checkpoint must be a path or a Checkpoint, got {self.path!r}")
        if not is_number(self.interval) or not self.interval >= 0:
            raise ValueError(
                f"interval must be a number of seconds, 0 or more, got {self.interval!r}"
            )


def open_journal(
    checkpoint: Any,
    problem: Problem,
    method: Method,
    asked: dict[str, Any],
    rng: np.random.Generator,
) -> Journal:
    """The journal that saves a run to a checkpoint; it resumes the run that the file holds.

    checkpoint : the path of the file, or a `Checkpoint`.
    asked : the arguments of the run that the problem and the method do not hold.
    """
    if not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    file = File(
        Path(os.path.realpath(checkpoint.path)),
        fingerprint(problem.operator),
        _settings(problem, method, asked),
    )
    shared = (rng, problem.operator.ledger, problem.warned)
    journal = Journal(*shared, file.write, checkpoint.interval)
    if file.path.exists():
        flat, arrays = file.read()
        journal.resume(flat, Arrays(arrays, problem.operator.like))
    if not journal.finished:
        journal.update()  # shows at once whether the file can be written
    return journal


@dataclass(frozen=True)
class File:
    """The file of one run: what must be the same in it, and what changes."""

    path: Path
    data: dict[str, Any]
    settings: dict[str, Any]

    def write(self, flat: Any, arrays: list[np.ndarray]) -> None:
        """Replace the last snapshot by this one."""
        named = {f"a{i}": array for i, array in enumerate(arrays)}
        record = {
            "format": FORMAT,
            "version": VERSION,
            "data": self.data,
            "settings": self.settings,
            "run": flat,
        }
        try:
            archive.write(self.path, record | {"sha256": _checksum(record, named)}, named)
        except OSError as error:
            last = "the last one is kept" if self.path.exists() else "there is none yet"
            raise OSError(
                error.errno, f"the checkpoint {self.path} could not be written ({error}); {last}"
            ) from error

    def read(self) -> tuple[Any, list[np.ndarray]]:
        """The last snapshot; raises an error if it is damaged or belongs to another run."""
        size = self.path.stat().st_size  # nothing is compressed, so nothing honest unpacks to more
        record, arrays = archive.read(
            self.path, max_bytes=size, allowed=lambda name: name[:1] == "a" and name[1:].isdigit()
        )
        if record.get("format") != FORMAT:
            raise FormatError(
                f"{self.path} is not a checkpoint of landmarks, so it is not overwritten; "
                "use another file"
            )
        if record.get("version") != VERSION:
            raise FormatError(
                f"{self.path} has checkpoint version {record.get('version')}, this program reads "
                f"version {VERSION}; upgrade landmarks"
            )
        if record.pop("sha256", None) != _checksum(record, arrays):
            raise FormatError(
                f"{self.path} is damaged: its contents do not have the checksum it was written "
                "with; remove it to start again"
            )
        if not same_data(record["data"], self.data):
            raise ValueError(
                f"the checkpoint {self.path} belongs to a run on other data, so it is not "
                "overwritten; use another file"
            )
        for name, value in self.settings.items():
            if record["settings"].get(name) != value:
                was = record["settings"].get(name)
                raise ValueError(
                    f"the checkpoint {self.path} belongs to a run with {name} = {was!r}, but this "
                    f"run has {value!r}; use another file"
                )
        return record["run"], [arrays[f"a{i}"] for i in range(len(arrays))]


def _settings(problem: Problem, method: Method, asked: dict[str, Any]) -> dict[str, Any]:
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        settings = {
            "method": repr(method),
            "k": problem.k,
            "criterion": problem.objective.criterion,
        } | asked
    return settings | {
        "include": list(problem.include),
        "exclude": list(problem.exclude),
        "groups": None if problem.groups is None else problem.groups.tolist(),
        "costs": None if problem.costs is None else problem.costs.tolist(),
        "budget_cost": problem.budget_cost,
        "objective": problem.objective.record(),
        "constraints": [c.fingerprint() for c in problem.constraints] or None,
        "landmarks": sys.modules["landmarks"].__version__.rsplit(".", 1)[0],
    }


def _checksum(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(archive.as_json(record))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
