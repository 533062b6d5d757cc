"""Errors of a command as one sentence on the error stream and an exit code that is not zero."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

Run = Callable[[argparse.Namespace], int]


def tells_errors(run: Run) -> Run:
    """The command, with errors that a user can mend told by their sentence alone."""

    def told(arguments: argparse.Namespace) -> int:
        try:
            return run(arguments)
        except BrokenPipeError:
            raise
        except (ValueError, OSError, ImportError) as error:
            print(f"landmarks: {error}", file=sys.stderr)
            return 1

    return told
