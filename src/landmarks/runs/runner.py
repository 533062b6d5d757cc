"""The runner of every iteration: it reports progress, ends on request, and saves the state.

An algorithm is a generator that yields a `Step` after each step. `run` drives it. What changes from
step to step is in objects of the class `State`, which outlive the generator: after a stop they hold
the latest values, and a resumed run starts from the states of the earlier run.

`select` sets one callback for its run, and `report` calls it from wherever the work is done. It is
kept in a context variable, so that runs in several threads do not get one another's reports. It is
called at most 20 times in any second: 10 calls pass at once, and 10 more are allowed each second,
so short runs are reported in full. Without a callback, a report costs almost nothing.

Without a checkpoint nothing is saved, and none of the code that saves runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from .journal import Journal
    from .state import State

T = TypeVar("T")

LONG = 0.05  # seconds: a step that takes longer is not begun if the one before would end too late

_journal: ContextVar[Journal | None] = ContextVar("landmarks_journal", default=None)


@dataclass(frozen=True)
class Progress:
    """Where a run is.

    Attributes
    ----------
    phase : the current phase, such as "reading", "greedy" or "swap".
    done, total : how far it is, in the units of the phase; total is None if it is not known.
    error : the error of the choice so far as a share of the total, when known.
    seconds : since the run began.

    Examples
    --------
    >>> heard = []
    >>> s = lm.select(np.diag([3.0, 2.0, 1.0]), 2, method="greedy", callback=heard.append)
    >>> [(progress.phase, progress.done, progress.total) for progress in heard]
    [('reading', 3, 3), ('greedy', 1, 2), ('greedy', 2, 2)]
    """

    phase: str
    done: int
    total: int | None
    error: float | None
    seconds: float


Callback = Callable[[Progress], bool | None]
BURST = 10.0  # calls that pass at once
RATE = 10.0  # calls that are allowed each second after that


class _Watch:
    """A callback, when its run began, and whether it has asked the run to stop."""

    def __init__(self, callback: Callback):
        self.callback = callback
        self.start = self.filled = time.monotonic()
        self.allowed = BURST
        self.stopped = False

    def may_call(self) -> bool:
        """Whether the callback has not been called too often of late; counts the call."""
        now = time.monotonic()
        self.allowed = min(BURST, self.allowed + RATE * (now - self.filled))
        self.filled = now
        if self.allowed < 1:
            return False
        self.allowed -= 1
        return True


_watch: ContextVar[_Watch | None] = ContextVar("landmarks_watch", default=None)


def check_callback(callback: Any) -> None:
    """Raise unless the callback can be called, or is None."""
    if callback is not None and not callable(callback):
        raise TypeError(
            f"callback must be None or a function that takes a Progress, got {callback!r}; give "
            "such a function, for example callback=print"
        )


@contextmanager
def watching(callback: Callback | None) -> Iterator[None]:
    """Let the callback hear the reports of the block; None keeps the outer callback."""
    check_callback(callback)
    if callback is None:
        yield
        return
    token = _watch.set(_Watch(callback))
    try:
        yield
    finally:
        _watch.reset(token)


def stopped() -> bool:
    """Whether the callback has asked the run to stop."""
    watch = _watch.get()
    return watch is not None and watch.stopped


def report(
    phase: str,
    done: int,
    total: int | None = None,
    error: float | Callable[[], float | None] | None = None,
) -> bool:
    """Say where the run is; returns whether it should stop and give what it has.

    What the callback raises goes through.

    error : the error itself, or a function that computes it if there is a callback.
    """
    watch = _watch.get()
    if watch is None or not watch.may_call():
        return watch is not None and watch.stopped
    error = error() if callable(error) else error
    token = _watch.set(None)  # what the callback itself runs is not reported to it
    try:
        stop = watch.callback(Progress(phase, done, total, error, time.monotonic() - watch.start))
    finally:
        _watch.reset(token)
    watch.stopped = watch.stopped or bool(stop)
    return watch.stopped


_ran_out: ContextVar[list[bool] | None] = ContextVar("landmarks_ran_out", default=None)


@contextmanager
def timed() -> Iterator[list[bool]]:
    """What it gives is not empty after the block if the time was over before a method was done."""
    cuts: list[bool] = []
    token = _ran_out.set(cuts)
    try:
        yield cuts
    finally:
        _ran_out.reset(token)


def cut_short() -> None:
    """Note that the time was over before a method was done."""
    if (cuts := _ran_out.get()) is not None:
        cuts.append(True)


class Step(NamedTuple):
    """How far an iteration is.

    total : None when it is not known. error : of the choice so far, relative to that of choosing
        nothing, or a function that computes it on request.
    """

    done: int
    total: int | None = None
    error: float | Callable[[], float | None] | None = None


def run(name: str, steps: Iterator[Step], *states: State, deadline: float | None = None) -> bool:
    """Make the steps; returns False when they were stopped by the callback or the deadline.

    states : all that the steps depend on and change. Without states nothing is saved, and a resumed
        run makes the steps again.
    deadline : the time.monotonic() after which no further step is made, and none begun that would
        end after it if it took as long as the longest so far.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from landmarks.runs.runner import Step, run
    >>> from landmarks.runs.state import State
    >>> @dataclass
    ... class Sum(State):
    ...     terms: int = 0
    ...     value: float = 0.0
    >>> def halves(total):
    ...     while total.terms < 10:
    ...         total.value += 0.5**total.terms
    ...         total.terms += 1
    ...         yield Step(total.terms, 10)
    >>> total = Sum()
    >>> run("adding", halves(total), total)
    True
    >>> total.value
    1.998046875
    """
    journal = _journal.get()
    record = None if journal is None else journal.enter(name)
    ended, done, end = True, 0, math.inf if deadline is None else deadline
    last, slowest = 0.0 if deadline is None else time.monotonic(), 0.0
    try:
        if journal is not None and record is not None:
            journal.restore_states(name, record, states)
        for step in steps:
            done = step.done
            if journal is not None and record is not None:
                journal.save_states(record, states)
            if report(name, *step):
                ended = False
                break
            if deadline is None:
                continue
            now = time.monotonic()
            last, slowest = now, max(slowest, now - last)
            if now + (slowest if slowest > LONG else 0.0) >= end:
                ended = False
                if step.total is not None:
                    cut_short()
                break
    except Exception as error:
        error.add_note(f"in {name}, after step {done}")
        raise
    finally:
        if journal is not None:
            journal.leave()
    if journal is not None:
        if stopped():
            journal.close()  # a resumed run continues from here, not from the result
        journal.forget(name)
    return ended


def saves() -> bool:
    """Whether the run has a checkpoint."""
    return _journal.get() is not None


def saved_result(
    name: str, work: Callable[[], T], to_plain: Callable[[T], Any], from_plain: Callable[[Any], T]
) -> T:
    """The result of some work; in a resumed run, the saved one if the work had been finished.

    to_plain, from_plain : turn the result into plain values and arrays, and back.
    """
    journal = _journal.get()
    if journal is None:
        return work()
    record = journal.enter(name)
    try:
        if record.finished:
            journal.go_back(record)
            return from_plain(record.content)
        result = work()
    finally:
        journal.leave()
    journal.save(record, to_plain(result), finished=True)
    return result


def passes_of(ledger: Any) -> dict[str, Any]:
    """The results of earlier passes over the operator with that ledger, to which others are added.

    A checkpoint keeps them, so that a resumed run does not repeat a pass.
    """
    journal = _journal.get()
    return {} if journal is None or journal.ledger is not ledger else journal.passes


@contextmanager
def saving(journal: Journal | None) -> Iterator[None]:
    """Save the run of the block in the journal; its last state is written whatever ends it."""
    token = _journal.set(journal)
    try:
        yield
        if journal is not None:
            journal.close()
    except BaseException as error:
        try:
            if journal is not None:
                journal.flush()
        except OSError as failure:
            error.add_note(str(failure))
        raise
    finally:
        _journal.reset(token)
