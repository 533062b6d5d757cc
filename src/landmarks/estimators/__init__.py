"""Estimators for scikit-learn: columns of X as a feature selector, landmarks of a kernel as a feature map, held-out errors."""

from .column_selector import ColumnSelector
from .cross_validation import HeldOut, held_out
from .nystroem import Nystroem

__all__ = ["ColumnSelector", "HeldOut", "Nystroem", "held_out"]
