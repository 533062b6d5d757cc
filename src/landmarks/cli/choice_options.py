"""Options about the choice itself, which several commands have."""

from __future__ import annotations

import argparse

from .files.file_options import listed


def add_choice_arguments(parser: argparse.ArgumentParser) -> None:
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


def add_aim_arguments(parser: argparse.ArgumentParser) -> None:
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
