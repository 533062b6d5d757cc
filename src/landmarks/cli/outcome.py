"""How a command ends: the exit codes, and a failure that carries one."""

from __future__ import annotations

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
