"""Download one file over https, complete or not at all, and the folder that keeps data sets."""

from __future__ import annotations

import hashlib
import http.client
import os
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np

from ..errors import ChecksumError, DownloadError
from ..runs.archive import written

TIMEOUT = 30.0  # seconds without an answer
LIMIT = 256 * 2**20  # bytes


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
        raise DownloadError(f"{url} answered {error.code} {error.reason}; {_instead()}") from error
    except http.client.IncompleteRead as error:
        raise DownloadError(
            f"{url} broke off after {len(error.partial)} bytes; nothing was kept, try again"
        ) from error
    # no network, no name, refused, timed out, bad certificate
    except (OSError, http.client.HTTPException) as error:
        raise DownloadError(
            f"{url} could not be reached ({getattr(error, 'reason', error)}); {_instead()}"
        ) from error
    if len(content) > LIMIT:
        raise DownloadError(f"{url} is larger than the limit of {LIMIT} bytes; nothing was kept")
    if expected is not None and len(content) != int(expected):
        raise DownloadError(
            f"{url} broke off after {len(content)} of {expected} bytes; nothing was kept, try again"
        )
    return content


def _instead() -> str:
    return (
        "without a network, put the file into a folder and name it by --data-dir or LANDMARKS_DATA"
    )


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
