"""Files that cannot be read: too large for the memory, which is checked first, or damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ..errors import DAMAGE, FormatError

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


@contextmanager
def as_format_error(sentence: str, *more: type[Exception]) -> Iterator[None]:
    """Raise a FormatError that begins with the sentence for anything that goes wrong inside.

    more : errors of the library that reads the file; those of damaged bytes are known.
    """
    try:
        yield
    except FormatError:
        raise
    except DAMAGE + more as error:
        raise FormatError(f"{sentence}: {error}") from error
