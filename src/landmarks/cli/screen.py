"""Notes on standard error, and the warnings of the library as notes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ..report.terminal import printable


def note(sentence: object) -> None:
    """Print a note on standard error, apart from the result."""
    print(f"landmarks: note: {printable(sentence)}", file=sys.stderr)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print the warnings of the library as notes, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for sentence in dict.fromkeys(
        str(warning.message)
        for warning in caught
        if issubclass(warning.category, UserWarning | RuntimeWarning)
    ):
        note(sentence)
