"""The options of each command, apart from what it does: `--help` loads no array library."""

import argparse

from ..methods.registry import COMPARED, METHODS
from .files import file_options
from .options import image, listed, number, sizes
from .outcome import CODES

FIGURES = ("figure1", "figure2", "figure3", "figure4")
#: knapsack needs costs, which have no option; supervised needs --target
NAMES = ", ".join([*(name for name in METHODS if name != "knapsack"), "supervised"])
HOW = """how to use it:
  bash   landmarks completion bash > ~/.local/share/bash-completion/completions/landmarks
  zsh    landmarks completion zsh > a folder of $fpath, as _landmarks
  fish   landmarks completion fish > ~/.config/fish/completions/landmarks.fish
"""


def select(parser: argparse.ArgumentParser) -> None:
    """How many to choose, how, from which file, and where the result goes."""
    parser.epilog = f"{parser.epilog or ''}\n{CODES}"
    many = parser.add_mutually_exclusive_group(required=True)
    many.add_argument(
        "-k",
        "--k",
        type=number,
        help="how many to choose: a number, a share such as 0.1, auto for the knee of the curve, "
        "or held-out for as few as do well on rows left out",
    )
    many.add_argument(
        "--error",
        type=float,
        help="choose the fewest that leave at most this share of the total, such as 0.05",
    )
    _add_choice(parser)
    _add_aim(parser)
    _add_places(parser)
    parser.add_argument("--method", default="auto", help=f"one of {NAMES} (default auto)")
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="save the run there; after a crash or Ctrl-C the same command continues it",
    )
    file_options.add_arguments(parser)
    results = parser.add_argument_group("results")
    results.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        help="write the chosen columns to a csv, tsv or parquet file, the record to json, "
        "the selection to npz",
    )
    results.add_argument(
        "--report",
        metavar="PAGE.html",
        help="write one HTML page about the selection, to share",
    )
    results.add_argument(
        "--image",
        metavar="HxW",
        type=image,
        help="in the report: the columns are the pixels of images of this size, such as 8x8",
    )
    results.add_argument("--json", action="store_true", help="print the record as JSON")
    results.add_argument("--force", action="store_true", help="replace files that exist")
    results.add_argument(
        "--csv-safe",
        action="store_true",
        help="in csv files put ' before names that a spreadsheet would take for formulas",
    )
    results.add_argument("-q", "--quiet", action="store_true", help="no progress bar")


def compare(parser: argparse.ArgumentParser) -> None:
    """For which k, by which methods, and where the result goes."""
    parser.epilog = f"{parser.epilog or ''}\n{CODES}"
    parser.add_argument(
        "-k",
        "--k",
        type=sizes,
        required=True,
        help="how many to choose; several give curves: 5,10,20",
    )
    parser.add_argument(
        "--methods",
        metavar="NAMES",
        type=listed,
        default=COMPARED,
        help=f"(default {','.join(COMPARED)})",
    )
    _add_choice(parser)
    file_options.add_arguments(parser)
    results = parser.add_argument_group("results")
    results.add_argument("--plot", metavar="FILE", help="draw the errors: png, svg or pdf")
    results.add_argument("--json", action="store_true", help="print the table as JSON")
    results.add_argument("--force", action="store_true", help="replace files that exist")
    results.add_argument("-q", "--quiet", action="store_true", help="no progress bar")


def demo(parser: argparse.ArgumentParser) -> None:
    """The seed is the only option."""
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the random choices (default 0)"
    )


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
            part.add_argument(
                "names", nargs="*", metavar="NAME", help="data sets of the paper (default: all)"
            )
        if action == "fetch":
            part.add_argument(
                "--force", action="store_true", help="download again what the cache holds"
            )
        else:
            part.add_argument(
                "--data-dir", help="a folder with npz files or originals (default: LANDMARKS_DATA)"
            )


def reproduce(parser: argparse.ArgumentParser) -> None:
    """The figure, and where data come from and results go."""
    parser.add_argument(
        "figure",
        choices=(*FIGURES, "all", "claims"),
        help="a figure, all of them, or the numbers behind the claims of the paper",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="fewer trials, sizes and rows: minutes instead of hours",
    )
    parser.add_argument(
        "--data-dir",
        help="a folder with the data sets (default: LANDMARKS_DATA, then the cache of "
        "`landmarks data fetch`)",
    )
    parser.add_argument(
        "--out",
        default="landmarks-results",
        help="the folder of tables and figures (default: %(default)s)",
    )
    parser.add_argument(
        "--device",
        default="cpu",
        help="cpu, or cuda for the large kernels of figure 4 (default: cpu)",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes in parallel, one thread each (default: 1)"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        metavar="DATASET",
        help="only these data sets of the figure",
    )
    parser.add_argument("--no-draw", action="store_true", help="write tables only")
    parser.add_argument("--draw-only", action="store_true", help="draw from the existing tables")


def info(parser: argparse.ArgumentParser) -> None:
    """Whether to print JSON."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def completion(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.epilog = f"{parser.epilog or ''}\n{HOW}"
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """The criterion, the seed, the budget and the constraints."""
    parser.add_argument(
        "--criterion",
        choices=("trace", "frobenius"),
        default="trace",
        help="what to minimise: the trace or the squared norm of K - K^",
    )
    parser.add_argument("--seed", type=int, default=0, help="one seed gives one choice (default 0)")
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="time that improving methods may take"
    )
    parser.add_argument(
        "--include",
        metavar="NAMES",
        type=listed,
        default=(),
        help="these must be chosen, by name or by number from 0 as in the file",
    )
    parser.add_argument(
        "--exclude",
        metavar="NAMES",
        type=listed,
        default=(),
        help="these must not be chosen",
    )


def _add_aim(parser: argparse.ArgumentParser) -> None:
    """What is rebuilt instead of everything, and how noisy the measurements are."""
    parser.add_argument(
        "--target-columns",
        metavar="NAMES",
        type=listed,
        default=(),
        help="rebuild these columns from the others, which alone are chosen from",
    )
    parser.add_argument(
        "--noise",
        metavar="VARIANCE",
        type=float,
        help="variance of the noise of a measurement, in the units of K = X'X: the rows times that "
        "of one value",
    )


def _add_places(parser: argparse.ArgumentParser) -> None:
    """Where the candidates are, and how far apart the chosen ones must be."""
    places = parser.add_argument_group("places")
    places.add_argument(
        "--coordinates",
        metavar="FILE",
        help="where the candidates are: a line for each, in their order; the report then has maps",
    )
    places.add_argument(
        "--min-distance",
        metavar="DISTANCE",
        type=float,
        help="chosen places are at least so far apart, in the units of --coordinates",
    )
