"""Checks of files that cannot be read: too large for the memory, damaged, or not text."""

import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ..errors import FormatError

MAX_BYTES = 2**30
#: what the readers of zip and npy files raise when bytes are damaged or made to do harm
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    EOFError,
    OSError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    MemoryError,
    SyntaxError,
    RuntimeError,
    AttributeError,
)


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


def encoding_of(raw: bytes, asked: str | None) -> tuple[str, tuple[str, ...]]:
    """The encoding: the given one, UTF-16 by its mark, UTF-8, else Latin-1 with a note."""
    if asked:
        _check_encoding(raw, asked)
        return asked, ()
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        _check_encoding(raw, "utf-16")
        return "utf-16", ()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return "latin-1", (
            f"line {_line(raw, error.start)} is not UTF-8, so the file was read as Latin-1; "
            "give another with --encoding",
        )
    return "utf-8-sig", ()


def _line(raw: bytes, place: int) -> int:
    return raw.count(b"\n", 0, place) + 1


def _check_encoding(raw: bytes, encoding: str) -> None:
    try:
        raw.decode(encoding)
    except LookupError as error:
        raise FormatError(
            f"there is no encoding {encoding!r}; try utf-8, latin-1 or cp1252"
        ) from error
    except UnicodeDecodeError as error:
        raise FormatError(
            f"line {_line(raw, error.start)} is not {encoding}; name another with --encoding"
        ) from error


def refuse_binary(raw: bytes, encoding: str) -> None:
    """Raise when the bytes are not text."""
    if encoding.replace("-", "").startswith("utf16"):
        return
    if (place := raw.find(b"\0")) >= 0:
        raise FormatError(
            f"the file is not text: line {_line(raw, place)} holds a zero byte; other formats are "
            "recognised by the ending of the name"
        )
    strange = sum(raw[:4096].count(byte) for byte in range(1, 32) if byte not in b"\t\n\r\f\x1b")
    if strange > 0.05 * min(len(raw), 4096):
        raise FormatError(
            "the file is not text: line 1 is full of control characters; other formats are "
            "recognised by the ending of the name"
        )
