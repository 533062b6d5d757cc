"""`landmarks reproduce`: run and draw the paper's figures; a stopped run can be continued."""

import argparse
import sys
from pathlib import Path

from ..experiments import read_settings, reproduce
from ..experiments.claims import claims_of, write_summary
from ..experiments.draw import draw
from ..runs.runner import Progress, watching
from .arguments import FIGURES


def run(arguments: argparse.Namespace) -> int:
    """Run, summarise and draw each figure that is asked for."""
    if arguments.figure == "claims":
        for line in claims_of(Path(arguments.out)):
            print(line)
        return 0
    for name in FIGURES if arguments.figure == "all" else (arguments.figure,):
        one_figure(name, arguments)
    return 0


def one_figure(name: str, arguments: argparse.Namespace) -> None:
    """Run one figure, and name the files that were written."""
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
