"""The journal of a run with a checkpoint: it saves where the run is and resumes it from there.

A resumed run begins from the top. Methods that had finished return their result at once. An
unfinished iteration gets its state back and continues. The random generator, the counts of the
ledger and the warnings already given are restored too, so the result is bit-identical.

A record is named by what it records and a number: "swap 2" is the second descent by swaps inside
its parent record.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import FormatError
from .state import Arrays, State, capture, flatten, put_back, restore

PAUSE = 0.1  # seconds between two snapshots in memory: the most that Ctrl-C may lose
LARGE = 2**28  # bytes: larger snapshots are taken only when they are written
SNAPSHOT_SHARE = 0.05  # largest share of the run time for taking snapshots
WRITE_SHARE = 0.1  # largest share of the run time for writing them


class Journal:
    """Saves the record of one run: takes snapshots often and writes some of them.

    rng, ledger, warned : the random generator, the counts of the operator, and what the user was
        warned of, which all methods of the run share.
    write : writes a snapshot to the disk.
    interval : the fewest seconds between two writes; 0 writes after every step.
    passes : the results of passes over the operator, by name.
    """

    def __init__(
        self, rng: np.random.Generator, ledger: Any, warned: set[str], write: Write, interval: float
    ):
        self.rng, self.ledger, self.warned = rng, ledger, warned
        self.before = ledger.snapshot()
        self.write = write
        self.interval = interval
        self.last: Snapshot | None = None
        self.next_snapshot = self.next_write = -math.inf
        self.first_rng = rng.bit_generator.state
        self.root = Record()
        self.open = [self.root]
        self.passes: dict[str, Any] = {}
        self.seconds_before = 0.0
        self.start = time.monotonic()
        self.closed = False

    @property
    def seconds(self) -> float:
        """How long the run has taken, with the time before it was resumed."""
        return self.seconds_before + time.monotonic() - self.start

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do but to return the result."""
        records = self.root.inside.values()
        return bool(records) and all(record.finished for record in records)

    def resume(self, flat: dict[str, Any], arrays: Arrays) -> None:
        """Begin the run again, with what a snapshot recorded of it."""
        self.seconds_before = flat["seconds"]
        self.first_rng = flat["first"]
        self.root = Record.of(flat["root"], arrays)
        self.open = [self.root]
        self.passes = restore(flat["shared"], arrays)
        self.rng.bit_generator.state = self.first_rng
        self.closed = self.finished

    def enter(self, name: str) -> Record:
        """Begin an iteration or a method inside the present one."""
        record = self.open[-1].enter(name)
        self.open.append(record)
        return record

    def leave(self) -> None:
        """Go back to the record that the present one is inside of."""
        self.open.pop()

    def forget(self, name: str) -> None:
        """Remove the iteration that was left last: it has ended, and its caller continues."""
        if not self.closed:
            self.open[-1].forget(name)

    def save_states(self, record: Record, states: Sequence[State]) -> None:
        """Record the states of an iteration after a step, if it has any."""
        if states:
            seen: set[int] = set()
            self.save(record, [capture(state, seen) for state in states])

    def save(self, record: Record, content: Any, *, finished: bool = False) -> None:
        """Record the states of an iteration, or the result of a method, which is finished."""
        if not self.closed:
            shared = {
                "rng": self.rng.bit_generator.state,
                "ledger": self.ledger.since(self.before),
                "told": sorted(self.warned),
            }
            record.set(content, shared, finished=finished)
            self.update()

    def go_back(self, record: Record) -> None:
        """Put back the generator, the counts and the warnings as they were with a record."""
        if record.common is not None:
            self.rng.bit_generator.state = record.common["rng"]
            for name, count in record.common["ledger"].items():
                setattr(self.ledger, name, self.before.get(name, 0) + count)
            self.warned.update(record.common["told"])

    def restore_states(self, name: str, record: Record, states: Sequence[State]) -> None:
        """Put back the states of an iteration, if it had come to its first step."""
        if record.common is None:
            return
        try:
            for state, captured in zip(states, record.content, strict=True):
                put_back(state, captured)
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(
                f"the checkpoint does not fit the iteration {name!r}, because other code wrote "
                "it; remove it to start again"
            ) from error
        self.go_back(record)

    def update(self) -> None:
        """Take a snapshot if one is due, and write it if that is due."""
        start = time.monotonic()
        if self.closed or start < self.next_snapshot:
            return
        self.last = self._snapshot()
        self.next_snapshot = self._next(start, min(self.interval, PAUSE), SNAPSHOT_SHARE)
        if start >= self.next_write:
            self.flush()

    def flush(self) -> None:
        """Write the last snapshot, unless it is written."""
        if self.closed or self.last is None:
            return
        start = time.monotonic()
        try:
            self.write(*self.last)
        except OSError:
            self.closed = True
            raise
        self.next_write = self._next(start, self.interval, WRITE_SHARE)
        if sum(array.nbytes for array in self.last[1]) > LARGE:
            self.next_snapshot = self.next_write
        self.last = None

    def _next(self, start: float, pause: float, share: float) -> float:
        """The next time for what took from the start until now."""
        if self.interval == 0:
            return start
        return start + max(pause, (time.monotonic() - start) / share)

    def close(self) -> None:
        """Write where the run is, and save nothing of what follows."""
        if not self.closed:
            self.last = self._snapshot()
            self.flush()
            self.closed = True

    def _snapshot(self) -> Snapshot:
        arrays = Arrays()
        flat = {"seconds": self.seconds, "first": self.first_rng}
        flat["root"] = self.root.flatten(arrays)
        flat["shared"] = flatten(self.passes, arrays, copy=False)
        return flat, arrays.stored


@dataclass
class Record:
    """One iteration or one method of a run.

    content : of an iteration its states after the last step; of a finished method its result.
    common : the random generator, the ledger and the warnings at that moment; None before it.
    inside : the records of what has been entered since.
    """

    content: Any = None
    common: dict[str, Any] | None = None
    finished: bool = False
    inside: dict[str, Record] = field(default_factory=dict)
    entered: Counter[str] = field(default_factory=Counter)

    def enter(self, name: str) -> Record:
        """The record of that name inside this one; a new one unless a resumed run has it."""
        self.entered[name] += 1
        return self.inside.setdefault(f"{name} {self.entered[name]}", Record())

    def forget(self, name: str) -> None:
        """Remove the record of that name that was entered last."""
        self.inside.pop(f"{name} {self.entered[name]}", None)

    def set(self, content: Any, common: dict[str, Any], *, finished: bool) -> None:
        """Record a state or a result; what led to it is not needed any more."""
        self.content = content
        self.common = common
        self.finished = finished
        self.inside.clear()
        self.entered.clear()

    def flatten(self, arrays: Arrays) -> dict[str, Any]:
        """The record and all inside it as JSON; arrays of results do not change and are shared."""
        return {
            "inside": {key: record.flatten(arrays) for key, record in self.inside.items()},
            "kept": flatten(self.content, arrays, copy=not self.finished),
            "note": self.common,
            "ended": self.finished,
        }

    @classmethod
    def of(cls, flat: dict[str, Any], arrays: Arrays) -> Record:
        """The record that was flattened."""
        inside = {key: cls.of(record, arrays) for key, record in flat["inside"].items()}
        return cls(restore(flat["kept"], arrays), flat["note"], flat["ended"], inside)


Snapshot = tuple[dict[str, Any], list[np.ndarray]]  # JSON and the arrays that it refers to
Write = Callable[[dict[str, Any], list[np.ndarray]], None]
