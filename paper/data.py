"""The paper's seven data sets, from a local folder or from their publishers, and three of sklearn.

The publishers give no checksums of their archives, and may repack an archive without changing the
data. So the numbers are checked: `content` is the SHA-256 of X as little-endian float64, row by
row, every NaN the same. The MNIST file has kept its bytes since 1998, and its `sha256` is checked
as well.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import struct
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

UCI = "https://archive.ics.uci.edu/static/public"
EMBEDDED = ("digits", "breast_cancer", "wine")
TIMEOUT = 30.0  # seconds without an answer
LIMIT = 256 * 2**20  # bytes of a download, and of what is unpacked from it
IMAGES = 0x00000803  # the magic number of an idx file of bytes in three dimensions
Reader = Callable[[bytes], np.ndarray]


def standardised(name: str, data_dir: str | Path | None = None) -> np.ndarray:
    """A data set by name, standardised.

    Examples
    --------
    >>> from paper.data import standardised
    >>> standardised("digits").shape  # of 64 pixels three never vary
    (1797, 61)
    """
    return standardise(load(name, data_dir))


def standardise(X: np.ndarray) -> np.ndarray:
    """The columns of X with mean zero and variance one.

    Missing values take the mean of their column; constant columns are dropped, since they have no
    variance to scale.

    Examples
    --------
    >>> from paper.data import standardise
    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0], [1.0]]
    """
    X = np.array(X, dtype=np.float64, order="C")
    known = np.isfinite(X)
    lowest = np.min(X, axis=0, where=known, initial=np.inf)
    varying = lowest < np.max(X, axis=0, where=known, initial=-np.inf)
    means = np.sum(np.where(known, X, 0.0), axis=0) / np.maximum(np.sum(known, axis=0), 1)
    X = np.where(known, X, means)
    centred = X - np.sum(X, axis=0) / len(X)
    deviation = np.sqrt(np.sum(centred * centred, axis=0) / len(X))
    return (centred * (1 / np.where(varying, deviation, 1.0)))[:, varying]


def load(name: str, data_dir: str | Path | None = None) -> np.ndarray:
    """A data set as published, one row per instance; nothing is downloaded, see `fetch`.

    Parameters
    ----------
    name : one of the paper's: "residential", "mnist1k", "arrhythmia", "secom", "powerplant",
        "htru2", "protein"; or "digits", "breast_cancer", "wine", which scikit-learn holds.
    data_dir : a folder with the paper's data, as npz files or as published; LANDMARKS_DATA by
        default. The cache is searched as well.
    """
    if name in EMBEDDED:
        from sklearn import datasets

        return np.asarray(getattr(datasets, f"load_{name}")().data, dtype=np.float64)
    source = source_of(name)
    if (path := find(source, data_dir)) is None:
        raise FileNotFoundError(
            f"{name} was not found: run `python -m paper fetch`, or set LANDMARKS_DATA or "
            f"--data-dir to a folder with {name}.npz or {source.files[0]}"
        )
    return read(source, path)


def available(name: str) -> bool:
    """Whether a data set can be loaded now."""
    return name in EMBEDDED or find(source_of(name)) is not None


def find(source: Source, data_dir: str | Path | None = None) -> Path | None:
    """The file of a data set in the local folder or the cache, if any."""
    local = data_dir or os.environ.get("LANDMARKS_DATA")
    for folder in ([Path(local)] if local else []) + [cache()]:
        for file in (f"{source.name}.npz", *source.files):
            if (folder / file).is_file():
                return folder / file
    return None


def read(source: Source, path: Path) -> np.ndarray:
    """X from a local file, checked against the published numbers."""
    if path.suffix != ".npz":
        return source.verified(source.read(path.read_bytes()), path)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            X = np.asarray(archive["X"], dtype=np.float64)
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(
            f"{path} is not a complete npz file with an array X ({error}); remove it and fetch it "
            "again"
        ) from error
    return source.verified(X, path)


def fetch(source: Source) -> Path:
    """Download a data set into the cache, unless it is there already, and return its file.

    The numbers are checked first, so the cache holds the published data or nothing.
    """
    path = cache() / f"{source.name}.npz"
    if path.is_file():
        return path
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as stream:
            content = download(source.url)
            found = hashlib.sha256(content).hexdigest()
            if source.sha256 not in ("", found):
                raise ValueError(
                    f"{source.url} has the SHA-256 {found[:16]}…, expected "
                    f"{source.sha256[:16]}…; nothing was kept, try again later"
                )
            np.savez_compressed(stream, X=source.verified(source.read(content), source.url))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def cache() -> Path:
    """The variable LANDMARKS_CACHE, else landmarks in the user's cache folder."""
    if place := os.environ.get("LANDMARKS_CACHE"):
        return Path(place)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "landmarks"


