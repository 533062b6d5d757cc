"""The command `landmarks`: parse, run the command, turn errors into an exit code and a message.

Exit codes: 0 done; 2 usage error; 3 the data cannot be used; 4 the output cannot be written; 130
interrupted.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from types import ModuleType

from .. import __doc__ as purpose
from .. import __version__
from ..report.terminal import printable
from . import arguments
from .options import Parser
from .outcome import BAD_DATA, OK, Failure

EXAMPLES = {
    "select": """examples:
  landmarks select my.csv -k 10 --standardize
  landmarks select my.csv -k 0.1 --id name --numeric-only -o chosen.csv
  landmarks select my.xlsx --error 0.05 --center --scale --report page.html
  landmarks select points.npy -k 50 --kernel rbf
""",
    "compare": """examples:
  landmarks compare my.csv -k 10 --standardize
  landmarks compare my.csv -k 5,10,20 --methods greedy,swap,uniform --plot errors.png
""",
    "demo": """example:
  landmarks demo
""",
    "data": """examples:
  landmarks data list
  landmarks data fetch
  landmarks data check --data-dir my-folder
""",
    "reproduce": """examples:
  landmarks reproduce figure3 --quick
  landmarks reproduce all --data-dir my-folder
""",
    "info": """examples:
  landmarks info
  landmarks info --json
""",
    "completion": """example:
  landmarks completion bash > ~/.local/share/bash-completion/completions/landmarks
""",
}

# Each has a function in `arguments`, and a module with run(arguments) -> exit code, which is
# imported on use.
COMMANDS = {
    "select": "choose columns of a file, or landmarks among its rows",
    "compare": "run several methods on a file and compare their errors",
    "demo": "show two examples: 20 of 64 pixels of digits, and 5 of 30 measurements",
    "data": "list, fetch and check the data sets of the paper",
    "reproduce": "redo the paper's figures",
    "info": "versions, devices, threads, and whether searches are compiled",
    "completion": "print the completion of a shell",
}


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    words = list(sys.argv[1:] if words is None else words)
    parsed = parser(words).parse_args(words)
    parsed.command_line = shlex.join(["landmarks", *words])
    try:
        code = module(parsed.command).run(parsed)
        sys.stdout.flush()
        return code
    except Failure as failure:
        print(f"landmarks: {printable(failure)}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        checkpoint = getattr(parsed, "checkpoint", None)
        rest = f"{printable(checkpoint)} keeps the run" if checkpoint else "nothing was written"
        print(f"landmarks: interrupted; {rest}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (ValueError, OSError, ImportError) as error:  # their messages say what to do
        print(f"landmarks: {printable(error)}", file=sys.stderr)
        return BAD_DATA


def parser(wanted: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The parser of the command; only the wanted subcommands load their arguments."""
    top = Parser(
        prog="landmarks",
        description=purpose,
        epilog="landmarks COMMAND --help shows the options of a command, with examples.",
    )
    top.add_argument("--version", action="version", version=f"landmarks {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        sub = commands.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + "."
        )
        sub.formatter_class = argparse.RawDescriptionHelpFormatter
        sub.epilog = EXAMPLES[name]
        if name in wanted:
            getattr(arguments, name)(sub)
    return top


def module(command: str) -> ModuleType:
    """The module of a command."""
    return import_module(f".{command}", __package__)
