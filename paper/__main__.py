"""Redo the figures and claims of the paper, or fetch its data.

python -m paper figure3 --quick              minutes
python -m paper all --jobs 8                 hours; goes on where it stopped
python -m paper figure4 --device cuda
python -m paper claims                       the numbers behind the page of claims
python -m paper data                         which data sets are here, and are they intact
python -m paper fetch                        download those that are not
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .data import SOURCES, fetch, find, read, source_of
from .draw import draw
from .run import run
from .settings import FIGURES, read_settings
from .table import claims, write_summary


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    asked = parser().parse_args(words)
    try:
        if asked.what == "data":
            return listed(asked)
        if asked.what == "fetch":
            for source in [source_of(name) for name in asked.only or SOURCES]:
                print(f"{source.name}: {find(source, asked.data_dir) or fetch(source)}", flush=True)
        elif asked.what == "claims":
            print(*claims(asked.out), sep="\n")
        else:
            for name in FIGURES if asked.what == "all" else (asked.what,):
                one_figure(name, asked)
    except (ValueError, OSError, ImportError) as error:  # their messages say what to do
        print(f"paper: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("paper: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """What can be asked for."""
    made = argparse.ArgumentParser(
        "python -m paper",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("what", choices=(*FIGURES, "all", "claims", "data", "fetch"))
    text = "fewer trials, sizes and rows: minutes instead of hours"
    made.add_argument("--quick", action="store_true", help=text)
    text = "a folder with the data (default: LANDMARKS_DATA, then what was fetched)"
    made.add_argument("--data-dir", type=Path, help=text)
    text = "the folder of tables and figures (default: %(default)s)"
    made.add_argument("--out", type=Path, default=Path("landmarks-results"), help=text)
    text = "cpu, or cuda for the large kernels of figure 4 (default: cpu)"
    made.add_argument("--device", default="cpu", help=text)
    text = "processes in parallel, one thread each (default: 1)"
    made.add_argument("--jobs", type=int, default=1, help=text)
    text = "only these data sets"
    made.add_argument("--only", nargs="+", default=(), metavar="DATASET", help=text)
    made.add_argument("--no-draw", action="store_true", help="write tables only")
    made.add_argument("--draw-only", action="store_true", help="draw from the existing tables")
    return made


def listed(asked: argparse.Namespace) -> int:
    """Print a line for each data set, where it is, and whether it is the published one."""
    wrong = 0
    for source in [source_of(name) for name in asked.only or SOURCES]:
        state = f"not found; {source.url}"
        if path := find(source, asked.data_dir):
            try:
                read(source, path)
                state = f"{path} holds the published numbers"
            except ValueError as error:
                wrong, state = 1, str(error)
        rows, columns = source.shape
        print(f"{source.name:<12}{rows:>6} × {columns:<5}{source.licence:<14}{state}")
    return wrong


def one_figure(name: str, asked: argparse.Namespace) -> None:
    """Run one figure, summarise and draw it, and name the files that were written."""
    figure, written = read_settings(name, quick=asked.quick, only=asked.only), []
    if not asked.draw_only:

        def progress(done: int, total: int) -> None:
            terminal = sys.stderr.isatty()
            if terminal or 10 * done // total > 10 * (done - 1) // total:
                end = "\r" if terminal and done < total else "\n"
                print(f"{name}: {done} of {total} runs", end=end, file=sys.stderr, flush=True)

        given = {key: getattr(asked, key) for key in ("data_dir", "device", "jobs")}
        written += [run(figure, asked.out, **given, progress=progress)]
    if name != "figure1":
        written += [write_summary(figure, asked.out)]
    if not asked.no_draw:
        written += draw(figure, asked.out)
    print(*written, sep="\n")


if __name__ == "__main__":
    sys.exit(main())
