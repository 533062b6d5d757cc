"""What was found out about an object, kept as long as the object lives.

A value of a `weakref.WeakKeyDictionary` must not refer to its key, or neither is ever freed. Here
it may: the values are kept on the object itself. Copies and pickles begin with nothing.
"""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

Owner = TypeVar("Owner")
Value = TypeVar("Value")


class Remembered(Generic[Owner, Value]):
    """A value for each object."""

    def __contains__(self, owner: Owner) -> bool:
        return self in _memory(owner)

    def __getitem__(self, owner: Owner) -> Value:
        found: Value = _memory(owner)[self]
        return found

    def __setitem__(self, owner: Owner, value: Value) -> None:
        _memory(owner)[self] = value

    def get(self, owner: Owner, default: Value) -> Value:
        """The value of an object, or another if it has none."""
        found: Value = _memory(owner).get(self, default)
        return found

    def setdefault(self, owner: Owner, default: Value) -> Value:
        """The value of an object, which becomes the default if it had none."""
        found: Value = _memory(owner).setdefault(self, default)
        return found


class _Memory(dict[Any, Any]):
    """The values of one object, by what remembers them."""

    def __init__(self, owner: object = None):
        super().__init__()
        self.owner = (lambda: None) if owner is None else weakref.ref(owner)

    def __reduce__(self) -> tuple[type[_Memory], tuple[()]]:
        return _Memory, ()


def _memory(owner: object) -> _Memory:
    """The values of an object; a copy of it has the attribute too, but that of another owner."""
    found: _Memory | None = vars(owner).get("_memory")
    if found is None or found.owner() is not owner:
        found = vars(owner)["_memory"] = _Memory(owner)
    return found
