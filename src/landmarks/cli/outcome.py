"""How a command ends: exit codes, a failure that carries one, and notes on standard error."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ..report.terminal import printable

OK = 0
USAGE = 2
BAD_DATA = 3
NO_OUTPUT = 4

CODES = """exit codes:
  0    done
  2    wrong use: an unknown option, or a request that cannot be met
  3    the data cannot be used; the message names the line and the column
  4    the output exists already (--force replaces it) or cannot be written
  130  interrupted
"""


class Failure(Exception):
    """The end of a command, with a message and an exit code."""

    def __init__(self, code: int, sentence: str):
        super().__init__(sentence)
        self.code = code


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
