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

from .. import __doc__ as purpose
from .. import __version__
from ..methods.registry import COMPARED, METHODS
from ..report.terminal import printable
from .options import LISTED, Group, Parser, add_arguments, image, listed, number, option, sizes
from .outcome import BAD_DATA, CODES, OK, Failure

NAMES = ", ".join([*METHODS, "supervised"])  # supervised needs --target
HOW = """how to use it:
  bash   landmarks completion bash > ~/.local/share/bash-completion/completions/landmarks
  zsh    landmarks completion zsh > a folder of $fpath, as _landmarks
  fish   landmarks completion fish > ~/.config/fish/completions/landmarks.fish
"""
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
    "info": """examples:
  landmarks info
  landmarks info --json
""",
    "completion": """example:
  landmarks completion bash > ~/.local/share/bash-completion/completions/landmarks
""",
}

# Each has its options below, and a module with run(arguments) -> exit code, which is imported on
# use: `--help` loads no array library.
COMMANDS = {
    "select": "choose columns of a file, or landmarks among its rows",
    "compare": "run several methods on a file and compare their errors",
    "demo": "show two examples: 20 of 64 pixels of digits, and 5 of 30 measurements",
    "info": "versions, devices, threads, and whether searches are compiled",
    "completion": "print the completion of a shell",
}


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    words = list(sys.argv[1:] if words is None else words)
    parsed = parser(words).parse_args(words)
    parsed.command_line = shlex.join(["landmarks", *words])
    try:
        code = import_module(f".{parsed.command}", __package__).run(parsed)
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
    options = {
        "select": _options_of_select,
        "compare": _options_of_compare,
        "demo": _options_of_demo,
        "info": _options_of_info,
        "completion": _options_of_completion,
    }
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        sub = commands.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + "."
        )
        sub.formatter_class = argparse.RawDescriptionHelpFormatter
        sub.epilog = EXAMPLES[name]
        if name in wanted:
            options[name](sub)
    return top


def _options_of_select(parser: argparse.ArgumentParser) -> None:
    """How many to choose, how, from which file, and where the result goes."""
    parser.epilog = f"{parser.epilog or ''}\n{CODES}"
    many = parser.add_mutually_exclusive_group(required=True)
    text = (
        "how many to choose: a number, a share such as 0.1, auto for the knee of the error "
        "curve, or held-out for the fewest whose error on held-out rows is within a standard error "
        "of the lowest, which may be many"
    )
    option(many, "-k --k", text, type=number)
    text = "choose the fewest whose relative error is at most this, such as 0.05"
    option(many, "--error", text, type=float)
    _add_choice(parser)
    _add_target(parser)
    _add_groups(parser)
    _add_places(parser.add_argument_group("places"))
    option(parser, "--method", f"one of {NAMES} (default auto)", default="auto")
    text = "save the run to this file; after a crash or Ctrl-C the same command continues it"
    option(parser, "--checkpoint FILE", text)
    add_arguments(parser)
    results = parser.add_argument_group("results")
    text = (
        "write the chosen columns (csv, tsv, parquet), the record (json) or the selection (npz) "
        "to this file"
    )
    option(results, "-o --out FILE", text)
    option(results, "--report PAGE.html", "write one HTML page with all results")
    text = "in the report: the columns are the pixels of images of this size, such as 8x8"
    option(results, "--image HxW", text, type=image)
    option(results, "--json", "print the record as JSON")
    option(results, "--force", "replace files that exist")
    text = "in csv files put ' before names that look like formulas to a spreadsheet"
    option(results, "--csv-safe", text)
    option(results, "-q --quiet", "no progress bar")


def _options_of_compare(parser: argparse.ArgumentParser) -> None:
    """For which k, by which methods, and where the result goes."""
    parser.epilog = f"{parser.epilog or ''}\n{CODES}"
    text = "how many to choose; several give curves: 5,10,20"
    option(parser, "-k --k", text, type=sizes, required=True)
    text = f"methods to compare (default {','.join(COMPARED)})"
    option(parser, "--methods NAMES", text, type=listed, default=COMPARED)
    _add_choice(parser)
    add_arguments(parser)
    results = parser.add_argument_group("results")
    option(results, "--plot FILE", "draw the errors: png, svg or pdf")
    option(results, "--json", "print the table as JSON")
    option(results, "--force", "replace files that exist")
    option(results, "-q --quiet", "no progress bar")


def _options_of_demo(parser: argparse.ArgumentParser) -> None:
    """The seed is the only option."""
    option(parser, "--seed", "seed of the random choices (default 0)", type=int, default=0)


def _options_of_info(parser: argparse.ArgumentParser) -> None:
    """Whether to print JSON."""
    option(parser, "--json", "print JSON")


def _options_of_completion(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.epilog = f"{parser.epilog or ''}\n{HOW}"
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def _add_choice(parser: Group) -> None:
    """The criterion, the seed, the budget and the constraints."""
    text = "what to minimise: the trace or the squared Frobenius norm of K - K^"
    option(parser, "--criterion", text, choices=("trace", "frobenius"), default="trace")
    text = "the same seed gives the same choice (default 0)"
    option(parser, "--seed", text, type=int, default=0)
    text = "time that a method may spend on improving its choice"
    option(parser, "--budget SECONDS", text, type=float)
    text = "columns that must be chosen: names, or numbers counted from 0 as in the file"
    option(parser, "--include NAMES", text, **LISTED)
    option(parser, "--exclude NAMES", "columns that must not be chosen", **LISTED)


def _add_target(parser: Group) -> None:
    """What is rebuilt instead of everything, and how noisy the measurements are."""
    text = "rebuild these columns; only the others are candidates"
    option(parser, "--target-columns NAMES", text, **LISTED)
    text = (
        "variance of the measurement noise in the units of K = X'X: the number of rows times the "
        "variance of one value"
    )
    option(parser, "--noise VARIANCE", text, type=float)


def _add_groups(parser: Group) -> None:
    """What belongs together, and what it costs."""
    text = "labels a,b,a,… or a file with one per line: columns of one label are chosen together"
    option(parser, "--groups LABELS", text)
    text = "costs 1,5,2,… or a file with one per line; needs --budget-cost"
    option(parser, "--costs COSTS", text)
    text = "the most that the choice may cost"
    option(parser, "--budget-cost COST", text, type=float)


def _add_places(places: Group) -> None:
    """Where the candidates are, and how far apart the chosen ones must be."""
    text = "positions of the candidates, one line for each, in order; the report then has maps"
    option(places, "--coordinates FILE", text)
    text = "minimum distance between chosen places, in the units of --coordinates"
    option(places, "--min-distance DISTANCE", text, type=float)
