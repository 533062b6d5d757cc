"""Nested values as plain JSON and a list of arrays, and back: what a checkpoint file holds, without pickle."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from .._array import Array, host, is_array, like, namespace


def pack(value: Any) -> Any:
    """The working state of an object: what it names in `kept`, or the fields of a dataclass. Arrays are not copied."""
    if names := _names(value):
        return {name: pack(getattr(value, name)) for name in names}
    return value.copy() if isinstance(value, list | dict) else value


def unpack(value: Any, packed: Any) -> Any:
    """The object with a packed state put back: in place when it names what it keeps, else a new one of its class."""
    if not (names := _names(value)):
        return packed
    if not hasattr(value, "kept"):
        return type(value)(**{name: unpack(getattr(value, name), packed[name]) for name in names})
    for name in names:
        setattr(value, name, unpack(getattr(value, name), packed[name]))
    return value


def _names(value: Any) -> tuple[str, ...]:
    if is_dataclass(value) and not hasattr(value, "kept"):
        return tuple(field.name for field in fields(value))
    return getattr(value, "kept", ())


def flatten(value: Any, arrays: list[np.ndarray], *, copy: bool) -> Any:
    """The value as JSON; its arrays are appended to the list, on the host, and stand in the JSON by their number."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_array(value):
        arrays.append(np.array(host(value), copy=True) if copy else host(value))
        name = {} if isinstance(value, np.ndarray) else {"dtype": str(value.dtype).split(".")[-1]}
        return {"array": len(arrays) - 1} | name
    if isinstance(value, dict):
        return {"dict": [[key, flatten(part, arrays, copy=copy)] for key, part in value.items()]}
    if isinstance(value, list) and _is_table(value):
        return {
            "table": [
                flatten(list(column), arrays, copy=copy) for column in zip(*value, strict=True)
            ]
        }
    if isinstance(value, list) and _is_stack(value):
        return {"stack": flatten(np.stack(value), arrays, copy=False)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [flatten(part, arrays, copy=copy) for part in value]}
    raise TypeError(f"a checkpoint holds numbers, text and arrays, got {type(value).__name__}")


def restore(value: Any, arrays: list[np.ndarray], reference: Array) -> Any:
    """What `flatten` was given; arrays that were not NumPy's are made like the reference."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        array = arrays[value["array"]]
        return (
            like(array, reference, dtype=getattr(namespace(reference), value["dtype"]))
            if "dtype" in value
            else array
        )
    ((kind, inner),) = value.items()
    if kind == "stack":
        return [row.copy() for row in restore(inner, arrays, reference)]
    parts = [restore(part[1] if kind == "dict" else part, arrays, reference) for part in inner]
    if kind == "dict":
        return dict(zip((key for key, _ in inner), parts, strict=True))
    return (
        list(zip(*parts, strict=True))
        if kind == "table"
        else {"list": list, "tuple": tuple}[kind](parts)
    )


def _is_table(rows: list[Any]) -> bool:
    return bool(rows) and all(
        isinstance(row, tuple) and len(row) == len(rows[0]) > 0 for row in rows
    )


def _is_stack(rows: list[Any]) -> bool:
    return bool(rows) and all(
        isinstance(row, np.ndarray)
        and row.ndim == 1
        and row.shape == rows[0].shape
        and row.dtype == rows[0].dtype
        for row in rows
    )
