"""Drawings with matplotlib, which is imported only when something is drawn."""

from .comparison import ComparisonDisplay
from .coverage import CoverageDisplay
from .error_curve import ErrorCurveDisplay
from .path import PathDisplay, plot_path

__all__ = ["ComparisonDisplay", "CoverageDisplay", "ErrorCurveDisplay", "PathDisplay", "plot_path"]
