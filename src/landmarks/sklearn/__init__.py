"""Estimators for scikit-learn: a column selector, a Nyström feature map, held-out errors."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..how_many.cross_validated import HeldOut
    from .column_selector import ColumnSelector
    from .cross_validation import held_out
    from .nystroem import Nystroem

__all__ = ["ColumnSelector", "HeldOut", "Nystroem", "held_out"]

_MODULES = {
    "ColumnSelector": "column_selector",
    "HeldOut": "cross_validation",
    "Nystroem": "nystroem",
    "held_out": "cross_validation",
}


def __getattr__(name: str) -> object:
    """Import an estimator on first use, because it imports scikit-learn."""
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module 'landmarks.sklearn' has no attribute {name!r}")
