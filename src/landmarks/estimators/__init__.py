"""Estimators for scikit-learn: columns of X as a feature selector, landmarks of a kernel as a feature map."""

from .column_selector import ColumnSelector
from .nystroem import Nystroem

__all__ = ["ColumnSelector", "Nystroem"]
