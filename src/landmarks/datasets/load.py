"""Load a data set by name: embedded in scikit-learn, or an npz file in a local folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .prepare import standardise

PAPER = ("residential", "mnist1k", "arrhythmia", "secom", "powerplant", "htru2", "protein")
EMBEDDED = ("digits", "breast_cancer", "wine")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as it was published: X with a row per instance, and the names of its columns."""

    name: str
    X: np.ndarray
    names: tuple[str, ...]

    def standardised(self) -> np.ndarray:
        """X with missing values filled by column means, constant columns dropped, mean zero and variance one."""
        return standardise(self.X)[0]


def folder(data_dir: str | Path | None = None) -> Path | None:
    """The local folder of data sets: the argument, else the variable LANDMARKS_DATA, else none."""
    place = data_dir or os.environ.get("LANDMARKS_DATA")
    return Path(place) if place else None


def available(data_dir: str | Path | None = None) -> tuple[str, ...]:
    """The names that can be loaded now."""
    place = folder(data_dir)
    local = () if place is None else tuple(name for name in PAPER if (place / f"{name}.npz").is_file())
    return EMBEDDED + local


def load_dataset(name: str, data_dir: str | Path | None = None) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : "digits", "breast_cancer", "wine", or one of the paper's: "residential", "mnist1k", "arrhythmia", "secom",
        "powerplant", "htru2", "protein".
    data_dir : the folder with the paper's data as npz files; LANDMARKS_DATA unless given.

    Examples
    --------
    >>> from landmarks.datasets import load_dataset
    >>> load_dataset("wine").X.shape
    (178, 13)
    """
    if name in EMBEDDED:
        return _embedded(name)
    if name not in PAPER:
        raise ValueError(f"unknown data set {name!r}; the names are {', '.join(EMBEDDED + PAPER)}")
    place = folder(data_dir)
    if place is None:
        raise FileNotFoundError(f"{name} is read from a local folder: set LANDMARKS_DATA or pass data_dir to a folder with {name}.npz")
    path = place / f"{name}.npz"
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; the folder must hold {name}.npz with an array X")
    with np.load(path, allow_pickle=False) as archive:
        X = archive["X"].astype(np.float64)
        names = archive["feature_names"] if "feature_names" in archive.files else np.arange(X.shape[1])
    return Dataset(name, X, tuple(str(label) for label in names))


def _embedded(name: str) -> Dataset:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return Dataset(name, np.asarray(bunch.data, dtype=np.float64), tuple(str(label) for label in bunch.feature_names))
