"""The limit on memory: sizes are checked before anything is allocated."""

from __future__ import annotations

from typing import BinaryIO

from ..errors import FormatError

MAX_BYTES = 2**30


def check_size(size: int, limit: int, what: str) -> None:
    """Raise if something would take more memory than the limit."""
    if size > limit:
        raise FormatError(
            f"{what} takes {readable(size)}, more than the limit of {readable(limit)}; raise it "
            "with --max-bytes if you trust the file"
        )


def read_within(file: BinaryIO, limit: int, what: str) -> bytes:
    """All bytes of a stream that may be endless, or packed small: reading stops at the limit."""
    parts, size = [], 0
    while part := file.read(min(2**20, limit + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise FormatError(
                f"{what} is larger than the limit of {readable(limit)}; raise it with --max-bytes "
                "if you trust it"
            )
    return b"".join(parts)


def readable(size: int) -> str:
    """A size in bytes with a unit."""
    for unit, factor in (("TB", 2**40), ("GB", 2**30), ("MB", 2**20), ("kB", 2**10)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"
