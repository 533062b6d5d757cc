"""The progress bar: a line with the phase, the part done, the error so far and the time left."""

import sys
import time
from collections.abc import Callable, Iterator
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
    show = None if quiet else _place(stream or sys.stderr)
    if show is None:
        with watching(callback):
            yield
        return
    due, shown = time.monotonic() + PATIENCE, False

    def both(progress: Progress) -> bool | None:
        nonlocal due, shown
        if time.monotonic() >= due:
            due, shown = time.monotonic() + PAUSE, True
            show(line(progress))
        return None if callback is None else callback(progress)

    try:
        with watching(both):
            yield
    finally:
        if shown:
            show("")


def _place(stream: TextIO) -> Callable[[str], None] | None:
    """What replaces the line that is shown, in a notebook or a terminal; None elsewhere."""
    if in_notebook():
        return _in_cell()
    if not stream.isatty():
        return None

    def show(text: str) -> None:
        stream.write(f"\r\033[K{text}")
        stream.flush()

    return show


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook, which is not imported for the question."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _in_cell() -> Callable[[str], None]:
    """A line below the cell."""
    from IPython.display import display

    place: Any = None

    def show(text: str) -> None:
        nonlocal place
        if place is None:
            place = display({"text/plain": text}, raw=True, display_id=True)
        else:
            place.update({"text/plain": text}, raw=True)

    return show


def line(progress: Progress) -> str:
    """Where a run is, in a line of text."""
    done, total, seconds = progress.done, progress.total, progress.seconds
    words = [f"{progress.phase:<10}", f"{done}/{total}" if total else str(done)]
    if progress.error is not None:
        words.append(f"error {progress.error:.2%}")
    left = ""
    if total and 0 < done <= total:
        left = f", {seconds * (total / done - 1):.0f} s left"
    return "  ".join([*words, f"{seconds:.0f} s{left}"])
