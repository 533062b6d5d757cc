"""`landmarks demo`: two choices of columns on data that come with scikit-learn."""

import argparse
import sys
from collections.abc import Iterator

from sklearn.datasets import load_breast_cancer, load_digits

from .._select import select
from ..report.overview import lines, summarise
from ..report.terminal import Terminal, Words
from .outcome import OK


def run(arguments: argparse.Namespace) -> int:
    """Print both examples."""
    for line in shown(Terminal.of(sys.stdout), arguments.seed):
        print(line)
    return OK


def shown(terminal: Terminal, seed: int) -> Iterator[str]:
    """The pixels, and then the measurements, that best rebuild the others."""
    examples = (
        ("pixel", "1797 images of digits", load_digits(), 20),
        ("measurement", "569 tumours", load_breast_cancer(), 5),
    )
    for noun, title, data, k in examples:
        varying = data.data.std(axis=0) > 0
        names = [str(name) for name, kept in zip(data.feature_names, varying, strict=True) if kept]
        selection = select(data.data[:, varying], k, center=True, scale=True, seed=seed)
        words = Words(noun, "variance", names.__getitem__, title)
        yield ""
        yield from lines(selection, summarise(selection), words, terminal, most=k)
