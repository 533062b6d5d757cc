"""When to take a snapshot of a run in memory, and when to write one to the disk."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

PAUSE = 0.1  # seconds between two snapshots in memory: the most that Ctrl-C may lose
LARGE = 2**28  # bytes: larger snapshots are taken only when they are written
SNAPSHOT_SHARE = 0.05  # the most of the time of a run that taking snapshots may use
WRITE_SHARE = 0.1  # the most of the time of a run that writing them may use

Snapshot = tuple[dict[str, Any], list[np.ndarray]]  # JSON and the arrays that it refers to
Write = Callable[[dict[str, Any], list[np.ndarray]], None]


class Snapshots:
    """Takes snapshots often and writes some of them.

    make : makes a snapshot of where the run is; write : writes one.
    interval : the fewest seconds between two writes; 0 writes after every step.
    """

    def __init__(self, make: Callable[[], Snapshot], write: Write, interval: float):
        self.make = make
        self.write = write
        self.interval = interval
        self.last: Snapshot | None = None
        self.next_snapshot = -math.inf
        self.next_write = -math.inf

    def update(self) -> None:
        """Take a snapshot if one is due, and write it if that is due."""
        start = time.monotonic()
        if start < self.next_snapshot:
            return
        self.take()
        self.next_snapshot = self._next(start, min(self.interval, PAUSE), SNAPSHOT_SHARE)
        if start >= self.next_write:
            self.flush()

    def take(self) -> None:
        """Take a snapshot now."""
        self.last = self.make()

    def flush(self) -> None:
        """Write the last snapshot, unless it is written."""
        if self.last is None:
            return
        start = time.monotonic()
        self.write(*self.last)
        self.next_write = self._next(start, self.interval, WRITE_SHARE)
        if sum(array.nbytes for array in self.last[1]) > LARGE:
            self.next_snapshot = self.next_write
        self.last = None

    def _next(self, start: float, pause: float, share: float) -> float:
        """The next time for what took from the start until now."""
        if self.interval == 0:
            return start
        return start + max(pause, (time.monotonic() - start) / share)
