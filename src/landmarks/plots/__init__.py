"""Drawings with matplotlib, which is imported only when something is drawn."""

from .coverage import CoverageDisplay
from .curves import ComparisonDisplay, ErrorCurveDisplay, PathDisplay, plot_path

__all__ = ["ComparisonDisplay", "CoverageDisplay", "ErrorCurveDisplay", "PathDisplay", "plot_path"]
