"""What changes while a method works, captured so that the work can go on from there.

A class whose objects change derives from `State`. All of its attributes are saved: numbers, text,
arrays, lists and dictionaries of these, and other states. Everything else that it refers to is an
input, such as the operator, the problem, the settings or the random generator. Inputs are the same
in a resumed run, so they are not saved.
"""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np

from .._array import is_array

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
