"""A file that is written completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written(path: str | Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file that appears only when the block has ended without error and its bytes are on disk."""
    path = Path(path)
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(f"{path} exists already")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".landmarks-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        _move(temporary, path, overwrite)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _move(temporary: str, path: Path, overwrite: bool) -> None:
    """Move into place; by a link, which fails if a file has appeared there, unless overwriting."""
    if overwrite:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise FileExistsError(f"{path} exists already") from error
    except OSError:  # a file system without links
        os.replace(temporary, path)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
