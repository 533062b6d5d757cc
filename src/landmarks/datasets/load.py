"""Load a data set by name: embedded, synthetic, in a local folder, or downloaded into the cache."""

import hashlib
import http.client
import os
import tempfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import ChecksumError, DownloadError, FormatError
from ..operators.prepare import mean_imputed
from ..operators.standard import Standard
from ..readers.read import read
from ..runs.archive import written
from .catalogue import SOURCES, Source
from .synthetic import SYNTHETIC

PAPER = tuple(SOURCES)
EMBEDDED = ("digits", "breast_cancer", "wine")
INSTEAD = (
    "without a network, put the file into a folder and name it by --data-dir or LANDMARKS_DATA"
)
TIMEOUT = 30.0  # seconds without an answer
LIMIT = 256 * 2**20  # bytes


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set as published: X with a row per instance, and the names of its columns."""

    name: str
    X: np.ndarray
    names: tuple[str, ...]

    def standardised(self) -> np.ndarray:
        """X imputed by column means, without constant columns, with mean zero and variance one."""
        return standardise(self.X)[0]


def folder(data_dir: str | Path | None = None) -> Path | None:
    """The local folder of data sets: the argument, else the variable LANDMARKS_DATA, else none."""
    place = data_dir or os.environ.get("LANDMARKS_DATA")
    return Path(place) if place else None


def find(name: str, data_dir: str | Path | None = None) -> Path | None:
    """The file of one of the paper's data sets, in the local folder or the cache, if any."""
    for place in (folder(data_dir), cache_folder()):
        for file in (f"{name}.npz", *SOURCES[name].files):
            if place is not None and (place / file).is_file():
                return place / file
    return None


def available(data_dir: str | Path | None = None) -> tuple[str, ...]:
    """The names that can be loaded now, without a network."""
    return EMBEDDED + tuple(SYNTHETIC) + tuple(name for name in PAPER if find(name, data_dir))


def load_dataset(name: str, data_dir: str | Path | None = None) -> Dataset:
    """Load a data set by name; nothing is downloaded, see `fetch_dataset`.

    Parameters
    ----------
    name : "digits", "breast_cancer", "wine", "planted", "blocks", or one of the paper's:
        "residential", "mnist1k", "arrhythmia", "secom", "powerplant", "htru2", "protein".
    data_dir : a folder with the paper's data, as npz files or as published; LANDMARKS_DATA by
        default.

    Returns
    -------
    Dataset
        `X` with a row per instance, and the `names` of its columns.

    Examples
    --------
    >>> from landmarks.datasets import load_dataset
    >>> load_dataset("wine").X.shape
    (178, 13)
    """
    if name in EMBEDDED:
        return _embedded(name)
    if name in SYNTHETIC:
        X = SYNTHETIC[name]().X
        return Dataset(name, X, tuple(str(j) for j in range(X.shape[1])))
    source = source_of(name)
    if (path := find(name, data_dir)) is None:
        raise FileNotFoundError(
            f"{name} was not found: run `landmarks data fetch {name}`, or set LANDMARKS_DATA or "
            f"data_dir to a folder with {name}.npz or {source.files[0]}"
        )
    X, names = read_file(source, path)
    return Dataset(name, X, names)


def fetch_dataset(source: Source, *, force: bool = False) -> Path:
    """Download a data set into the cache, unless it is there already, and return its file.

    The numbers are checked first, so the cache holds the published data or nothing.
    """
    place = ready_folder()
    path = place / f"{source.name}.npz"
    if path.is_file() and not force:
        return path
    X, names = source.read(download(source.url, source.sha256))
    source.verify(X, source.url)
    with written(path, overwrite=True) as stream:
        np.savez_compressed(stream, X=X, feature_names=np.array(names))
    return path


def source_of(name: str) -> Source:
    """The source of a data set of the paper."""
    if name not in SOURCES:
        names = ", ".join(EMBEDDED + tuple(SYNTHETIC) + PAPER)
        raise ValueError(f"unknown data set {name!r}; the names are {names}")
    return SOURCES[name]


def read_file(source: Source, path: Path) -> tuple[np.ndarray, tuple[str, ...]]:
    """X and the names of its columns from a local file, checked against the published numbers."""
    X, names = _archive(path) if path.suffix == ".npz" else source.read(path.read_bytes())
    return source.verify(X, str(path)), names


def _archive(path: Path) -> tuple[np.ndarray, tuple[str, ...]]:
    try:
        table = read(path, format="npz", array="X")
    except FormatError as error:
        raise ValueError(
            f"{path} is not a complete npz file with an array X ({error}); remove it and fetch it "
            "again"
        ) from error
    names = table.names or tuple(str(j) for j in range(table.values.shape[1]))
    return np.asarray(table.values, dtype=np.float64), names


def _embedded(name: str) -> Dataset:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return Dataset(
        name,
        np.asarray(bunch.data, dtype=np.float64),
        tuple(str(label) for label in bunch.feature_names),
    )


def standardise(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The standardised columns of X and their places in it.

    Missing values take the mean of their column; constant columns are dropped, since they have no
    variance to scale.

    Examples
    --------
    >>> from landmarks.datasets import standardise
    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]]))[0].tolist()
    [[-1.0], [1.0]]
    """
    X = np.array(X, dtype=np.float64, order="C")
    X = mean_imputed(np.where(np.isfinite(X), X, np.nan), None)
    Z, _, _ = Standard(center=True, scale=True).of_array(X)
    varying = np.flatnonzero(np.any(Z != 0, axis=0))
    return Z[:, varying], varying


def download(url: str, sha256: str | None = None) -> bytes:
    """The content at the address.

    Parameters
    ----------
    url : an https address.
    sha256 : the checksum of the content, where it is known.
    """
    if not url.startswith("https://"):
        raise ValueError(f"downloads are made over https only, got {url}")
    content = _content(url)
    if sha256 is not None and (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise ChecksumError(
            f"{url} has the SHA-256 {found[:16]}…, expected {sha256[:16]}…; nothing was kept, try "
            "again later or use a local folder"
        )
    return content


def _content(url: str) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": "landmarks"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            expected = answer.headers.get("Content-Length")
            content: bytes = answer.read(LIMIT + 1)
    except urllib.error.HTTPError as error:
        raise DownloadError(f"{url} answered {error.code} {error.reason}; {INSTEAD}") from error
    except http.client.IncompleteRead as error:
        raise DownloadError(
            f"{url} broke off after {len(error.partial)} bytes; nothing was kept, try again"
        ) from error
    # no network, no name, refused, timed out, bad certificate
    except (OSError, http.client.HTTPException) as error:
        raise DownloadError(
            f"{url} could not be reached ({getattr(error, 'reason', error)}); {INSTEAD}"
        ) from error
    if len(content) > LIMIT:
        raise DownloadError(f"{url} is larger than the limit of {LIMIT} bytes; nothing was kept")
    if expected is not None and len(content) != int(expected):
        raise DownloadError(
            f"{url} broke off after {len(content)} of {expected} bytes; nothing was kept, try again"
        )
    return content


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
