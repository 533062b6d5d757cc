"""Read a table from a file, whatever its format: by its ending, or by its first bytes."""

import gzip
import io
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import FormatError, suggestion
from .limit import check_size, read_within
from .table import FileTable, Reading

# for each format the module and the function that read it, and how names of such files end
FORMATS = {
    "csv": ("text", "read_text", (".csv", ".txt")),
    "tsv": ("text", "read_text", (".tsv", ".tab")),
    "npy": ("arrays", "read_npy", (".npy",)),
    "npz": ("arrays", "read_npz", (".npz",)),
    "mtx": ("market", "read_market", (".mtx",)),
    "parquet": ("columnar", "read_parquet", (".parquet", ".pq")),
    "arrow": ("columnar", "read_arrow", (".arrow", ".feather", ".ipc")),
    "xlsx": ("text", "read_sheet", (".xlsx", ".xlsm")),
    "h5": ("stores", "read_h5", (".h5", ".hdf5", ".he5", ".h5ad")),
    "zarr": ("stores", "read_zarr", (".zarr",)),
}
IN_BLOCKS = ("npy", "parquet", "arrow", "h5", "zarr")  # rows can be read a block at a time
ENDINGS = {ending: name for name, (_, _, endings) in FORMATS.items() for ending in endings}
MAGIC = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"%%MatrixMarket": "mtx",
    b"\x89HDF\r\n\x1a\n": "h5",
}


def read(source: str | Path | BinaryIO, *, format: str | None = None, **how: Any) -> FileTable:
    """Read a table of numbers.

    Parameters
    ----------
    source : a path, or a binary stream such as `sys.stdin.buffer`.
    format : one of `FORMATS`; by default it is detected from the ending and the first bytes.
    how : the fields of `Reading`: columns, drop, max_bytes, in_blocks, header, delimiter, decimal,
        thousands, na_values, encoding, array, numeric_only, aside.

    Returns
    -------
    FileTable
        The numbers with the names of the columns and their places in the file.

    Examples
    --------
    >>> import io
    >>> from landmarks.readers import read
    >>> table = read(io.BytesIO(b"height;width\\n1,5;2\\n3;4\\n"))
    >>> table.names, table.values.tolist()
    (('height', 'width'), [[1.5, 2.0], [3.0, 4.0]])
    """
    reading = Reading(**how)
    if not isinstance(source, str | Path):
        return _read_file(
            io.BytesIO(read_within(source, reading.max_bytes, "the input")), format, reading
        )
    path = Path(source)
    if not path.exists():
        folder = path.parent
        others = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        close = suggestion(path.name, others) or "; give the path of a file"
        raise FileNotFoundError(f"there is no file {str(path)!r}{close}")
    if path.is_dir():
        return _read_folder(path, format, reading)
    with path.open("rb") as file:
        return _read_file(file, format or _by_ending(path), reading)


def _read_folder(path: Path, format: str | None, reading: Reading) -> FileTable:
    zarr = any((path / mark).exists() for mark in ("zarr.json", ".zarray", ".zgroup"))
    if (format or ENDINGS.get(path.suffix)) == "zarr" or zarr:
        return _read_as("zarr", path, reading)
    if not any(path.rglob("*.parquet")):
        raise IsADirectoryError(
            f"{path} is a folder; give a file, a Zarr store or a folder of Parquet files"
        )
    return _read_as("parquet", path, reading)


def _read_file(file: BinaryIO, format: str | None, reading: Reading) -> FileTable:
    start = file.read(16)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        inner = None if format in ENDINGS.values() and format != "tsv" else format
        return _read_file(_unpacked(file, reading.max_bytes), inner, reading)
    if not start:
        raise FormatError("the file is empty")
    found = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
    if found == "npz" and format == "xlsx":  # both are zip files
        found = format
    format = found or format or "csv"
    if format not in FORMATS:
        close = suggestion(format, FORMATS)
        raise FormatError(f"the format must be one of {', '.join(FORMATS)}, got {format!r}{close}")
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    if format == "zarr":
        raise FormatError("this is a file, and a Zarr store is a folder")
    if format not in IN_BLOCKS or not reading.stays(size):
        check_size(size, reading.max_bytes, "the file")
    return _read_as(format, file, reading)


def _unpacked(file: BinaryIO, limit: int) -> BinaryIO:
    try:
        with gzip.GzipFile(fileobj=file) as packed:
            unpacked: Any = packed  # it can read bytes, which is all that is needed
            raw = read_within(unpacked, limit, "the unpacked file")
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"the gzip file is damaged: {error}") from error
    if raw.startswith(b"\x1f\x8b"):
        raise FormatError("the file is packed twice; unpack it once first")
    return io.BytesIO(raw)


def _by_ending(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    return ENDINGS.get(suffixes[-1]) if suffixes else None


def _read_as(format: str, source: Any, reading: Reading) -> FileTable:
    module, function, _ = FORMATS[format]
    try:
        return getattr(import_module(f".{module}", __package__), function)(source, reading)
    except ModuleNotFoundError as error:
        raise FormatError(
            f"reading {format} needs {error.name}: pip install {error.name}"
        ) from error
