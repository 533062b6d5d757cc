"""What a budget buys, from a hundredth to ten times the time that greedy takes.

    OMP_NUM_THREADS=1 python benchmarks/budgets.py --data-dir DIR [--quick] [--out FILE.svg]

Every problem is solved with each budget by the default, by swaps and by greedy. An error is divided
by the best known, the lowest of all runs here and of a search of ten times greedy's time or two
seconds; and by that of randomly pivoted Cholesky with the same seed, or of groups at random.
"late" is how much longer a run took than its budget and 0.2 s or 20 % of it. Seconds are those of
the clock, so a machine that does nothing else is needed.
"""

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

import landmarks as lm
from paper.data import standardised

SHARES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of the time that greedy takes
METHODS = ("auto", "swap", "greedy")
LEAST = 0.005  # seconds of the smallest budget
LONGEST = 4.0  # seconds of greedy that a budget is in proportion to


@dataclass(frozen=True)
class Problem:
    """A name, a function that makes what is given to `select`, k, and more arguments."""

    name: str
    make: Callable[[], Any]
    k: int
    words: Callable[[], dict[str, Any]] = dict


def points(n: int, d: int, scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng(n + d).standard_normal((n, d))


def walks(m: int, n: int) -> np.ndarray:
    return np.cumsum(np.random.default_rng(m).standard_normal((m, n)), axis=0)


def tall() -> np.ndarray:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30_000, 40)) @ (rng.standard_normal((40, 200)) * 0.8 ** np.arange(200))
    return X + 0.1 * rng.standard_normal(X.shape)


def counts() -> Any:
    return scipy.sparse.random_array((4000, 1500), density=0.03, rng=np.random.default_rng(5))


