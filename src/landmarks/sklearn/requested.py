"""What a `ColumnSelector` was asked for, as `select` takes it: how many, and the constraints."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

import landmarks as lm

from .._check import share
from ..constraints import check_size, constrained
from ..operators.standard import Prepared

if TYPE_CHECKING:
    from .column_selector import ColumnSelector


def requested_size(selector: ColumnSelector, prepared: Prepared, constraints: dict) -> Any:
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
