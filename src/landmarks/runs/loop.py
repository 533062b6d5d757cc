"""The old form of an iteration, for methods that are not yet generators: a loop with `turn`."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace, TracebackType
from typing import Any

from .progress import report
from .runner import _journal
from .state import State


class Variables(State, SimpleNamespace):
    """The variables of a loop, by name."""


class Loop:
    """A loop that reports progress, can be stopped and can be resumed."""

    def __init__(self, phase: str, *states: Any):
        self.phase = phase
        self.states = [state for state in states if isinstance(state, State)]
        self.resumed = False
        self.done = 0
        self.journal = _journal.get()

    def __enter__(self) -> Loop:
        if self.journal is not None:
            self.record = self.journal.enter(self.phase)
            self.resumed = self.record.common is not None
            self.journal.restore_states(self.phase, self.record, self.states)
        return self

    def turn(
        self,
        done: int,
        total: int | None = None,
        error: float | Callable[[], float | None] | None = None,
    ) -> bool:
        """End a turn; returns whether the loop should stop."""
        self.done = done
        if self.journal is not None:
            self.journal.save_states(self.record, self.states)
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
            error.add_note(f"in {self.phase}, after step {self.done}")
        if self.journal is None:
            return
        self.journal.leave()
        if kind is None:
            self.journal.forget(self.phase)
