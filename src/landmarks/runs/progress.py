"""What a run tells while it works: one callback, called from wherever the work is done.

`select` sets the callback for its own run; loops and passes below it call `report`, which costs next to nothing when
nobody watches. The callback is kept in a context variable, so that runs in several threads do not hear one another.
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

    phase : what is being done, such as "reading", "greedy" or "swap".
    done, total : how far it is, in the units of the phase; total is None when nobody knows.
    error : the error of the choice so far as a part of the whole, when it is known.
    seconds : since the run began.
    """

    phase: str
    done: int
    total: int | None
    error: float | None
    seconds: float


Callback = Callable[[Progress], bool | None]


class _Watch:
    """A callback, when its run began, and whether it has asked the run to stop."""

    def __init__(self, callback: Callback):
        self.callback = callback
        self.start = time.monotonic()
        self.stopped = False


_watch: ContextVar[_Watch | None] = ContextVar("landmarks_watch", default=None)


@contextmanager
def watching(callback: Callback | None) -> Iterator[None]:
    """Let the callback hear all reports of the block; with None whoever watched before goes on to."""
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
    """Tell where the run is; returns whether it should stop and give what it has. What the callback raises goes through.

    error : the error itself, or a function that computes it when somebody watches.
    """
    watch = _watch.get()
    if watch is None:
        return False
    error = error() if callable(error) else error
    token = _watch.set(None)  # what the callback itself runs is not told to it
    try:
        wish = watch.callback(Progress(phase, done, total, error, time.monotonic() - watch.start))
    finally:
        _watch.reset(token)
    watch.stopped = watch.stopped or bool(wish)
    return watch.stopped
