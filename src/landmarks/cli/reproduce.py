"""`landmarks reproduce`: run and draw the paper's figures; a stopped run can be continued."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..runs.runner import Progress, watching

FIGURES = ("figure1", "figure2", "figure3", "figure4")


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def run(arguments: argparse.Namespace) -> int:
    """Run, summarise and draw each figure that is asked for."""
    if arguments.figure == "claims":
        from ..experiments.claims import claims_of

        for line in claims_of(Path(arguments.out)):
            print(line)
        return 0
    for name in FIGURES if arguments.figure == "all" else (arguments.figure,):
        one_figure(name, arguments)
    return 0


def one_figure(name: str, arguments: argparse.Namespace) -> None:
    """Run one figure, and name the files that were written."""
    from ..experiments import read_settings, reproduce
    from ..experiments.claims import write_summary
    from ..experiments.draw import draw

    out = Path(arguments.out)
    settings = read_settings(name, quick=arguments.quick)
    written: list[Path] = []
    if not arguments.draw_only:
        chosen = {
            key: getattr(arguments, key) for key in ("quick", "data_dir", "device", "only", "jobs")
        }
        with watching(Line(name)):
            written += [reproduce(name, out, **chosen)]
    if name != "figure1":
        written += [write_summary(settings, out)]
    if not arguments.no_draw:
        written += draw(settings, out)
    for path in written:
        print(path)


class Line:
    """One line on standard error with the number of runs done; a terminal overwrites it."""

    def __init__(self, name: str):
        self.name = name
        self.printed = -1  # the last percentage

    def __call__(self, progress: Progress) -> None:
        """Show the progress of the figure and ignore that of the methods."""
        if progress.phase != self.name or progress.total is None:
            return
        part = 100 * progress.done // max(1, progress.total)
        over = sys.stderr.isatty()
        if not over and part // 10 == self.printed // 10 and self.printed >= 0:
            return
        self.printed = part
        last = progress.done == progress.total
        print(
            f"{self.name}: {progress.done} of {progress.total} runs, {progress.seconds:.0f} s",
            end="\n" if last or not over else "\r",
            file=sys.stderr,
            flush=True,
        )
