"""`landmarks demo`: two choices of columns on data that scikit-learn carries, shown in the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .terminal import Terminal

if TYPE_CHECKING:
    from ..methods import Selection

DRAWS = 20  # random choices to compare with


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The demonstration has no options but the seed."""
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choices (default 0)")


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
    """The pixels that say most about all pixels."""
    from sklearn.datasets import load_digits

    images = load_digits().data
    varying = np.flatnonzero(images.std(axis=0) > 0)
    X = standardised(images[:, varying])
    selection = choose(X, k, seed)
    pixels = varying[selection.indices]
    yield terminal.bold(f"{k} of the {images.shape[1]} pixels of {len(images)} handwritten digits, from which the others are best rebuilt")
    yield ""
    yield from side_by_side(pixel_map(terminal, pixels, images.mean(axis=0)), pixel_names(pixels))
    yield ""
    yield from quality(terminal, selection, X, seed)


def measurements(terminal: Terminal, seed: int, k: int = 5) -> Iterator[str]:
    """The measurements that say most about all measurements."""
    from sklearn.datasets import load_breast_cancer

    tumours = load_breast_cancer()
    X = standardised(tumours.data)
    selection = choose(X, k, seed)
    yield terminal.bold(f"{k} of {X.shape[1]} measurements of {len(X)} tumours, in order of choice")
    yield ""
    yield from (f"  {place:2d}  {tumours.feature_names[j]}" for place, j in enumerate(selection.indices, 1))
    yield ""
    yield from quality(terminal, selection, X, seed)


def choose(X: np.ndarray, k: int, seed: int, **options: Any) -> Selection:
    """The selection that the demonstration shows, by the default method."""
    from ..methods import select

    return select(X, k, seed=seed, **options)


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def pixel_map(terminal: Terminal, pixels: np.ndarray, mean: np.ndarray) -> list[str]:
    """The image as rows of cells: the place in the order of choice, or the shade of the mean image."""
    place = {int(pixel): order for order, pixel in enumerate(pixels, 1)}
    cells = [
        terminal.bold(f"{place[pixel]:3d} ") if pixel in place else " " + 2 * terminal.shade(grey) + " "
        for pixel, grey in enumerate(mean / mean.max())
    ]
    return ["".join(cells[row : row + 8]) for row in range(0, 64, 8)]


def pixel_names(pixels: np.ndarray) -> list[str]:
    """The pixels in order of choice, by row and column."""
    names = [f"{order:2d} row {pixel // 8}, column {pixel % 8}" for order, pixel in enumerate(pixels, 1)]
    height = -(-len(names) // 3)
    return ["   ".join(names[line::height]) for line in range(height)]


def side_by_side(left: list[str], right: list[str]) -> list[str]:
    """Lines of the left beside lines of the right."""
    right = right + [""] * (len(left) - len(right))
    return [f"  {a}    {b}".rstrip() for a, b in zip(left, right, strict=True)]


def quality(terminal: Terminal, selection: Selection, X: np.ndarray, seed: int) -> Iterator[str]:
    """How much of the variance is kept, between chance and the best that any directions could keep."""
    drawn = [choose(X, selection.k, seed + draw, method="uniform").relative_error() for draw in range(DRAWS)]
    best = selection.best_rank_error() / selection.total()
    kept = {
        "chosen": 1 - selection.relative_error(),
        f"random, mean of {DRAWS}": 1 - float(np.mean(drawn)),
        f"any {selection.k} directions (PCA)": 1 - best,
    }
    yield "  variance kept by"
    yield from (f"  {label:26s} {terminal.bar(part)} {part:6.1%}" for label, part in kept.items())
    yield f"  error over the best possible: {selection.factor():.3f} chosen, {float(np.mean(drawn)) / best:.3f} random"
    yield f"  by {selection.method}, in {selection.ledger.seconds:.2f} s and {selection.ledger.products} products with K"
