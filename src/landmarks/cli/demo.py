"""`landmarks demo`: two choices of columns on data that come with scikit-learn."""

import argparse
import sys
from collections.abc import Iterator
from itertools import zip_longest

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from .._select import select
from ..report.overview import summarise
from ..report.terminal import USUAL, Terminal, Words, compared
from ..selection import Selection


def run(arguments: argparse.Namespace) -> int:
    """Print both examples."""
    terminal = Terminal.of(sys.stdout)
    for line in digits(terminal, arguments.seed):
        print(line)
    print()
    for line in measurements(terminal, arguments.seed):
        print(line)
    return 0


def digits(terminal: Terminal, seed: int, k: int = 20) -> Iterator[str]:
    """The pixels that best rebuild all pixels."""
    images = load_digits().data
    varying = np.flatnonzero(images.std(axis=0) > 0)
    selection = choose(images[:, varying], k, seed)
    pixels = varying[selection.indices]
    yield terminal.bold(
        f"the {k} of {images.shape[1]} pixels that best rebuild the others, in {len(images)} "
        "images of digits"
    )
    yield ""
    picture, names = pixel_map(terminal, pixels, images.mean(axis=0)), pixel_names(pixels)
    if terminal.columns < USUAL:
        picture, names = [*picture, "", *names], []
    yield from side_by_side(picture, names)
    yield ""
    yield from quality(terminal, selection, "pixel")


def measurements(terminal: Terminal, seed: int, k: int = 5) -> Iterator[str]:
    """The measurements that best rebuild all measurements."""
    tumours = load_breast_cancer()
    m, n = tumours.data.shape
    selection = choose(tumours.data, k, seed)
    yield terminal.bold(
        f"the {k} of {n} measurements of {m} tumours that best rebuild the others, in order"
    )
    yield ""
    yield from (
        f"  {place:2d}  {tumours.feature_names[j]}" for place, j in enumerate(selection.indices, 1)
    )
    yield ""
    yield from quality(terminal, selection, "measurement")


def choose(X: np.ndarray, k: int, seed: int) -> Selection:
    """A selection of standardised columns by the default method."""
    return select(X, k, center=True, scale=True, seed=seed)


def pixel_map(terminal: Terminal, pixels: np.ndarray, mean: np.ndarray) -> list[str]:
    """The image as rows of cells: the order of choice, or the grey of the mean image."""
    place = {int(pixel): order for order, pixel in enumerate(pixels, 1)}
    cells = [
        terminal.bold(f"{place[pixel]:3d} ")
        if pixel in place
        else " " + 2 * terminal.shade(grey) + " "
        for pixel, grey in enumerate(mean / mean.max())
    ]
    return ["".join(cells[row : row + 8]) for row in range(0, 64, 8)]


def pixel_names(pixels: np.ndarray) -> list[str]:
    """The pixels in order of choice, by row and column."""
    names = [
        f"{order:2d} row {pixel // 8}, column {pixel % 8}" for order, pixel in enumerate(pixels, 1)
    ]
    height = -(-len(names) // 2)
    return ["   ".join(names[line::height]) for line in range(height)]


def side_by_side(left: list[str], right: list[str]) -> list[str]:
    """The lines of both, side by side."""
    blank = " " * 32
    return [f"  {a}    {b}".rstrip() for a, b in zip_longest(left, right, fillvalue=blank)]


def quality(terminal: Terminal, selection: Selection, noun: str) -> Iterator[str]:
    """The share of the variance that is kept, and by random columns and the best directions."""
    k = selection.k
    yield "  variance kept by"
    yield from compared(k, summarise(selection), Words(noun, "variance", str), terminal)
    yield ""
    if selection.proved:
        yield f"  This is the best choice of {k}."
    yield "  " + terminal.dim(f"by {selection.method}, in {selection.ledger.seconds:.2f} s")
