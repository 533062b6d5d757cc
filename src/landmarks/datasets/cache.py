"""The folder that keeps downloaded data sets, readable by its owner alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from ..runs.atomic import written


def cache_folder() -> Path:
    """The variable LANDMARKS_CACHE, else landmarks in the user's cache folder."""
    if place := os.environ.get("LANDMARKS_CACHE"):
        return Path(place)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "landmarks"


def ready_folder() -> Path:
    """The folder, made with mode 0700 if it does not exist; an error if it cannot be written."""
    place = cache_folder()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return place
    except OSError as error:
        raise PermissionError(
            f"the cache {place} cannot be written ({error.strerror}); set LANDMARKS_CACHE to a "
            "folder that can"
        ) from error


def store(place: Path, name: str, X: np.ndarray, names: tuple[str, ...]) -> Path:
    """Write name.npz, completely or not at all."""
    path = place / f"{name}.npz"
    with written(path, overwrite=True) as stream:
        np.savez_compressed(stream, X=X, feature_names=np.array(names))
    return path
