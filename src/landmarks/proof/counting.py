"""All choices of a node in turn, in C: those that may be the best, or nearly the best, are listed.

With C and CΩC of a node at hand the last two picks are a scan of pairs, at some 5 ns a choice on
one core. Each gain has a margin for rounding (`counting.c`). What lies within the margin of the
best is listed, and computed in 106 bits by the caller. Where rounding hides too much, or without a
compiled library, there is no count, and `Tree` searches.
"""

from __future__ import annotations

import ctypes
import math
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import combinations, combinations_with_replacement
from pathlib import Path

import numpy as np

from .._library import load
from ..linalg.dependence import dependent
from ..runs.runner import Step, report, run, stopped
from ..runs.state import State
from .node import Node, Powers
from .tree import Tree

SECONDS = (6e-9, 5e-9, 14e-9)  # for each choice, by the depth of the objective, on one core
DEEPEST = 64  # picks that counting.c has places for
LISTED = 4096  # choices that may be listed
SURE = 1e-9  # nats that rounding may add to a log determinant
PART = 0.1  # seconds between two looks at the clock
MOST = 1000.0  # estimated seconds up to which choices are counted
NEAR = 1e-9  # 1 − r² of two columns that may be exactly proportional

Pointer, Whole, Real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double


class Count(ctypes.Structure):
    """What is counted, as counting.c sees it."""

    _fields_ = [
        ("n", Whole),
        ("r", Whole),
        ("depth", Whole),
        ("repeats", Whole),
        ("tighten", Whole),
        ("capacity", Whole),
        ("C", Pointer),
        ("Q", Pointer),
        ("R", Pointer),
        ("noise", Pointer),
        ("spread", Pointer),
        ("top", Real),
        ("threshold", Real),
        ("keep", Real),
        ("found", Pointer),
        ("gains", Pointer),
        ("margins", Pointer),
        ("listed", Whole),
        ("choices", Whole),
        ("lost", Whole),
        ("full", Whole),
    ]


@cache
def library() -> ctypes.CDLL | None:
    """The compiled functions; None where they were not compiled, or cannot be used."""
    path = Path(__file__).parent / "compiled" / "counting.so"
    if not path.exists():
        return None
    try:
        loaded = load(path, ("size_of_count", "count_choices"))
        for name in ("size_of_count", "count_choices"):
            getattr(loaded, name).restype = Whole
        if loaded.size_of_count() != ctypes.sizeof(Count):
            raise OSError(f"{path} expects another Count than counting.py")
    except OSError as error:
        reason = f"choices are not counted in C, so proofs take longer: {error}"
        warnings.warn(f"{reason}; install landmarks again to compile it", stacklevel=2)
        return None
    return loaded


def choices(n: int, r: int, repeats: bool) -> int:
    """How many choices of r of n candidates there are."""
    return math.comb(n + r - 1, r) if repeats else math.comb(n, r)


def counting_seconds(n: int, r: int, depth: int, repeats: bool) -> float:
    """An estimate of the seconds that a count takes; infinite where there can be none."""
    if not 2 <= r <= DEEPEST or library() is None:
        return math.inf
    return min(choices(n, r, repeats), 10**30) * SECONDS[depth]


@dataclass
class Progress(State):
    """How many parts of the walk are done, the threshold, and what was listed."""

    done: int = 0
    threshold: float = 0.0
    found: list[list[int]] = field(default_factory=list)
    uppers: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Counted:
    """The choices that may gain the threshold, and whether all were looked at.

    below : no other choice has an error below this one.
    """

    choices: list[list[int]]
    below: float
    complete: bool


def counted(
    tree: Tree, error: float, *, tighten: bool = True, every: bool = False
) -> Counted | None:
    """Count the choices of a problem whose error may be below the given one.

    tighten : whether a better choice lowers that error, so that only the best are listed. every :
        whether columns that are multiples of others count too. None where rounding hides too much.
    """
    problem = tree.problem
    state, unknown = tree.root.pick_all(problem.include)
    r = problem.k - (len(problem.include) if tree.repeats else len(set(problem.include)))
    candidates = separate(tree, problem.choosable, every)
    if unknown or candidates is None or library() is None:
        return None
    if not 1 <= r <= DEEPEST or (len(candidates) < r and not tree.repeats):
        return None
    node = Node(state, candidates, r, tree.frobenius)
    gains, margin = node.powers.gains(), node.uncertainty
    threshold = node.error - error - margin
    if r == 1:
        single = [[int(j)] for j in candidates[gains >= threshold]]
        return Counted(single, error, True)
    order = np.argsort(-gains, kind="stable")
    powers = node.powers.ordered(order)
    candidates = candidates[order]
    now = Progress(threshold=threshold)
    walk = _Walk(powers, r, 2 if tree.frobenius else 1, tree.repeats, tighten, 2 * margin)

    def steps() -> Iterator[Step]:
        parts = walk.parts()
        workers = max(1, min(os.cpu_count() or 1, 8))
        with ThreadPoolExecutor(workers) as pool:
            while now.done < len(parts):
                if problem.time_left <= 0 or stopped():
                    return
                some = parts[now.done : now.done + workers]
                for part in list(pool.map(partial(walk.part, threshold=now.threshold), some)):
                    walk.take(now, part)
                now.done += len(some)
                if walk.failed:
                    return
                yield Step(now.done, len(parts), tree.relative)

    ended = run("exact", steps(), now, deadline=problem.deadline)
    if walk.failed:
        return None
    complete = ended and now.done == len(walk.parts())
    tree.nodes += now.done
    listed = [[int(candidates[i]) for i in row] for row in now.found]
    below = max(0.0, node.error - now.threshold - margin)
    return Counted(listed, error if now.threshold == threshold else below, complete)


