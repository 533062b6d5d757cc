"""What a run reports while it works: one callback, called from wherever the work is done.

`select` sets the callback for its own run; loops and passes below it call `report`, which costs
next to nothing when nobody watches. The callback is kept in a context variable, so that runs in
several threads do not get one another's reports. It is called at most 20 times in any second: 10
calls pass at once, and 10 more are allowed each second, so short runs are reported in full.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """Where a run is.

    Attributes
    ----------
    phase : what is being done, such as "reading", "greedy" or "swap".
    done, total : how far it is, in the units of the phase; total is None when nobody knows.
    error : the error of the choice so far as a share of the total, when known.
    seconds : since the run began.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
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


@contextmanager
def watching(callback: Callback | None) -> Iterator[None]:
    """Let the callback hear the reports of the block; None keeps the outer callback."""
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

    error : the error itself, or a function that computes it when somebody watches.
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
