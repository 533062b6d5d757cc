"""A target column of a file, for the choice of rows that help to predict it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def supervised(cells: Sequence[str]) -> Any:
    """The method that uses the target: numbers as they are, anything else as classes."""
    from ...methods.greedy.supervised import Supervised
    from ...sklearn.target import numeric_target

    try:
        values: Any = np.array([float(cell) for cell in cells])
    except ValueError:
        values = np.array(cells, dtype=object)
    rows = np.arange(len(cells))
    target = numeric_target(rows[:, None], values, rows)
    if target is None:
        raise ValueError("the target has the same value in every row; there is nothing to predict")
    return Supervised(target)
