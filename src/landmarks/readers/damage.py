"""Whatever a library raises on a damaged file becomes one kind of error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import DAMAGE, FormatError


@contextmanager
def as_format_error(sentence: str) -> Iterator[None]:
    """Raise a FormatError that begins with the sentence for anything that goes wrong inside."""
    try:
        yield
    except FormatError:
        raise
    except DAMAGE as error:
        raise FormatError(f"{sentence}: {error}") from error
