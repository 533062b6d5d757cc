"""The options of each command, apart from what it does: `--help` loads no array library."""

import argparse

from ..methods.registry import COMPARED, METHODS
from .files import file_options
from .options import LISTED, Group, image, listed, number, option, sizes
from .outcome import CODES

FIGURES = ("figure1", "figure2", "figure3", "figure4")
NAMES = ", ".join([*METHODS, "supervised"])  # supervised needs --target
HOW = """how to use it:
  bash   landmarks completion bash > ~/.local/share/bash-completion/completions/landmarks
  zsh    landmarks completion zsh > a folder of $fpath, as _landmarks
  fish   landmarks completion fish > ~/.config/fish/completions/landmarks.fish
"""


def select(parser: argparse.ArgumentParser) -> None:
    """How many to choose, how, from which file, and where the result goes."""
    parser.epilog = f"{parser.epilog or ''}\n{CODES}"
    many = parser.add_mutually_exclusive_group(required=True)
    text = (
        "how many to choose: a number, a share such as 0.1, auto for the knee of the error "
        "curve, or held-out for the fewest that do well on held-out rows"
    )
    option(many, "-k --k", text, type=number)
    text = "choose the fewest whose relative error is at most this, such as 0.05"
    option(many, "--error", text, type=float)
    _add_choice(parser)
    _add_aim(parser)
    _add_groups(parser)
    _add_places(parser.add_argument_group("places"))
    option(parser, "--method", f"one of {NAMES} (default auto)", default="auto")
    text = "save the run to this file; after a crash or Ctrl-C the same command continues it"
    option(parser, "--checkpoint FILE", text)
    file_options.add_arguments(parser)
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


def compare(parser: argparse.ArgumentParser) -> None:
    """For which k, by which methods, and where the result goes."""
    parser.epilog = f"{parser.epilog or ''}\n{CODES}"
    text = "how many to choose; several give curves: 5,10,20"
    option(parser, "-k --k", text, type=sizes, required=True)
    text = f"methods to compare (default {','.join(COMPARED)})"
    option(parser, "--methods NAMES", text, type=listed, default=COMPARED)
    _add_choice(parser)
    file_options.add_arguments(parser)
    results = parser.add_argument_group("results")
    option(results, "--plot FILE", "draw the errors: png, svg or pdf")
    option(results, "--json", "print the table as JSON")
    option(results, "--force", "replace files that exist")
    option(results, "-q --quiet", "no progress bar")


def demo(parser: argparse.ArgumentParser) -> None:
    """The seed is the only option."""
    option(parser, "--seed", "seed of the random choices (default 0)", type=int, default=0)


def data(parser: argparse.ArgumentParser) -> None:
    """Three actions; fetch and check take names."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    for action, text in (
        ("list", "the data sets, their shapes and licences, and where they are"),
        ("fetch", "download data sets from their publishers into the cache"),
        ("check", "compare the local copies with the published numbers"),
    ):
        part = actions.add_parser(action, help=text, description=text)
        if action != "list":
            what = "data sets of the paper (default: all)"
            part.add_argument("names", nargs="*", metavar="NAME", help=what)
        if action == "fetch":
            option(part, "--force", "download again even if the cache has the data")
        else:
            text = "a folder with npz files or originals (default: LANDMARKS_DATA)"
            option(part, "--data-dir DATA_DIR", text)


def reproduce(parser: argparse.ArgumentParser) -> None:
    """The figure, and where data come from and results go."""
    text = "a figure, all of them, or the numbers behind the claims of the paper"
    parser.add_argument("figure", choices=(*FIGURES, "all", "claims"), help=text)
    option(parser, "--quick", "fewer trials, sizes and rows: minutes instead of hours")
    text = (
        "a folder with the data sets (default: LANDMARKS_DATA, then the cache of "
        "`landmarks data fetch`)"
    )
    option(parser, "--data-dir DATA_DIR", text)
    text = "the folder of tables and figures (default: %(default)s)"
    option(parser, "--out", text, default="landmarks-results")
    text = "cpu, or cuda for the large kernels of figure 4 (default: cpu)"
    option(parser, "--device", text, default="cpu")
    text = "processes in parallel, one thread each (default: 1)"
    option(parser, "--jobs", text, type=int, default=1)
    text = "only these data sets of the figure"
    option(parser, "--only DATASET", text, nargs="+", default=())
    option(parser, "--no-draw", "write tables only")
    option(parser, "--draw-only", "draw from the existing tables")


def info(parser: argparse.ArgumentParser) -> None:
    """Whether to print JSON."""
    option(parser, "--json", "print JSON")


def completion(parser: argparse.ArgumentParser) -> None:
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


def _add_aim(parser: Group) -> None:
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
