"""Drawings with matplotlib, which is imported only when something is drawn."""

from .path import plot_path

__all__ = ["plot_path"]
