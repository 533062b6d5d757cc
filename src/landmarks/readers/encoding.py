"""The encoding of a text file, and a check that it is text."""

from __future__ import annotations

from ..errors import FormatError


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