def best_of_all(tree: Tree) -> float:
    """A lower bound of the error over all choices; `tree.best` is the best one found.

    They are counted where that takes less than MOST seconds, else the tree is searched.
    """
    problem = tree.problem
    n, r = len(problem.choosable), problem.k - len(problem.include)
    depth = 2 if tree.frobenius else 1
    found = None
    if tree.cutoff <= 0:  # nothing is left to be better at
        return tree.search()
    if counting_seconds(n, r, depth, tree.repeats) <= min(MOST, problem.time_left):
        found = counted(tree, tree.cutoff)
    if found is None:
        return tree.search()
    state, _ = tree.root.pick_all(problem.include)
    for picks in found.choices:
        tree.offer(state, picks)
    return min(tree.closed, tree.doubt, found.below) if found.complete else 0.0


def counted_volumes(
    powers: Powers, r: int, known: float, within: float = 0.0, over: Callable[[], bool] = stopped
) -> list[list[int]] | None:
    """The choices of r whose log determinant may be within so many nats of the largest.

    known : the log determinant of one of them. None where rounding hides too much, or `over` says
    that the time is.
    """
    if not 2 <= r <= DEEPEST or len(powers.first) < r or library() is None:
        return None
    walk = _Walk(powers, r, 0, powers.repeats, within == 0, SURE)
    now = Progress(threshold=known - within - SURE)
    for done, prefix in enumerate(walk.parts()):
        walk.take(now, walk.part(prefix, now.threshold))
        if walk.failed or over():
            return None
        report("exact", done + 1, len(walk.parts()))
    return now.found


def separate(tree: Tree, free: np.ndarray, every: bool = False) -> np.ndarray | None:
    """The candidates without those that others are multiples of, as exact numbers.

    None where rounding hides whether a candidate depends on what is included.
    """
    state, _ = tree.root.pick_all(tree.problem.include)
    doubtful = state.doubtful[free]
    if not all(state.represented(int(j)) for j in free[doubtful]):
        return None
    left = free[~doubtful]
    if every or state.pair.noise is not None:  # a second measurement of the same is worth something
        return left
    C, c = state.matrix, state.diagonal
    alike = 1 - C[np.ix_(left, left)] ** 2 / np.outer(c[left], c[left]) <= NEAR
    kept: list[int] = []
    for i, j in enumerate(left):
        others = [int(left[o]) for o in np.flatnonzero(alike[i, :i]) if int(left[o]) in kept]
        picks = list(state.picks)
        if not any(dependent(state.columns[:, [*picks, o, int(j)]]) for o in others):
            kept.append(int(j))
    return np.asarray(kept, dtype=np.int64)


class _Walk:
    """The numbers of a node for C, and the parts into which its choices are divided."""

    def __init__(
        self, powers: Powers, r: int, depth: int, repeats: bool, tighten: bool, keep: float
    ):
        self.n, self.r, self.depth, self.repeats = len(powers.first), r, depth, repeats
        self.tighten, self.failed, self.top = tighten, False, float(powers.top)
        self.keep = keep
        spread = np.sqrt(powers.rounding * powers.first)
        given = (powers.C, powers.C2, powers.C3, powers.noise, spread)
        self.arrays = [
            None if a is None else np.ascontiguousarray(a, dtype=np.float64) for a in given
        ]
        self._parts: list[tuple[int, ...]] | None = None

    def parts(self) -> list[tuple[int, ...]]:
        """The first picks of each part, so many that a part takes a tenth of a second."""
        if self._parts is None:
            length = 0
            while length < self.r - 2 and (
                counting_seconds(self.n, self.r - length, self.depth, self.repeats) > PART
            ):
                length += 1
            first = combinations_with_replacement if self.repeats else combinations
            most = self.n if self.repeats else self.n - (self.r - length)
            self._parts = list(first(range(most), length))
        return self._parts

    def part(self, prefix: tuple[int, ...], threshold: float) -> Count | None:
        """Count one part; what it lists is kept with it."""
        found = np.zeros((LISTED, self.r), dtype=np.int64)
        gains, margins = np.zeros(LISTED), np.zeros(LISTED)
        picks = np.asarray(prefix, dtype=np.int64)
        C, Q, R, noise, spread = (None if a is None else a.ctypes.data for a in self.arrays)
        count = Count(
            n=self.n,
            r=self.r,
            depth=self.depth,
            repeats=int(self.repeats),
            tighten=int(self.tighten),
            capacity=LISTED,
            C=C,
            Q=Q,
            R=R,
            noise=noise,
            spread=spread,
            top=self.top,
            threshold=threshold,
            keep=self.keep,
            found=found.ctypes.data,
            gains=gains.ctypes.data,
            margins=margins.ctypes.data,
        )
        loaded = library()
        if loaded is None:
            return None
        done = loaded.count_choices(
            ctypes.byref(count), Pointer(picks.ctypes.data), Whole(len(picks))
        )
        count.kept = found[: count.listed], gains[: count.listed] + margins[: count.listed]
        return count if done else None

    def take(self, now: Progress, part: Count | None) -> None:
        """Take in what a part has listed; forget what fell behind."""
        if part is None or part.lost or part.full:
            self.failed = True
            return
        if self.tighten:
            now.threshold = max(now.threshold, part.threshold)
        rows, uppers = part.kept
        now.found += rows.tolist()
        now.uppers += uppers.tolist()
        kept = [i for i, upper in enumerate(now.uppers) if upper >= now.threshold]
        now.found = [now.found[i] for i in kept]
        now.uppers = [now.uppers[i] for i in kept]
        self.failed = len(now.found) > LISTED
