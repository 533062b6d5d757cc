"""Columns of the tables about a selection."""

from __future__ import annotations

from typing import Any

import numpy as np


def identity(indices: np.ndarray, labels: np.ndarray) -> dict[str, list[Any]]:
    """The index, and the name if there are names."""
    index = {"index": indices.tolist()}
    return index | {"name": labels[indices].tolist()} if isinstance(labels[0], str) else index


def pairwise(
    first: str, firsts: np.ndarray, second: str, seconds: np.ndarray
) -> dict[str, list[Any]]:
    """first_1, second_1, first_2, second_2, …"""
    columns: dict[str, list[Any]] = {}
    for q in range(firsts.shape[1]):
        columns |= {
            f"{first}_{q + 1}": firsts[:, q].tolist(),
            f"{second}_{q + 1}": seconds[:, q].tolist(),
        }
    return columns


def where(wanted: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values, None where they are not wanted."""
    found = np.full(values.shape, None, dtype=object)
    found[wanted] = values[wanted]
    return found
