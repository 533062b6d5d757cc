"""How a command ends: exit codes, failures that carry one, notes, and files that it may write."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .._shown import printable

OK = 0
USAGE = 2
BAD_DATA = 3
NO_OUTPUT = 4

CODES = """exit codes:
  0    done
  2    usage error: an unknown option, or a request that cannot be met
  3    the data cannot be used; the message names the line and the column
  4    the output exists already (--force replaces it) or cannot be written
  130  interrupted
"""


class Failure(Exception):
    """The end of a command, with a message and an exit code."""

    def __init__(self, code: int, sentence: str):
        super().__init__(sentence)
        self.code = code


@contextmanager
def failing(code: int, *errors: type[Exception], about: str = "") -> Iterator[None]:
    """End the command with this code for these errors; their messages follow what it is about."""
    try:
        yield
    except errors as error:
        reason = getattr(error, "strerror", None) or error
        raise Failure(code, f"{about}{reason}") from error


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


@contextmanager
def written(path: str, *, force: bool) -> Iterator[BinaryIO]:
    """A file that is written completely or not at all, and replaces another only with `force`."""
    from ..runs import archive

    try:
        with archive.written(path, overwrite=force) as opened:
            yield opened
    except FileExistsError as error:
        raise Failure(NO_OUTPUT, f"{error}; --force replaces it") from error
    except OSError as error:
        raise Failure(NO_OUTPUT, f"{path} cannot be written: {error.strerror or error}") from error


def check_outputs(*outputs: tuple[str, str | None, tuple[str, ...]], force: bool) -> None:
    """Refuse, before any work, outputs that cannot be written or would overwrite each other.

    outputs : for each the option, the path and the endings that it may have.
    """
    given = [path for _, path, _ in outputs if path]
    if len({os.path.abspath(path) for path in given}) < len(given):
        raise Failure(USAGE, f"the outputs {', '.join(given)} need different files")
    for option, path, endings in outputs:
        if not path:
            continue
        folder = Path(path).parent
        if Path(path).is_dir():
            raise Failure(NO_OUTPUT, f"{path} is a folder; name a file in it")
        if not path.lower().endswith(endings):
            listed = ", ".join(endings)
            raise Failure(USAGE, f"the file of {option} must end in one of {listed}, got {path!r}")
        if os.path.lexists(path) and not force:
            raise Failure(NO_OUTPUT, f"{path} exists already; --force replaces it")
        if not folder.is_dir():
            raise Failure(NO_OUTPUT, f"the folder {folder} does not exist; make it first")
        if not os.access(folder, os.W_OK):
            raise Failure(NO_OUTPUT, f"the folder {folder} cannot be written to")
