"""Files that are written completely or not at all, and npz files of arrays and a JSON record.

No pickle is written or read, and sizes are checked before reading.
"""

import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from ..errors import FormatError
from ..readers.arrays import read_array

MAX_BYTES = 2**30


def write(
    path: Path, record: dict[str, Any], arrays: dict[str, np.ndarray], *, compress: bool = False
) -> None:
    """Write an npz file in place of the one that is there."""
    save = np.savez_compressed if compress else np.savez
    text = np.frombuffer(as_json(record), dtype=np.uint8)
    with written(path, overwrite=True) as file:
        save(file, record=text, **arrays)  # type: ignore[arg-type]  # the stub expects a flag


@contextmanager
def written(path: str | Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file that appears only when the block has ended without error and its bytes are on disk.

    It is written under another name and moved: a crash leaves the old file or the new one.
    """
    path = Path(path)
    temporary = clear(path)
    with open(temporary, "xb") as file:
        try:
            _lock(file)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "nt":
                file.close()  # only then Windows moves it; elsewhere it stays open for its lock
            if os.path.lexists(path) and not overwrite:
                raise FileExistsError(f"{path} exists already")
            os.replace(temporary, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    if os.name != "nt":  # make the new name durable
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def as_json(record: dict[str, Any]) -> bytes:
    """The record as text; reading and writing it again gives the same."""
    return json.dumps(record).encode()


def clear(path: Path) -> Path:
    """The name of the temporary file; one that a killed run left is removed."""
    temporary = path.with_name(f".{path.name}.tmp")
    with suppress(FileNotFoundError), open(temporary, "rb+") as file:
        try:
            _lock(file)
        except BlockingIOError:
            raise OSError(
                f"another run is writing {path} now; give each run a file of its own"
            ) from None
        os.unlink(temporary)
    return temporary


def _lock(file: IO[bytes]) -> None:
    """Hold the file until it is closed, where the system has such locks.

    The lock of a killed process is free.
    """
    try:
        import fcntl
    except ImportError:  # Windows, which does not let an open file be removed
        return
    fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def read(
    path: Path, *, max_bytes: int, allowed: Callable[[str], bool]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The record and the arrays; sizes are checked before anything is allocated."""
    try:
        with zipfile.ZipFile(path) as archive:
            arrays = _arrays(path, archive, max_bytes, allowed)
        record = json.loads(bytes(arrays.pop("record")))
    except FormatError:
        raise
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except KeyError as error:
        raise FormatError(f"{path} has no readable record") from error
    except Exception as error:  # damaged bytes raise errors of almost every class
        raise FormatError(f"{path} is not a readable npz file: {error}") from error
    if not isinstance(record, dict):
        raise FormatError(f"{path} has no readable record")
    return record, arrays


def _arrays(
    path: Path, archive: zipfile.ZipFile, max_bytes: int, allowed: Callable[[str], bool]
) -> dict[str, np.ndarray]:
    size = sum(member.file_size for member in archive.infolist())
    if size > max_bytes:
        raise FormatError(f"{path} would unpack to {size} bytes, above max_bytes = {max_bytes}")
    names = [member.filename.removesuffix(".npy") for member in archive.infolist()]
    if unknown := sorted(name for name in names if name != "record" and not allowed(name)):
        raise FormatError(f"{path} holds unknown entries {unknown}")
    arrays = {}
    for name, member in zip(names, archive.infolist(), strict=True):
        with archive.open(member) as opened:
            file: Any = opened  # it can read bytes, which is all that is needed
            try:
                arrays[name] = np.array(read_array(file, max_bytes, member.file_size))
            except FormatError as error:
                raise FormatError(f"{path}, {member.filename}: {error}") from error
    return arrays
