"""The progress bar: phase, part done, error so far, time left."""

from __future__ import annotations

import abc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from .runner import Callback, Progress, check_callback, watching

PATIENCE = 0.5  # seconds before the bar appears; shorter work shows none
PAUSE = 0.1  # seconds between two drawings


@contextmanager
def progress_bar(
    callback: Callback | None = None, *, quiet: bool = False, stream: TextIO | None = None
) -> Iterator[None]:
    """Show a progress bar during the block, and report progress to the callback too."""
    check_callback(callback)
    bar = None if quiet else _bar(stream or sys.stderr)
    if bar is None:
        with watching(callback):
            yield
        return

    def both(progress: Progress) -> bool | None:
        bar.update(progress)
        return None if callback is None else callback(progress)

    try:
        with watching(both):
            yield
    finally:
        bar.close()


def _bar(stream: TextIO) -> Bar | None:
    """The bar that suits the place: a notebook, a terminal with or without rich; else none."""
    if in_notebook():
        return NotebookBar()
    if not stream.isatty():
        return None
    try:
        return RichBar(stream)
    except ImportError:
        return PlainBar(stream)


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook, which is not imported for the question."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Bar(abc.ABC):
    """A bar that appears after a moment and is drawn at most ten times a second."""

    def __init__(self) -> None:
        self.next = time.monotonic() + PATIENCE

    def update(self, progress: Progress) -> None:
        """Draw, unless that was done a moment ago."""
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + PAUSE
            self.draw(progress)

    @abc.abstractmethod
    def draw(self, progress: Progress) -> None:
        """Show where the run is."""

    @abc.abstractmethod
    def close(self) -> None:
        """Remove the bar."""


class NotebookBar(Bar):
    """One line below the cell that is replaced during the run."""

    def __init__(self) -> None:
        from IPython.display import display

        super().__init__()
        self.display = display
        self.place: Any = None

    def draw(self, progress: Progress) -> None:
        self._show({"text/plain": line(progress)})

    def close(self) -> None:
        if self.place is not None:
            self._show({"text/plain": ""})

    def _show(self, bundle: dict[str, str]) -> None:
        if self.place is None:
            self.place = self.display(bundle, raw=True, display_id=True)
        else:
            self.place.update(bundle, raw=True)


class PlainBar(Bar):
    """One line that is written over and over."""

    def __init__(self, stream: TextIO):
        super().__init__()
        self.stream = stream
        self.drawn = False

    def draw(self, progress: Progress) -> None:
        self.drawn = True
        self.stream.write(f"\r\033[K{line(progress)}")
        self.stream.flush()

    def close(self) -> None:
        if self.drawn:
            self.stream.write("\r\033[K")
            self.stream.flush()


class RichBar(Bar):
    """A bar drawn by rich."""

    def __init__(self, stream: TextIO):
        from rich import progress as rich
        from rich.console import Console

        super().__init__()
        self.bar = rich.Progress(
            rich.TextColumn("{task.description:<10}"),
            rich.BarColumn(32),
            rich.TextColumn("{task.fields[part]:>9}"),
            rich.TextColumn("{task.fields[error]:>14}"),
            rich.TimeElapsedColumn(),
            rich.TimeRemainingColumn(),
            console=Console(file=stream),
            transient=True,
            refresh_per_second=10,
        )
        self.task: Any = None
        self.phase = ""

    def draw(self, progress: Progress) -> None:
        if self.phase != progress.phase:
            if self.task is None:
                self.bar.start()
            else:
                self.bar.remove_task(self.task)
            self.task = self.bar.add_task(progress.phase, total=progress.total, part="", error="")
            self.phase = progress.phase
        self.bar.update(
            self.task,
            completed=progress.done,
            total=progress.total,
            part=part(progress),
            error=error(progress),
            refresh=True,
        )

    def close(self) -> None:
        if self.task is not None:
            self.bar.stop()


def line(progress: Progress) -> str:
    """Where a run is, in a line of text."""
    words = (f"{progress.phase:<10}", part(progress), error(progress), _left(progress))
    return "  ".join(filter(None, words))


def part(progress: Progress) -> str:
    """How much is done."""
    return str(progress.done) if not progress.total else f"{progress.done}/{progress.total}"


def error(progress: Progress) -> str:
    """The error so far."""
    return "" if progress.error is None else f"error {progress.error:.2%}"


def _left(progress: Progress) -> str:
    if not progress.total or not 0 < progress.done <= progress.total:
        return f"{progress.seconds:.0f} s"
    left = progress.seconds * (progress.total / progress.done - 1)
    return f"{progress.seconds:.0f} s, {left:.0f} s left"
