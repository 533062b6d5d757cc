"""Drawings with matplotlib, which is imported only when something is drawn."""

from .coverage import CoverageDisplay
from .curves import ComparisonDisplay, ErrorCurveDisplay, PathDisplay

__all__ = ["ComparisonDisplay", "CoverageDisplay", "ErrorCurveDisplay", "PathDisplay"]
