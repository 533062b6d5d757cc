"""The columns of tables about a selection: names, substitutes, sources, what is kept out."""

from typing import Any

import numpy as np

from .._shown import Table
from ..placement import Constraint

__all__ = [
    "Table",
    "identity",
    "kept_out",
    "pairwise",
    "source_columns",
    "substitute_columns",
    "where",
]


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


def substitute_columns(
    labels: np.ndarray, indices: np.ndarray, costs: np.ndarray
) -> dict[str, list[Any]]:
    """The substitutes and their costs; None where there is none."""
    some = np.isfinite(costs)
    return pairwise("substitute", where(some, labels[indices]), "cost", where(some, costs))


def source_columns(labels: np.ndarray, weights: np.ndarray, each: int) -> dict[str, list[Any]]:
    """The chosen columns that contribute most to each row, and their weights; None for 0."""
    largest = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :each]
    values = np.take_along_axis(weights, largest, axis=1)
    some = values != 0
    return pairwise("source", where(some, labels[largest]), "weight", where(some, values))


def kept_out(
    constraints: tuple[Constraint, ...], chosen: np.ndarray, indices: np.ndarray, labels: np.ndarray
) -> dict[str, list[Any]]:
    """What keeps each of the indices out of the choice, where there are constraints on places."""
    if not constraints:
        return {}
    found = [constraint.kept_out(chosen, labels.tolist()) for constraint in constraints]
    members = set(chosen.tolist())
    reasons = []
    for j in indices.tolist():
        words = [reasons_of[j] for reasons_of in found if reasons_of[j] is not None]
        reasons.append("; ".join(words) if words and j not in members else None)
    return {"kept_out": reasons}