def problems(data_dir: str | None) -> Iterator[Problem]:
    def real(name: str) -> Callable[[], Any]:
        return lambda: lm.data(standardised(name, data_dir))

    def rows(name: str, sigma: float, count: int) -> Callable[[], Any]:
        return lambda: lm.kernel(standardised(name, data_dir)[:count], lm.rbf(sigma))

    def rbf(n: int, d: int, sigma: float) -> Callable[[], Any]:
        return lambda: lm.kernel(points(n, d), lm.rbf(sigma))

    frobenius, noisy = {"criterion": "frobenius"}, {"noise": 0.1}
    for name, k in (("digits", 20), ("residential", 40), ("arrhythmia", 100), ("mnist1k", 100)):
        yield Problem(name, real(name), k)
    yield Problem("residential", real("residential"), 20, lambda: frobenius)
    yield Problem("arrhythmia", real("arrhythmia"), 50, lambda: frobenius)
    yield Problem("walks 200 × 4000", lambda: lm.data(walks(200, 4000)), 30)
    yield Problem("walks 200 × 4000, noise", lambda: lm.data(walks(200, 4000)), 30, lambda: noisy)
    yield Problem("normal 100 × 6000", lambda: lm.data(points(100, 6000)), 40)
    yield Problem("normal 100 × 6000", lambda: lm.data(points(100, 6000)), 40, lambda: frobenius)
    yield Problem("tall 30000 × 200", lambda: lm.data(tall()), 20)
    yield Problem("tall 30000 × 200", lambda: lm.data(tall()), 20, lambda: frobenius)
    yield Problem("sparse 4000 × 1500", lambda: lm.data(counts()), 50)
    yield Problem("rows of mnist1k, σ = 20", rows("mnist1k", 20.0, 1000), 100)
    yield Problem("rows of mnist1k, σ = 20", rows("mnist1k", 20.0, 1000), 50, lambda: frobenius)
    for n, d, sigma, k in (
        (1000, 3, 1.0, 60),
        (2000, 8, 4.0, 100),
        (3000, 3, 0.5, 100),
        (5000, 8, 4.0, 100),
        (9000, 3, 1.0, 90),
        (12000, 6, 2.0, 100),
        (20000, 3, 1.0, 200),
    ):
        yield Problem(f"{n} points in {d}-D", rbf(n, d, sigma), k)
    for n, d, sigma, k in ((1500, 4, 1.0, 60), (4000, 3, 1.0, 60)):
        yield Problem(f"{n} points in {d}-D", rbf(n, d, sigma), k, lambda: frobenius)
        yield Problem(f"{n} points in {d}-D", rbf(n, d, sigma), k, lambda: noisy)
    target = {"target": points(200, 5)}
    yield Problem("walks 200 × 1000, target", lambda: lm.data(walks(200, 1000)), 30, lambda: target)
    grouped = {"groups": np.arange(61) // 3}
    yield Problem("digits, groups of 3", real("digits"), 8, lambda: grouped)
    volume = {"criterion": "logdet", "noise": 0.1}
    yield Problem("2000 points in 3-D", rbf(2000, 3, 1.0), 60, lambda: volume)
    yield Problem("9000 points in 3-D", rbf(9000, 3, 1.0), 60, lambda: volume)


def solved(problem: Problem, method: str, budget: float | None, seed: int = 0) -> tuple[Any, float]:
    """The selection, and the seconds of the clock."""
    A, words = problem.make(), problem.words()
    start = time.perf_counter()
    s = lm.select(A, problem.k, method=method, budget=budget, seed=seed, **words)
    return s, time.perf_counter() - start


def drawn(problem: Problem) -> float:
    """The error of a draw: randomly pivoted Cholesky with the same seed, or groups at random."""
    words = problem.words()
    if "groups" in words:
        groups = words["groups"]
        picks = np.random.default_rng(0).permutation(np.unique(groups))[: problem.k]
        chosen = np.flatnonzero(np.isin(groups, picks))
        return lm.select(problem.make(), problem.k, include=chosen.tolist(), **words).error()
    chosen = lm.select(problem.make(), problem.k, method="rpcholesky").indices
    included = dict(words, method="greedy", include=chosen.tolist())
    return lm.select(problem.make(), problem.k, **included).error()


def rows_of(problem: Problem) -> Iterator[dict[str, Any]]:
    """What each method reaches with each budget."""
    words = problem.words()
    criterion = words.get("criterion", "trace")
    base = "greedy" if "groups" not in words else "knapsack"
    unit = solved(problem, base, None)[1]
    if unit < LONGEST:  # the first may have loaded what it needs
        unit = min(unit, solved(problem, base, None)[1])
    unit = min(LONGEST, unit)
    draw_error = drawn(problem)
    best = solved(problem, "auto", max(2.0, 10 * unit))[0].error()
    found = []
    for method in METHODS:
        if "groups" in words and method != "auto":
            continue
        for share in SHARES:
            budget = max(LEAST, share * unit)
            s, seconds = solved(problem, method, budget)
            found.append(
                {
                    "method": method,
                    "share": share,
                    "error": s.error(),
                    "draw": draw_error,
                    "late": seconds - budget - max(0.2, 0.2 * budget),
                    "greedy": unit,
                    "criterion": criterion,
                }
            )
            best = min(best, found[-1]["error"])
    whole = abs(best) if criterion == "logdet" else best
    for row in found:
        row["gap"] = (row["error"] - best) / whole
        row["over draw"] = (row["error"] - row["draw"]) / abs(row["draw"])
        row["over draw"] *= abs(row["over draw"]) > 1e-9
    return iter(found)


def draw(found: dict[tuple[str, float], list[dict[str, Any]]], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for method in METHODS:
        gaps = [100 * np.mean([r["gap"] for r in found[method, share]]) for share in SHARES]
        axes.plot(SHARES, np.add(gaps, 0.01), "o-", label=method)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="budget, in units of the time that greedy takes",
        ylabel="mean gap to the best known, % + 0.01",
    )
    axes.legend(frameon=False)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir")
    parser.add_argument("--quick", action="store_true", help="every fourth problem")
    parser.add_argument("--only", help="problems whose name contains this")
    parser.add_argument("--out", help="where to draw the picture")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found = defaultdict(list)
    rises = []
    listed = list(problems(arguments.data_dir))[:: 4 if arguments.quick else 1]
    print(
        "| problem | k | criterion | greedy s | gap % by budget, auto | above the draw % | late s |"
    )
    print("|---|---|---|---|---|---|---|")
    for problem in listed:
        if arguments.only and arguments.only not in problem.name:
            continue
        rows = list(rows_of(problem))
        for row in rows:
            found[row["method"], row["share"]].append(row)
        gaps = [row["gap"] for row in rows if row["method"] == "auto"]
        lowest = np.minimum.accumulate(gaps)
        rises.append(max(np.max(np.subtract(gaps[1:], lowest[:-1])), 0.0))
        shown = " ".join(f"{100 * gap:.2f}" for gap in gaps)
        over = 100 * max(row["over draw"] for row in rows)
        late = max(row["late"] for row in rows)
        print(
            f"| {problem.name} | {problem.k} | {rows[0]['criterion']} | {rows[0]['greedy']:.3f} "
            f"| {shown} | {over:+.2f} | {late:+.2f} |",
            flush=True,
        )
    print("\n| method | " + " | ".join(f"{share:g}" for share in SHARES) + " |")
    print("|---" * (len(SHARES) + 1) + "|")
    for method in METHODS:
        gaps = [100 * np.mean([row["gap"] for row in found[method, share]]) for share in SHARES]
        print(f"| {method} | " + " | ".join(f"{gap:.2f}" for gap in gaps) + " |")
    every = [row for rows in found.values() for row in rows]
    print(
        f"\n{len(every)} runs: {sum(row['over draw'] > 0 for row in every)} above the draw, "
        f"{sum(row['late'] > 0 for row in every)} late, the latest by "
        f"{max(row['late'] for row in every):.2f} s; the largest rise with a longer budget "
        f"{100 * max(rises):.2f} %"
    )
    if arguments.out:
        draw(found, arguments.out)


if __name__ == "__main__":
    main()
