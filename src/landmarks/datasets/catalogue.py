"""Where the paper's seven data sets come from, how they are read, and how they are verified.

The publishers give no checksums of their archives, and may repack an archive without changing the
data. So the numbers are checked: `content` is the SHA-256 of X as little-endian float64, row by
row, every NaN the same. The MNIST file has kept its bytes since 1998, and its `sha256` is checked
as well.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from ..errors import ChecksumError
from .originals import Reader, images, separated, workbook

UCI = "https://archive.ics.uci.edu/static/public"
PULSAR = tuple(
    f"{curve}_{moment}"
    for curve in ("profile", "dmsnr")
    for moment in ("mean", "std", "kurtosis", "skewness")
)


@dataclass(frozen=True)
class Source:
    """A published data set: its file, the reader of that file, and the checksum of its numbers.

    files : names under which a local folder may hold the original: the archive, or its content.
    """

    name: str
    title: str
    shape: tuple[int, int]
    licence: str
    url: str
    files: tuple[str, ...]
    read: Reader
    content: str
    sha256: str | None = None

    def verify(self, X: np.ndarray, where: str) -> np.ndarray:
        """X, if it is the published one; else an error."""
        found = checksum(X)
        if found != self.content:
            raise ChecksumError(
                f"{where} does not hold the published {self.name}: X of shape {X.shape} has the "
                f"checksum {found[:16]}…, expected shape {self.shape} and {self.content[:16]}…; "
                f"remove it and run `landmarks data fetch {self.name}`"
            )
        return X


def checksum(X: np.ndarray) -> str:
    """The SHA-256 of the shape and the numbers of X, whatever its memory order and number type.

    Examples
    --------
    >>> from landmarks.datasets.catalogue import checksum
    >>> checksum(np.eye(2)) == checksum(np.eye(2, dtype=np.uint8, order="F"))
    True
    """
    X = np.array(X, dtype="<f8", order="C")
    X[np.isnan(X)] = np.nan
    X[X == 0] = 0.0  # no negative zeros
    return hashlib.sha256(repr(X.shape).encode() + X.tobytes()).hexdigest()


SOURCES = {
    source.name: source
    for source in (
        Source(
            "residential",
            "Residential Building: cost and price of buildings in Tehran",
            (372, 109),
            "CC BY 4.0",
            f"{UCI}/437/residential+building+data+set.zip",
            ("residential+building+data+set.zip", "Residential-Building-Data-Set.xlsx"),
            workbook(),
            "4372d171e5aa86d65e7332c0c30ae43be8b948db3ef91b707ceae7e0d19b3e1a",
        ),
        Source(
            "mnist1k",
            "MNIST: the first 1000 images of the test set",
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
            "Arrhythmia: patients and their electrocardiograms",
            (452, 279),
            "CC BY 4.0",
            f"{UCI}/5/arrhythmia.zip",
            ("arrhythmia.zip", "arrhythmia.data"),
            separated("arrhythmia.data", columns=slice(279)),
            "fe67642bcde005c22d28539912b36e68ce1a4d602e890ec2b7f3785357f1bf92",
        ),
        Source(
            "secom",
            "SECOM: sensors of a semiconductor line",
            (1567, 590),
            "CC BY 4.0",
            f"{UCI}/179/secom.zip",
            ("secom.zip", "secom.data"),
            separated("secom.data", delimiter=None),
            "57ee51fa64c0c58941e4591912c66d24eaa216e325e46788780a40905935eede",
        ),
        Source(
            "powerplant",
            "Combined Cycle Power Plant",
            (9568, 4),
            "CC BY 4.0",
            f"{UCI}/294/combined+cycle+power+plant.zip",
            ("combined+cycle+power+plant.zip", "Folds5x2_pp.xlsx"),
            workbook(columns=4),
            "a67673e6e0718031dcbb6dc5c3b2fddf0281c9a065680b28a7f78a2c835f2edc",
        ),
        Source(
            "htru2",
            "HTRU2: pulsar candidates",
            (17898, 8),
            "CC BY 4.0",
            f"{UCI}/372/htru2.zip",
            ("htru2.zip", "HTRU_2.csv"),
            separated("HTRU_2.csv", columns=slice(8), labels=PULSAR),
            "c3b99d1e43e97a9d10212e259f87e0986d63a187a22de6ef5e470c56ffe9d07d",
        ),
        Source(
            "protein",
            "Physicochemical properties of protein tertiary structure (CASP)",
            (45730, 9),
            "CC BY 4.0",
            f"{UCI}/265/physicochemical+properties+of+protein+tertiary+structure.zip",
            ("physicochemical+properties+of+protein+tertiary+structure.zip", "CASP.csv"),
            separated("CASP.csv", names=True, columns=slice(1, 10)),
            "b483a337b93a6ae75b4ea2d8e38a201d921f753843b49508f955ed1b4d19356f",
        ),
    )
}
