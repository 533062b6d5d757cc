"""The paper's data sets, scikit-learn's embedded ones, and synthetic ones with known answers."""

from .catalogue import SOURCES, Source
from .load import Dataset, available, fetch_dataset, load_dataset, standardise
from .synthetic import Known, blocks, planted

__all__ = [
    "SOURCES",
    "Dataset",
    "Known",
    "Source",
    "available",
    "blocks",
    "fetch_dataset",
    "load_dataset",
    "planted",
    "standardise",
]