def download(url: str) -> bytes:
    """The content at an https address, complete and not larger than the limit."""
    request = urllib.request.Request(url, headers={"User-Agent": "landmarks"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            expected = answer.headers.get("Content-Length")
            content: bytes = answer.read(LIMIT + 1)
    # no network, no name, refused, timed out, bad certificate, no such page, half an answer
    except (OSError, http.client.HTTPException) as error:
        raise OSError(
            f"{url} could not be fetched ({getattr(error, 'reason', error)}); without a network, "
            "put the file into a folder and name it by --data-dir or LANDMARKS_DATA"
        ) from error
    if len(content) > LIMIT or expected not in (None, str(len(content))):
        raise OSError(
            f"{url} gave {len(content)} of {expected} bytes, at most {LIMIT} are read; nothing was "
            "kept, try again"
        )
    return content


def member(content: bytes, ending: str) -> bytes:
    """The member of a zip archive with that ending, or the content itself if it is not a zip."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if "[Content_Types].xml" in archive.namelist():  # a workbook
            return content
        found = [entry for entry in archive.infolist() if entry.filename.endswith(ending)]
        if not found:
            raise ValueError(
                f"the archive holds no file that ends in {ending}, but "
                f"{', '.join(archive.namelist()) or 'nothing'}"
            )
        if found[0].file_size > LIMIT:
            raise ValueError(
                f"{found[0].filename} would unpack to {found[0].file_size} bytes, more than the "
                f"limit of {LIMIT}"
            )
        return archive.read(found[0])


def workbook(columns: int | None = None) -> Reader:
    """Reads the first rows of numbers on the first sheet of an xlsx file."""

    def read(content: bytes) -> np.ndarray:
        try:
            from openpyxl import load_workbook
        except ImportError as error:
            raise ImportError(
                "this data set is published as a workbook, which openpyxl reads: pip install "
                "openpyxl"
            ) from error
        book = load_workbook(io.BytesIO(member(content, ".xlsx")), read_only=True, data_only=True)
        rows = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
        book.close()
        numeric = [i for i, row in enumerate(rows) if all(isinstance(x, int | float) for x in row)]
        if not numeric:
            raise ValueError("the workbook has no row of numbers")
        filled = [row for row in rows[numeric[0] :] if any(cell is not None for cell in row)]
        return np.array(filled, dtype=np.float64)[:, :columns]

    return read


def separated(
    ending: str, *, delimiter: str | None = ",", skip: int = 0, columns: slice = slice(None)
) -> Reader:
    """Reads text: a row per line, cells by the delimiter or by blanks, ? or NaN for missing ones.

    skip : the number of lines before the numbers.
    """

    def read(content: bytes) -> np.ndarray:
        lines = member(content, ending).decode("utf-8-sig").splitlines()[skip:]
        if not lines:
            raise ValueError("the file has no rows")
        return np.genfromtxt(lines, delimiter=delimiter, ndmin=2)[:, columns]

    return read


def images(first: int) -> Reader:
    """Reads the first images of an idx file, gzipped or not, one row of pixels each."""

    def read(content: bytes) -> np.ndarray:
        if content[:2] == b"\x1f\x8b":
            stream = zlib.decompressobj(wbits=31)
            try:
                content = stream.decompress(content, LIMIT)
            except zlib.error as error:
                raise ValueError(f"the gzip file is damaged ({error})") from error
            if not stream.eof:
                raise ValueError(f"the gzip file broke off, or holds more than {LIMIT} bytes")
        magic, count, height, width = struct.unpack(">4I", content[:16].ljust(16, b"\0"))
        if magic != IMAGES or len(content) != 16 + count * height * width:
            raise ValueError(
                f"not an idx file of images, or not all of one: {len(content)} bytes for {count} "
                f"images of {height} × {width}"
            )
        pixels = np.frombuffer(content, dtype=np.uint8, offset=16).reshape(count, height * width)
        return pixels[:first].astype(np.float64)

    return read


@dataclass(frozen=True)
class Source:
    """A published data set: its files, the reader of them, and the checksum of its numbers.

    files : names under which a local folder may hold the original: the archive, or its content.
    """

    name: str
    shape: tuple[int, int]
    licence: str
    url: str
    files: tuple[str, str]
    read: Reader
    content: str
    sha256: str = ""

    def verified(self, X: np.ndarray, where: object) -> np.ndarray:
        """X, if it is the published one; else an error."""
        found = checksum(X)
        if found != self.content:
            raise ValueError(
                f"{where} does not hold the published {self.name}: X of shape {X.shape} has the "
                f"checksum {found[:16]}…, expected shape {self.shape} and {self.content[:16]}…; "
                "remove it and run `python -m paper fetch`"
            )
        return X


def checksum(X: np.ndarray) -> str:
    """The SHA-256 of the shape and the numbers of X, whatever its memory order and number type.

    Examples
    --------
    >>> from paper.data import checksum
    >>> checksum(np.eye(2)) == checksum(np.eye(2, dtype=np.uint8, order="F"))
    True
    """
    X = np.array(X, dtype="<f8", order="C")
    X[np.isnan(X)] = np.nan
    X[X == 0] = 0.0  # no negative zeros
    return hashlib.sha256(repr(X.shape).encode() + X.tobytes()).hexdigest()


def source_of(name: str) -> Source:
    """The source of a data set of the paper."""
    if name not in SOURCES:
        raise ValueError(
            f"unknown data set {name!r}; the names are {', '.join((*EMBEDDED, *SOURCES))}"
        )
    return SOURCES[name]


SOURCES = {
    source.name: source
    for source in (
        Source(
            "residential",
            (372, 109),
            "CC BY 4.0",
            f"{UCI}/437/residential+building+data+set.zip",
            ("residential+building+data+set.zip", "Residential-Building-Data-Set.xlsx"),
            workbook(),
            "4372d171e5aa86d65e7332c0c30ae43be8b948db3ef91b707ceae7e0d19b3e1a",
        ),
        Source(
            "mnist1k",
            (1000, 784),
            "CC BY-SA 3.0",
            "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-images-idx3-ubyte.gz",
            ("t10k-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte"),
            images(1000),
            "1496a41fc32edf50aa59430ce5559fbc56cd0593888da53a09c7b353f02c589d",
            sha256="8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        Source(
            "arrhythmia",
            (452, 279),
            "CC BY 4.0",
            f"{UCI}/5/arrhythmia.zip",
            ("arrhythmia.zip", "arrhythmia.data"),
            separated("arrhythmia.data", columns=slice(279)),
            "fe67642bcde005c22d28539912b36e68ce1a4d602e890ec2b7f3785357f1bf92",
        ),
        Source(
            "secom",
            (1567, 590),
            "CC BY 4.0",
            f"{UCI}/179/secom.zip",
            ("secom.zip", "secom.data"),
            separated("secom.data", delimiter=None),
            "57ee51fa64c0c58941e4591912c66d24eaa216e325e46788780a40905935eede",
        ),
        Source(
            "powerplant",
            (9568, 4),
            "CC BY 4.0",
            f"{UCI}/294/combined+cycle+power+plant.zip",
            ("combined+cycle+power+plant.zip", "Folds5x2_pp.xlsx"),
            workbook(columns=4),
            "a67673e6e0718031dcbb6dc5c3b2fddf0281c9a065680b28a7f78a2c835f2edc",
        ),
        Source(
            "htru2",
            (17898, 8),
            "CC BY 4.0",
            f"{UCI}/372/htru2.zip",
            ("htru2.zip", "HTRU_2.csv"),
            separated("HTRU_2.csv", columns=slice(8)),
            "c3b99d1e43e97a9d10212e259f87e0986d63a187a22de6ef5e470c56ffe9d07d",
        ),
        Source(
            "protein",
            (45730, 9),
            "CC BY 4.0",
            f"{UCI}/265/physicochemical+properties+of+protein+tertiary+structure.zip",
            ("physicochemical+properties+of+protein+tertiary+structure.zip", "CASP.csv"),
            separated("CASP.csv", skip=1, columns=slice(1, 10)),
            "b483a337b93a6ae75b4ea2d8e38a201d921f753843b49508f955ed1b4d19356f",
        ),
    )
}
