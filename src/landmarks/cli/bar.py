"""The bar that a person sees while a run works: phase, part done, error so far, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from ..runs.progress import Progress

PATIENCE = 0.5  # seconds before anything is shown: what is done by then needs no bar
PAUSE = 0.1  # seconds between two drawings


@contextmanager
def shown(quiet: bool = False, stream: TextIO | None = None) -> Iterator[None]:
    """Show the progress of the block on standard error when a person watches it."""
    from ..runs.progress import watching

    stream = stream or sys.stderr
    if quiet or not stream.isatty():
        yield
        return
    bar = _rich_bar(stream) or PlainBar(stream)
    try:
        with watching(bar.update):
            yield
    finally:
        bar.close()


def _rich_bar(stream: TextIO) -> RichBar | None:
    try:
        return RichBar(stream)
    except ImportError:
        return None


class PlainBar:
    """One line that is written over and over."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self.next = time.monotonic() + PATIENCE
        self.drawn = False

    def update(self, progress: Progress) -> None:
        """Draw, unless that was done a moment ago."""
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + PAUSE
        self.drawn = True
        self.stream.write(f"\r\033[K{line(progress)}")
        self.stream.flush()

    def close(self) -> None:
        """Remove the line."""
        if self.drawn:
            self.stream.write("\r\033[K")
            self.stream.flush()


class RichBar:
    """A bar drawn by rich."""

    def __init__(self, stream: TextIO):
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description:<10}"),
            BarColumn(32),
            TextColumn("{task.fields[part]:>9}"),
            TextColumn("{task.fields[error]:>14}"),
        )
        self.bar = Progress(
            *columns,
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(file=stream),
            transient=True,
            refresh_per_second=10,
        )
        self.next = time.monotonic() + PATIENCE
        self.task: Any = None
        self.phase = ""

    def update(self, progress: Progress) -> None:
        """Draw, unless that was done a moment ago."""
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + PAUSE
        if self.phase != progress.phase:
            self._begin(progress)
        self.bar.update(
            self.task,
            completed=progress.done,
            total=progress.total,
            part=part(progress),
            error=error(progress),
            refresh=True,
        )

    def close(self) -> None:
        """Remove the bar."""
        if self.task is not None:
            self.bar.stop()

    def _begin(self, progress: Progress) -> None:
        if self.task is None:
            self.bar.start()
        else:
            self.bar.remove_task(self.task)
        self.task = self.bar.add_task(progress.phase, total=progress.total, part="", error="")
        self.phase = progress.phase


def line(progress: Progress) -> str:
    """Where a run is, in a line of text."""
    return "  ".join(
        word
        for word in (f"{progress.phase:<10}", part(progress), error(progress), _left(progress))
        if word
    )


def part(progress: Progress) -> str:
    """How much is done."""
    return str(progress.done) if not progress.total else f"{progress.done}/{progress.total}"


def error(progress: Progress) -> str:
    """The error so far."""
    return "" if progress.error is None else f"error {progress.error:.2%}"


def _left(progress: Progress) -> str:
    if not progress.total or not 0 < progress.done <= progress.total:
        return f"{progress.seconds:.0f} s"
    return f"{progress.seconds:.0f} s, {progress.seconds * (progress.total / progress.done - 1):.0f} s left"
