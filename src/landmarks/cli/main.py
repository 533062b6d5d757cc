"""The command `landmarks`: parse, call the command, turn interrupts into exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .. import __doc__ as purpose
from .. import __version__
from . import data, demo, reproduce

COMMANDS = {"demo": demo, "data": data, "reproduce": reproduce}  # each module has HELP, add_arguments(parser) and run(arguments) -> exit code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parsed = parser().parse_args(arguments)
    try:
        return COMMANDS[parsed.command].run(parsed)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> argparse.ArgumentParser:
    """The parser of the command and its subcommands."""
    top = argparse.ArgumentParser(prog="landmarks", description=purpose)
    top.add_argument("--version", action="version", version=f"landmarks {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")
    for name, module in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=module.HELP, description=module.HELP))
    return top


if __name__ == "__main__":
    sys.exit(main())
