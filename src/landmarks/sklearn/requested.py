"""What a `ColumnSelector` is given: how many to choose, constraints, and rows in blocks."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

import landmarks as lm

from .._check import share
from ..constraints import check_size, constrained
from ..operators.base import DENSE_MEMORY, Operator
from ..operators.standard import Prepared
from ._common import weights

if TYPE_CHECKING:
    from .column_selector import ColumnSelector


def requested_size(
    selector: ColumnSelector, prepared: Prepared, constraints: dict[str, Any]
) -> Any:
    """The number of columns or groups, or a rule; None lets the costs decide."""
    asked: Any = selector.n_features_to_select
    problem = constrained(prepared.operator, selector.criterion, **constraints)
    if isinstance(asked, str):
        return None if selector.costs is not None else lm.MaxError(1 - selector.explained_variance)
    if hasattr(asked, "apply"):
        needs_degrees = getattr(asked, "degrees", 0) is None
        return replace(asked, degrees=prepared.degrees) if needs_degrees else asked
    most = problem.count(np.arange(prepared.operator.n))
    if asked > most:
        what = "n_features" if selector.groups is None else "the number of groups"
        raise ValueError(f"n_features_to_select={asked} must be at most {what} = {most}.")
    size = int(asked) if isinstance(asked, Integral) else share(asked, most)
    check_size(size, problem, "n_features_to_select")
    return size


def requested_constraints(selector: ColumnSelector) -> dict[str, Any]:
    """The columns that must, or must not, be selected, the groups and the costs."""
    own = {name: getattr(selector, name) for name in ("groups", "costs", "budget_cost")}
    return {"include": _listed(selector.include), "exclude": _listed(selector.exclude), **own}


def _listed(columns: Any) -> list[Any]:
    """The columns as a list; one name is a list of one."""
    if columns is None:
        return []
    return [columns] if isinstance(columns, str) else list(columns)


def set_features(estimator: Any, operator: Operator) -> None:
    """Set n_features_in_, and feature_names_in_ when the columns have names."""
    estimator.n_features_in_ = operator.n
    estimator.__dict__.pop("feature_names_in_", None)
    if operator.names is not None:
        estimator.feature_names_in_ = np.asarray(operator.names, dtype=object)


def row_weights(sample_weight: Any, least: int, m: int | None, n: int) -> np.ndarray | None:
    """The weights of m rows, or None if all count the same; too few rows are refused."""
    if m is not None and m < least:
        raise ValueError(
            f"Found array with {m} sample(s) (shape=({m}, {n})) while a minimum of {least} is "
            "required."
        )
    if sample_weight is None:
        return None
    if m is None:
        raise ValueError(
            "sample_weight needs to know the number of rows, which an iterator does not know; add "
            "up batches with partial_fit instead"
        )
    return weights(sample_weight, np.broadcast_to(np.float64(0.0), (m, 1)))


def check_gram_fits(n: int) -> None:
    """Raise when the Gram matrix of n columns is too large to keep."""
    if n * n * 8 > DENSE_MEMORY:
        raise MemoryError(
            f"partial_fit keeps the Gram matrix, which needs {n * n * 8 / 2**30:.1f} GiB for {n} "
            "features; use fit on all rows instead"
        )
