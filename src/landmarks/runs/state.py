"""The state of a running method, captured so that the work can continue from there.

A class whose objects change derives from `State`. All of its attributes are saved: numbers, text,
arrays, lists and dictionaries of these, and other states. Everything else that it refers to is an
input, such as the operator, the problem, the settings or the random generator. Inputs are the same
in a resumed run, so they are not saved.

A checkpoint file holds nested values as JSON and a list of arrays, no pickle: `flatten` and
`restore` turn one into the other.
"""

from collections.abc import Iterable
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np

from .._array import Array, host, is_array, like, namespace

PLAIN = (bool, int, float, str, list, tuple, dict, np.generic)


class State:
    """Something that changes while a method works; a checkpoint saves all of its attributes.

    Between two steps of an iteration nothing may change its arrays in place.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from landmarks.runs.state import State, capture, put_back
    >>> @dataclass
    ... class Count(State):
    ...     done: int = 0
    >>> count = Count(3)
    >>> captured = capture(count)
    >>> count.done = 7
    >>> put_back(count, captured).done
    3
    """

    def restored(self) -> None:
        """Make what is not saved, after the attributes were put back."""


class Captured(dict[str, Any]):
    """The attributes of a state at one moment."""


def capture(state: State, seen: set[int] | None = None) -> Captured:
    """The attributes of a state, with arrays that are not copied.

    seen : the states that are captured already; inside this one they are left out.
    """
    seen = set() if seen is None else seen
    seen.add(id(state))
    captured = Captured()
    for name, value in vars(state).items():
        if isinstance(value, State):
            if id(value) not in seen:
                captured[name] = capture(value, seen)
        elif isinstance(value, list | dict):
            captured[name] = value.copy()
        elif _is_plain(value):
            captured[name] = value
    return captured


def put_back(state: State, captured: Captured) -> State:
    """The state as it was captured: the same object, or a new one when its class is frozen."""
    for name, value in vars(state).items():
        if value is not None and _is_plain(value) and name not in captured:
            raise KeyError(f"{name} of {type(state).__name__} was not saved")
    attributes = {name: _earlier(state, name, captured[name]) for name in captured}
    if is_dataclass(state) and type(state).__dataclass_params__.frozen:
        return replace(state, **attributes)
    vars(state).update(attributes)
    state.restored()
    return state


def _earlier(state: State, name: str, value: Any) -> Any:
    """An attribute as it was captured."""
    current = getattr(state, name, None)
    if isinstance(current, State) != isinstance(value, Captured):
        raise TypeError(f"{name} of {type(state).__name__} was saved in another form")
    return put_back(current, value) if isinstance(current, State) else value


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, PLAIN) or is_array(value)


class Arrays:
    """The arrays of a tree, on the host; an array that occurs twice is stored once.

    reference : an array that says which library the others are made for when they are read.
    """

    def __init__(self, stored: Iterable[np.ndarray] = (), reference: Array | None = None):
        self.stored = list(stored)
        self.reference = reference
        self._numbers: dict[tuple[int, bool], int] = {}
        self._read: dict[int, Array] = {}

    def add(self, array: Array, *, copy: bool) -> int:
        """Store an array; returns its number."""
        key = (id(array), copy)
        if key not in self._numbers:
            self._numbers[key] = len(self.stored)
            self.stored.append(np.array(host(array), copy=True) if copy else host(array))
        return self._numbers[key]

    def read(self, number: int, dtype: str | None) -> Array:
        """The array of that number; a dtype is given when it was not an array of NumPy."""
        if dtype is None:
            return self.stored[number]
        if number not in self._read:
            named = getattr(namespace(self.reference), dtype)
            self._read[number] = like(self.stored[number], self.reference, dtype=named)
        return self._read[number]


def flatten(value: Any, arrays: Arrays, *, copy: bool) -> Any:
    """The value as JSON; its arrays are added to the others and appear in it by their number."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_array(value):
        number = {"array": arrays.add(value, copy=copy)}
        if isinstance(value, np.ndarray):
            return number
        return number | {"dtype": str(value.dtype).split(".")[-1]}
    if isinstance(value, dict):
        kind = "state" if isinstance(value, Captured) else "dict"
        return {kind: [[key, flatten(part, arrays, copy=copy)] for key, part in value.items()]}
    if isinstance(value, list) and _is_table(value):
        columns = [list(column) for column in zip(*value, strict=True)]
        return {"table": [_column(column, arrays, copy) for column in columns]}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [flatten(part, arrays, copy=copy) for part in value]}
    raise TypeError(f"a checkpoint holds numbers, text and arrays, got {type(value).__name__}")


def _column(values: list[Any], arrays: Arrays, copy: bool) -> Any:
    """A column of a table; vectors of one length are stored as one matrix."""
    if _is_stack(values):
        return {"stack": flatten(np.stack(values), arrays, copy=False)}
    return flatten(values, arrays, copy=copy)


def restore(value: Any, arrays: Arrays) -> Any:
    """What `flatten` was given."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays.read(value["array"], value.get("dtype"))
    ((kind, inner),) = value.items()
    if kind in ("dict", "state"):
        items = {key: restore(part, arrays) for key, part in inner}
        return items if kind == "dict" else Captured(items)
    if kind == "stack":
        return [row.copy() for row in restore(inner, arrays)]
    parts = [restore(part, arrays) for part in inner]
    if kind == "table":
        return list(zip(*parts, strict=True))
    return parts if kind == "list" else tuple(parts)


def _is_table(rows: list[Any]) -> bool:
    """Whether these are tuples of one length, which are stored column by column."""
    width = len(rows[0]) if rows and isinstance(rows[0], tuple) else 0
    return width > 0 and all(isinstance(row, tuple) and len(row) == width for row in rows)


def _is_stack(rows: list[Any]) -> bool:
    """Whether these are vectors of one length and dtype."""
    if not rows or not isinstance(rows[0], np.ndarray) or rows[0].ndim != 1:
        return False
    first = rows[0]
    return all(
        isinstance(row, np.ndarray) and row.shape == first.shape and row.dtype == first.dtype
        for row in rows
    )
