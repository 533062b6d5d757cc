"""Maximum-entropy sampling: the published instances with 63 and 90 candidates, all sizes.

    export LANDMARKS_DATA=…                        # a folder with entropy63.npz and entropy90.npz
    python benchmarks/entropy.py [--seconds 5] [--sizes 10 15 30] [--proofs 60]

For each size the value log det K_SS of the default, compared with the best that Chen, Fampa and Lee
(INFORMS Journal on Computing 35, 2023) publish; then how far the bound is above it: theirs, the
lowest of linx, DDFact and complementary DDFact; ours of `lower_bound()`, and of a certificate of so
many seconds. `--proofs` gives the exact search so many seconds of the clock for each size. Seconds
in the tables are those of the processor. In the end, at every tenth size: by how many nats the
default is better than greedy selection, swaps, and the relaxation of Algorithm 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

import landmarks as lm

METHODS = {"greedy": "greedy", "swap": "swap", "bisection": lm.Continuous(strategy="bisection")}
EQUAL = 1e-6  # published values have ten digits


def cpu(work):
    begun = time.process_time()
    found = work()
    return found, time.process_time() - begun


def instance(name: str, folder: Path, options: argparse.Namespace) -> None:
    given = np.load(folder / f"{name}.npz")
    K, rows = lm.psd(given["K"]), []
    print(f"\n## {name}: {len(given['K'])} candidates\n")
    print("| k | published value | ours above it | their gap | quick | certificate | proved |")
    print("|---|---|---|---|---|---|---|")
    for k, value, bounds in zip(given["s"], given["value"], given["bounds"], strict=True):
        if options.sizes and int(k) not in options.sizes:
            continue
        s, first = cpu(lambda k=k: lm.select(K, int(k), criterion="logdet"))
        more = -s.error() - value
        quick, second = cpu(s.gap)
        _, third = cpu(lambda s=s: s.certificate(budget=options.seconds))
        better, last = s, 0.0
        if options.proofs and not s.proved:
            better, last = cpu(lambda s=s: s.prove(budget=options.proofs))
            more = -better.error() - value
        theirs = float(np.nanmin(bounds)) - value
        rows.append((more, theirs, quick, better.gap(), better.proved, first, second, third + last))
        print(
            f"| {k} | {value:.4f} | {max(more, 0) if more > -EQUAL else more:.4f} | {theirs:.4f} "
            f"| {quick:.4f} | {better.gap():.4f} | {'yes' if better.proved else ''} |",
            flush=True,
        )
    more, theirs, quick, gap, proved, *seconds = np.asarray(rows, dtype=float).T
    print(
        f"\nValues: {np.sum(more < -EQUAL)} of {len(more)} below the published ones, "
        f"{np.sum(more > EQUAL)} above; {seconds[0].sum():.1f} s."
    )
    print(
        f"Mean gap: {theirs.mean():.3f} nats published, {quick.mean():.3f} by `lower_bound()` "
        f"in {seconds[1].sum():.1f} s, {gap.mean():.4f} in the end in {seconds[2].sum():.0f} s; "
        f"{int(proved.sum())} of {len(rows)} proved."
    )


def compared(name: str, folder: Path) -> None:
    K = lm.psd(np.load(folder / f"{name}.npz")["K"])
    sizes = range(10, K.n, 10)
    best = [lm.select(K, k, criterion="logdet").error() for k in sizes]
    print("\n| method | mean | most | seconds |")
    print("|---|---|---|---|")
    for label, method in METHODS.items():
        work = [
            cpu(lambda k=k, method=method: lm.select(K, k, criterion="logdet", method=method))
            for k in sizes
        ]
        more = np.array([s.error() for s, _ in work]) - best
        seconds = np.mean([seconds for _, seconds in work])
        print(f"| {label} | {more.mean():.3f} | {more.max():.3f} | {seconds:.3f} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data-dir", default=os.environ.get("LANDMARKS_DATA"))
    parser.add_argument("--seconds", type=float, default=5.0, help="of each certificate")
    parser.add_argument("--proofs", type=float, default=0.0, help="of each exact search")
    parser.add_argument("--sizes", type=int, nargs="+", help="only these k")
    parser.add_argument("--only", choices=["entropy63", "entropy90"])
    options = parser.parse_args()
    if not options.data_dir:
        parser.error("set LANDMARKS_DATA or --data-dir to a folder with the instances")
    for name in [options.only] if options.only else ["entropy63", "entropy90"]:
        instance(name, Path(options.data_dir), options)
        compared(name, Path(options.data_dir))
    return 0


if __name__ == "__main__":
    sys.exit(main())
