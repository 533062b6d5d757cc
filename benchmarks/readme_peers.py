"""The four comparisons of the README: errors over that of the best k directions.

    tools/peers_env
    .peers/bin/python benchmarks/readme_peers.py --data-dir DIR

A package that is not installed is named as missing. All cells and times: benchmarks/peers.py.
"""

from __future__ import annotations

import argparse

import numpy as np
import peers

DRAWS = 5  # of randomised choices; their mean is printed
COMPARED = (
    ("scikit-learn Nystroem", peers.Cell("digits", 40, 10.0, "trace"), peers.scikit_learn_nystroem),
    ("PySensors", peers.Cell("arrhythmia", 100), peers.pysensors),
    ("scikit-matter CUR", peers.Cell("arrhythmia", 100), peers.skmatter_cur),
    ("SciPy interpolative", peers.Cell("arrhythmia", 100), peers.scipy_interpolative),
)


def factor(choose, cell: peers.Cell, data_dir: str | None, draws: int) -> float:
    """The error over that of the best k directions, as the mean of some draws."""
    a = peers.Input(cell, data_dir)
    return float(np.mean([a.factor(choose(a, cell.k, seed)) for seed in range(draws)]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=None)
    data_dir = parser.parse_args().data_dir
    for name, cell, choose in COMPARED:
        ours = factor(peers.ours("auto"), cell, data_dir, 1)
        try:
            theirs = f"{factor(choose, cell, data_dir, DRAWS):.3f}"
        except ImportError as error:
            theirs = f"missing: {error.name}"
        print(f"{name:<24} {cell.label:<24} theirs {theirs:<8} ours {ours:.3f}", flush=True)


if __name__ == "__main__":
    main()
