"""Data sets of the paper from a local folder, and scikit-learn's embedded ones."""

from .load import Dataset, available, load_dataset
from .prepare import standardise

__all__ = ["Dataset", "available", "load_dataset", "standardise"]
