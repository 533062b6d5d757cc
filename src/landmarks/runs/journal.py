"""The journal of a run: what its phases gave and where its loops are, so that a run can be taken up where it ended.

A run taken up begins from the top. Phases that had ended give back at once what they gave; a loop that had not ended
puts its state back and goes on. Random numbers, the ledger and the warnings given go along, so that the result is the
same to the last bit. `select` sets the journal for its own run; without one a loop tells its progress and nothing more.

What a loop keeps must be all that its next turns depend on. It is taken at the end of a turn, and until the end of
the next one nothing may change it in place.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import SimpleNamespace, TracebackType
from typing import Any, TypeVar

import numpy as np

from .._array import Array
from ..errors import FormatError
from .progress import report
from .tree import flatten, pack, restore, unpack

SNAPSHOT = 0.1  # seconds between two snapshots in memory: what Ctrl-C may lose
LIGHT = 2**28  # bytes up to which a snapshot is held in memory between two writes
SHARE = 20  # the run works so many times longer than it takes snapshots, and half as many than it writes

T = TypeVar("T")
Write = Callable[[Any, list[np.ndarray]], None]


class Variables(SimpleNamespace):
    """The variables of a loop, by name; all are kept."""

    @property
    def kept(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(vars(self))


@dataclass
class Node:
    """A phase or a loop: what it kept at its last turn or gave at its end, and what runs inside it since."""

    kept: Any = None
    note: dict[str, Any] | None = None
    ended: bool = False
    inside: dict[str, Node] = field(default_factory=dict)
    entered: Counter[str] = field(default_factory=Counter)

    def keep(self, kept: Any, note: dict[str, Any], *, ended: bool = False) -> None:
        """Take in a state or a result, and forget what led to it."""
        self.kept, self.note, self.ended = kept, note, ended
        self.inside.clear()
        self.entered.clear()

    def flatten(self, arrays: list[np.ndarray]) -> dict[str, Any]:
        """The node and all inside it as JSON. Results do not change any more, so they need no copy."""
        inside = {key: node.flatten(arrays) for key, node in self.inside.items()}
        return {
            "kept": flatten(self.kept, arrays, copy=not self.ended),
            "note": self.note,
            "ended": self.ended,
            "inside": inside,
        }

    @classmethod
    def of(cls, flat: dict[str, Any], arrays: list[np.ndarray], reference: Array) -> Node:
        """The node that was flattened."""
        inside = {key: cls.of(node, arrays, reference) for key, node in flat["inside"].items()}
        return cls(restore(flat["kept"], arrays, reference), flat["note"], flat["ended"], inside)


class Journal:
    """Keeps the nodes of one run and writes them, at most every `interval` seconds.

    rng, ledger, told : what the run shares and changes: its generator, the counts of its operator, warnings given.
    """

    def __init__(
        self, rng: np.random.Generator, ledger: Any, told: set[str], write: Write, interval: float
    ):
        self.rng, self.ledger, self.told, self.write, self.interval = (
            rng,
            ledger,
            told,
            write,
            interval,
        )
        self.before, self.first = ledger.snapshot(), rng.bit_generator.state
        self.root = Node()
        self.stack, self.shared = [self.root], dict[str, Any]()
        self.used, self.began = 0.0, time.monotonic()
        self.next_snapshot = self.next_write = -np.inf
        self.snapshot: tuple[Any, list[np.ndarray]] | None = None
        self.closed = False

    @property
    def seconds(self) -> float:
        """How long the run has taken, with what was used before it was taken up."""
        return self.used + time.monotonic() - self.began

    @property
    def ended(self) -> bool:
        """Whether the run has ended, so that there is nothing left to do but to give its result."""
        return bool(self.root.inside) and all(node.ended for node in self.root.inside.values())

    def take_up(self, flat: dict[str, Any], arrays: list[np.ndarray], reference: Array) -> None:
        """Go on from a snapshot."""
        self.used, self.first = flat["seconds"], flat["first"]
        self.root = Node.of(flat["root"], arrays, reference)
        self.stack, self.shared = [self.root], restore(flat["shared"], arrays, reference)
        self.rng.bit_generator.state = self.first
        self.closed = self.ended

    def note(self) -> dict[str, Any]:
        """Where the things are that all phases share."""
        return {
            "rng": self.rng.bit_generator.state,
            "ledger": self.ledger.since(self.before),
            "told": sorted(self.told),
        }

    def put_back(self, note: dict[str, Any]) -> None:
        """Take the shared things back to where they were."""
        self.rng.bit_generator.state = note["rng"]
        for name, count in note["ledger"].items():
            setattr(self.ledger, name, self.before[name] + count)
        self.told.update(note["told"])

    def enter(self, name: str) -> Node:
        """Begin a phase or a loop inside the present one."""
        inside = self.stack[-1]
        inside.entered[name] += 1
        node = inside.inside.setdefault(f"{name} {inside.entered[name]}", Node())
        self.stack.append(node)
        return node

    def keep(self) -> None:
        """Take a snapshot when it is time to, and write it when it is time to."""
        now = time.monotonic()
        if self.closed or now < self.next_snapshot:
            return
        self._take()
        self.next_snapshot = self._after(now, min(self.interval, SNAPSHOT), SHARE)
        if now >= self.next_write:
            self.flush()

    def _take(self) -> None:
        arrays: list[np.ndarray] = []
        flat = {"seconds": self.seconds, "first": self.first, "root": self.root.flatten(arrays)}
        self.snapshot = flat | {"shared": flatten(self.shared, arrays, copy=False)}, arrays

    def _after(self, start: float, wait: float, share: int) -> float:
        """When to do again what took from the start until now."""
        return start + max(wait, share * (time.monotonic() - start)) if self.interval > 0 else start

    def flush(self) -> None:
        """Write the last snapshot, unless it is written."""
        if self.snapshot is None or self.closed:
            return
        start = time.monotonic()
        try:
            self.write(*self.snapshot)
        except OSError:
            self.closed = True
            raise
        self.next_write = self._after(start, self.interval, SHARE // 2)
        if sum(array.nbytes for array in self.snapshot[1]) > LIGHT:
            self.next_snapshot = self.next_write
        self.snapshot = None

    def close(self) -> None:
        """Write where the run is, and keep nothing of what follows."""
        if not self.closed:
            self._take()
            self.flush()
            self.closed = True


_journal: ContextVar[Journal | None] = ContextVar("landmarks_journal", default=None)


@contextmanager
def keeping(journal: Journal | None) -> Iterator[None]:
    """Keep the run of the block in the journal; what it had last is written whatever ends the block."""
    token = _journal.set(journal)
    try:
        yield
        if journal is not None and not journal.closed:
            journal.close()
    except BaseException as error:
        _flush_after(error, journal)
        raise
    finally:
        _journal.reset(token)


def _flush_after(error: BaseException, journal: Journal | None) -> None:
    try:
        if journal is not None:
            journal.flush()
    except OSError as failure:
        error.add_note(str(failure))


def once(
    name: str, work: Callable[[], T], to_plain: Callable[[T], Any], from_plain: Callable[[Any], T]
) -> T:
    """What the work of a phase gives; from the journal when the phase had ended before.

    to_plain, from_plain : turn what the work gives into plain values and arrays, and back.
    """
    journal = _journal.get()
    if journal is None:
        return work()
    node = journal.enter(name)
    try:
        if node.ended and node.note is not None:
            journal.put_back(node.note)
            return from_plain(node.kept)
        result = work()
    finally:
        journal.stack.pop()
    if not journal.closed:
        node.keep(to_plain(result), journal.note(), ended=True)
        journal.keep()
    return result


def shared(name: str, ledger: Any, work: Callable[[], Any]) -> Any:
    """What a pass over the operator with that ledger gives: kept for all phases of a run, as it is for all of a process."""
    journal = _journal.get()
    if journal is None or journal.ledger is not ledger:
        return work()
    if name not in journal.shared:
        journal.shared[name] = work()
    return journal.shared[name]


class Loop:
    """A loop that tells its progress, can be stopped and can be taken up.

    phase : its name. parts : what it keeps; those that name nothing in `kept` are passed over.
    resumed : whether its parts were put back to where they were in an earlier run.

    Examples
    --------
    >>> from landmarks.runs.journal import Loop, Variables
    >>> v = Variables(step=0, total=0.0)
    >>> with Loop("adding", v) as loop:
    ...     while v.step < 3:
    ...         v.step, v.total = v.step + 1, v.total + v.step
    ...         if loop.turn(v.step, 3):
    ...             break
    >>> v.total
    3.0
    """

    def __init__(self, phase: str, *parts: Any):
        self.phase, self.parts = phase, [part for part in parts if hasattr(part, "kept")]
        self.resumed, self.done = False, 0
        self.journal = _journal.get()

    def __enter__(self) -> Loop:
        if self.journal is not None:
            self.node = self.journal.enter(self.phase)
            if self.node.note is not None:
                self._take_up(self.journal, self.node.note)
        return self

    def _take_up(self, journal: Journal, note: dict[str, Any]) -> None:
        try:
            for part, packed in zip(self.parts, self.node.kept, strict=True):
                unpack(part, packed)
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(
                f"the checkpoint does not fit the loop {self.phase!r}; it was made by other code"
            ) from error
        journal.put_back(note)
        self.resumed = True

    def turn(
        self,
        done: int,
        total: int | None = None,
        error: float | Callable[[], float | None] | None = None,
    ) -> bool:
        """End a turn: keep the state, tell where the loop is; returns whether it should stop and give what it has."""
        self.done = done
        if self.journal is not None and not self.journal.closed:
            self.node.keep([pack(part) for part in self.parts], self.journal.note())
            self.journal.keep()
        stop = report(self.phase, done, total, error)
        if stop and self.journal is not None:
            self.journal.close()
        return stop

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception):
            error.add_note(f"in {self.phase}, after turn {self.done}")
        if self.journal is None:
            return
        self.journal.stack.pop()
        if kind is None and not self.journal.closed:
            self.journal.stack[-1].inside.pop(
                f"{self.phase} {self.journal.stack[-1].entered[self.phase]}", None
            )
