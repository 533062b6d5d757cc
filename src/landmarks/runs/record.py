"""The record of a run: a tree of the iterations and methods that it is inside of or has finished.

Each record is named by what it records and by how often that was entered before: "swap 2" is the
second descent by swaps inside the record above it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .tree import Arrays, flatten, restore


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
