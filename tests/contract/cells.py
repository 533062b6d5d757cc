"""The table of the contract: what is minimised, how, with which limits, on what, by which door.

Each factor is one table, a line for each value. `cells()` lists combinations in which every pair of
values of two factors occurs, and `refusal` says which combinations must be refused, and with which
words. To promise something new, add a line or remove a refusal.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from contract.reference import Choice, Reference

import landmarks as lm
from landmarks import objectives

# What is minimised ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Objective:
    """The words for `select`; a target and a noise are made for each problem.

    target : "matrix" with the rows of data, "weights" or "vectors" for the candidates of a kernel.
    noise : "one" variance or one for "each" candidate.
    """

    criterion: str = "trace"
    target: str | None = None
    noise: str | None = None


OBJECTIVES = {name: Objective(name) for name in objectives.OBJECTIVES} | {
    "matrix": Objective(target="matrix"),
    "weights": Objective(target="weights"),
    "vectors": Objective(target="vectors"),
    "noise each": Objective(noise="each"),
    "matrix, noise": Objective(target="matrix", noise="one"),
    "vectors, noise": Objective(target="vectors", noise="each"),
    "frobenius, matrix": Objective("frobenius", target="matrix"),
    "logdet, noise each": Objective("logdet", noise="each"),
}
OBJECTIVES |= {f"{name}, noise": Objective(name, noise="one") for name in objectives.OBJECTIVES}

OF_DATA = {name for name, objective in OBJECTIVES.items() if objective.target == "matrix"}
OF_KERNELS = {
    name for name, objective in OBJECTIVES.items() if objective.target in ("weights", "vectors")
}
NOISY = {name for name, objective in OBJECTIVES.items() if objective.noise}
NEEDS = {
    name: {*objectives.OBJECTIVES[asked.criterion].needs} for name, asked in OBJECTIVES.items()
}
VOLUMES = {name for name, needed in NEEDS.items() if "logdet" in needed}
AIMED = (
    OF_DATA | OF_KERNELS | NOISY | {name for name, needed in NEEDS.items() if "target" in needed}
)

# How -----------------------------------------------------------------------------------------

METHODS = ["greedy", "swap", "iterated", "auto", "exact", "annealed", "knapsack", "pivoted_qr"]
METHODS += ["rpcholesky", "nuclear", "uniform", "continuous"]
SEARCHES = {"swap", "iterated", "auto", "exact", "annealed"}  # never worse than greedy
DESCENTS = {"swap", "iterated"}  # no single exchange lowers the error

# What may be chosen --------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """The words for `select` on n candidates, and what is done to the data first."""

    words: Callable[[int], dict[str, Any]]
    change: Callable[[np.ndarray], np.ndarray] = lambda X: X


def allowed_choices(words: dict[str, Any], n: int) -> Iterator[Choice]:
    """All choices that these words allow, their members in increasing order."""
    groups, costs, k = words.get("groups"), words.get("costs"), words.get("k")
    include, exclude = set(words.get("include", ())), set(words.get("exclude", ()))
    repeats = words.get("repeats", False)
    drawn: Any = itertools.combinations_with_replacement if repeats else itertools.combinations
    sizes = [k] if groups is None and costs is None else range(1, n + 1)
    for S in itertools.chain.from_iterable(drawn(range(n), size) for size in sizes):
        members = set(S)
        if not include <= members or members & exclude:
            continue
        if groups is not None and not whole_groups(members, groups, k):
            continue
        if costs is not None and sum(costs[j] for j in S) > words["budget_cost"]:
            continue
        if all(KEPT[type(one)](one, np.asarray(S)) for one in words.get("constraints", ())):
            yield S


def whole_groups(members: set[int], groups: list[Any], k: int | None) -> bool:
    """Whether the members are k complete groups."""
    labels = {groups[j] for j in members}
    complete = all(j in members for j in range(len(groups)) if groups[j] in labels)
    return complete and (k is None or len(labels) == k)


#: whether a choice satisfies a constraint on places, said without the package
KEPT: dict[type, Callable[[Any, np.ndarray], bool]] = {
    lm.MinDistance: lambda one, S: bool(
        np.all(np.diff(np.sort(one.coordinates[S, 0])) >= one.distance)
    ),
    lm.Regions: lambda one, S: (
        all(np.sum(one.labels[S] == name) <= most for name, most in one.at_most.items())
        and all(np.sum(one.labels[S] == name) == count for name, count in one.exactly.items())
    ),
}


def copies(X: np.ndarray) -> np.ndarray:
    """Three different columns at most: fewer than are asked for."""
    return X[:, np.arange(X.shape[1]) % 3]


def twins(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[:, 1] = X[:, 0]
    return X


def regions(n: int) -> lm.Regions:
    labels = np.array(["a", "b", "c"])[np.arange(n) % 3]
    return lm.Regions(labels, at_most={"a": 1}, exactly={"b": 1})


LIMITS = {
    "plain": Limits(lambda n: {"k": 3}),
    "include": Limits(lambda n: {"k": 3, "include": [4]}),
    "exclude": Limits(lambda n: {"k": 3, "exclude": [0, 5]}),
    "include, exclude": Limits(lambda n: {"k": 4, "include": [1, 6], "exclude": [3]}),
    "equal groups": Limits(
        lambda n: {"k": 2, "groups": [j // (2 if n % 2 == 0 else 3) for j in range(n)]}
    ),
    "groups": Limits(lambda n: {"k": 2, "groups": [min(j // 2, 3) for j in range(n)]}),
    "costs": Limits(lambda n: {"costs": [1.0 + (2 * j) % 3 for j in range(n)], "budget_cost": 4.0}),
    "distance": Limits(
        lambda n: {"k": 3, "constraints": [lm.MinDistance(np.arange(n) + 0.0, 2.0)]}
    ),
    "regions": Limits(lambda n: {"k": 3, "constraints": [regions(n)]}),
    "repeats": Limits(lambda n: {"k": 4, "repeats": True}),
    "repeats, regions": Limits(lambda n: {"k": 4, "repeats": True, "constraints": [regions(n)]}),
    "beyond the rank": Limits(lambda n: {"k": 4}, copies),
    "equal columns included": Limits(lambda n: {"k": 3, "include": [0, 1]}, twins),
}
GROUPED = {"equal groups", "groups", "costs"}
PLACED = {"distance", "regions", "repeats, regions"}
REPEATED = {"repeats", "repeats, regions"}

# On what -------------------------------------------------------------------------------------


def grid(rng: np.random.Generator, m: int, n: int, bits: int = 14) -> np.ndarray:
    """Normal numbers on a grid so coarse that XᵀX is exact in float64."""
    return np.round(np.ldexp(rng.standard_normal((m, n)), bits)) / 2.0**bits


def near(rng: np.random.Generator, close: float) -> np.ndarray:
    """Pairs of columns that differ by `close`, its square root and 1e-4."""
    X = grid(rng, 10, 8, 8)
    for j, t in zip((0, 2, 4), (close, close**0.5, 2.0**-13), strict=True):
        X[:, j + 1] = X[:, j] + t * grid(rng, 10, 1, 4)[:, 0]
    return X


def barely_reached(X: np.ndarray) -> np.ndarray:
    """The direction that the columns span least, as one column: a target that tells them apart."""
    X = X.astype(np.float64)
    U, sizes, _ = np.linalg.svd(X / np.maximum(np.linalg.norm(X, axis=0), 1e-300))
    return U[:, [int(np.sum(sizes > 1e-15)) - 1]]


def duplicated(rng: np.random.Generator) -> np.ndarray:
    X = grid(rng, 12, 9)
    X[:, 1], X[:, 5], X[:, 7] = X[:, 0], -2 * X[:, 3], 0.0
    return X


def smooth(rng: np.random.Generator) -> np.ndarray:
    x, c = np.linspace(0, 1, 20)[:, None], rng.uniform(0, 1, 10)
    return np.round(np.ldexp(np.exp(-((x - c) ** 2)), 20)) / 2.0**20


KINDS: dict[str, Callable[[np.random.Generator, bool], np.ndarray]] = {
    "tall": lambda rng, stored: grid(rng, 40, 9),
    "wide": lambda rng, stored: grid(rng, 6, 12),
    "graded": lambda rng, stored: grid(rng, 12, 9) * 2.0 ** np.linspace(-20, 20, 9).round(),
    "near": lambda rng, stored: near(rng, 2.0**-13 if stored else 2.0**-40),
    "duplicates": lambda rng, stored: duplicated(rng),
    "smooth": lambda rng, stored: smooth(rng),
    "float32": lambda rng, stored: grid(rng, 12, 9, 20).astype(np.float32),
}
WELL_CONDITIONED = {"tall", "wide", "float32"}

# Through which door --------------------------------------------------------------------------


def strided(X: np.ndarray) -> np.ndarray:
    """The same numbers, every other one of a larger array in both directions."""
    large = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan, dtype=X.dtype)
    large[::2, ::2] = X
    return large[::2, ::2]


def named(X: np.ndarray) -> dict[str, np.ndarray]:
    return {f"c{j}": column for j, column in enumerate(X.T)}


def pandas_frame(X: np.ndarray, folder: Path) -> Any:
    import pandas

    return pandas.DataFrame(named(X))


def polars_frame(X: np.ndarray, folder: Path) -> Any:
    import polars

    return polars.DataFrame(named(X))


def torch_tensor(X: np.ndarray, folder: Path) -> Any:
    import pytest

    return pytest.importorskip("torch").asarray(np.ascontiguousarray(X))


def dask_array(X: np.ndarray, folder: Path) -> Any:
    import dask.array

    return dask.array.from_array(X, chunks=(5, X.shape[1]))


def memory_map(X: np.ndarray, folder: Path) -> Any:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def csv_file(X: np.ndarray, folder: Path) -> Any:
    lines = [",".join(named(X)), *(",".join(map(repr, row)) for row in X.astype(float).tolist())]
    (folder / "X.csv").write_text("\n".join(lines) + "\n")
    return folder / "X.csv"


DOORS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "C order": lambda X, folder: np.ascontiguousarray(X),
    "Fortran order": lambda X, folder: np.asfortranarray(X),
    "strides": lambda X, folder: strided(X),
    "pandas": pandas_frame,
    "polars": polars_frame,
    "sparse": lambda X, folder: scipy.sparse.csc_array(X),
    "torch": torch_tensor,
    "psd": lambda X, folder: lm.psd(gram(X)),
    "kernel": lambda X, folder: lm.kernel(np.ascontiguousarray(X.T), kernel_of(X)),
    "dask": dask_array,
    "memory map": memory_map,
    "CSV": csv_file,
}
STORED = {"psd", "kernel", "dask"}  # K is given, or made first: a target is about the candidates


def gram(X: np.ndarray) -> np.ndarray:
    """K = XᵀX in the precision of X; the grids are coarse enough for it to be exact in float64."""
    wide = X.astype(np.float64)
    return (wide.T @ wide).astype(X.dtype)


def kernel_of(X: np.ndarray) -> Any:
    """A linear kernel where sizes differ by factors of a million, otherwise one that decays."""
    sizes = np.linalg.norm(X.astype(np.float64), axis=0)
    if sizes.max() > 1e5:
        return lm.linear()
    return lm.rbf(sigma=float(np.float32(np.median(sizes))))


def kernel_matrix(X: np.ndarray) -> np.ndarray:
    """What the kernel should be, by its formula."""
    points, h = X.T.astype(np.float64), kernel_of(X)
    if type(h) is type(lm.linear()):
        return points @ points.T
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    return np.exp(-distances / h.sigma**2)


# What must be refused ------------------------------------------------------------------------

AIMED_METHODS = {
    "greedy",
    "swap",
    "iterated",
    "auto",
    "exact",
    "annealed",
    "continuous",
    "knapsack",
}
PLACED_METHODS = {"greedy", "swap", "iterated", "auto", "exact"}
GROUP_METHODS = {"auto", "knapsack", "exact"}
FACTORS = {
    "objective": list(OBJECTIVES),
    "method": METHODS,
    "limits": list(LIMITS),
    "kind": list(KINDS),
    "door": list(DOORS),
}

#: combinations that are refused: the values of two factors, and words of the message
REFUSED: list[tuple[dict[str, set[str]], str]] = [
    # these ask for something that does not exist
    ({"objective": OF_DATA, "door": STORED}, "target must be n = "),
    ({"objective": OF_KERNELS, "door": set(DOORS) - STORED}, "target must have the m = "),
    ({"objective": set(OBJECTIVES) - NOISY, "limits": REPEATED}, "repeats=True needs noise"),
    (
        {"objective": VOLUMES, "method": {"annealed", "nuclear"}},
        'does not support criterion="logdet"',
    ),
    ({"objective": {"logdet"}, "limits": {"groups", "costs"}}, "compares choices of one size only"),
    # these are not done yet
    ({"objective": AIMED, "method": set(METHODS) - AIMED_METHODS}, "does not support"),
    ({"limits": GROUPED, "method": set(METHODS) - GROUP_METHODS}, "does not support"),
    ({"limits": PLACED, "method": set(METHODS) - PLACED_METHODS}, "does not support"),
]


@dataclass(frozen=True)
class Cell:
    """One value of each factor."""

    objective: str = "trace"
    method: str = "greedy"
    limits: str = "plain"
    kind: str = "tall"
    door: str = "C order"

    def __str__(self) -> str:
        return " | ".join((self.objective, self.method, self.limits, self.kind, self.door))

    @property
    def refusals(self) -> list[str]:
        """Words of the messages of which one must come; none where a choice must come."""
        return [
            words
            for factors, words in REFUSED
            if all(getattr(self, name) in values for name, values in factors.items())
        ]


def cells(seed: int = 0) -> list[Cell]:
    """Combinations in which every pair of values of two factors occurs.

    A pair that is refused gets one cell of its own, the others usual; every other pair occurs in a
    cell where a choice must come back. Built greedily: the first pair that is missing is completed
    in the way that brings most missing pairs along.
    """
    draw, names = random.Random(seed), list(FACTORS)  # noqa: S311 - the same table each time
    missing = {
        (a, x, b, y): None
        for a, b in itertools.combinations(names, 2)
        for x in FACTORS[a]
        for y in FACTORS[b]
    }
    listed, refused = [], []
    while missing:
        a, x, b, y = next(iter(missing))
        tried = (
            Cell(**{**{name: draw.choice(FACTORS[name]) for name in names}, a: x, b: y})
            for _ in range(200)
        )
        fitting = list(itertools.islice((cell for cell in tried if not cell.refusals), 20))
        if not fitting:
            door = "psd" if x in OF_KERNELS else "C order"
            refused.append(Cell(**{"door": door, a: x, b: y}))
            del missing[a, x, b, y]
            continue
        best = max(fitting, key=lambda cell: sum(pair in missing for pair in pairs(cell)))
        listed.append(best)
        for pair in pairs(best):
            missing.pop(pair, None)
    return listed + [cell for cell in refused if cell.refusals]


def pairs(cell: Cell) -> list[tuple[str, str, str, str]]:
    """All pairs of values of two factors that a cell tries."""
    tried = itertools.combinations(FACTORS, 2)
    return [(a, getattr(cell, a), b, getattr(cell, b)) for a, b in tried]


# The problem of a cell ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Posed:
    """What `select` is given, and what is right.

    Attributes
    ----------
    K : the stored matrix or the kernel matrix; None for data.
    words : the arguments of `select` that set the objective and the limits.
    allowed : all choices that the limits allow.
    """

    X: np.ndarray
    K: np.ndarray | None
    words: dict[str, Any]
    allowed: list[Choice]

    @cached_property
    def reference(self) -> Reference:
        """The exact errors."""
        B = V = self.words.get("target")
        if V is not None and V.ndim == 1:
            V = np.diag(np.sqrt(V))  # exact: the weights are squares
        return Reference(
            X=self.X if self.K is None else None,
            K=self.K,
            target=B if self.K is None else None,
            vectors=None if self.K is None else V,
            noise=self.words.get("noise"),
            criterion=self.words["criterion"],
        )

    @cached_property
    def best(self) -> Fraction | float:
        """The lowest error of an allowed choice."""
        return self.reference.best(self.allowed)

    @property
    def eps(self) -> float:
        return float(np.finfo(self.X.dtype).eps)

    @property
    def size(self) -> int:
        """How many numbers a sum adds up."""
        return sum(self.X.shape)

    def amplified(self, indices: Any) -> float:
        """How much the choice amplifies rounding: the condition of its independent members."""
        S = self.reference.independent(indices)
        noise = np.broadcast_to(self.words.get("noise", 0.0), (self.X.shape[1],))[S]
        if not S:
            return 1.0
        if self.K is None:
            part = np.vstack([self.X[:, S].astype(np.float64), np.diag(np.sqrt(noise))])
            return float(np.linalg.cond(part / np.linalg.norm(part, axis=0)))
        part = self.K[np.ix_(S, S)] + np.diag(noise)
        size = np.sqrt(part.diagonal())
        return float(np.linalg.cond(part / np.outer(size, size)))

    def may_lack_rank(self, indices: Any) -> bool:
        """Whether a warning that k is above the numerical rank is expected."""
        excluded = set(self.words.get("exclude", ()))
        left = [j for j in range(self.X.shape[1]) if j not in excluded]
        A = self.X[:, left].astype(np.float64)
        A = A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        rank = np.linalg.matrix_rank(A, tol=1e-6 if self.K is None else 1e-4)
        dependent = len(self.reference.independent(indices)) < len(set(indices))
        return bool(rank < len(indices) or dependent)


def pose(words: dict[str, Any], X: np.ndarray, K: np.ndarray | None = None) -> Posed:
    """The problem that `select` is given in these words, with X or with K."""
    words = {"criterion": "trace", **words}
    return Posed(X, K, words, list(allowed_choices(words, X.shape[1])))


@cache
def posed(objective: str, limits: str, kind: str, door: str) -> Posed:
    """The problem that cells of this objective, limits and kind share."""
    if door not in STORED | {"data"}:
        return posed(objective, limits, kind, "data")
    rng = np.random.default_rng(list(KINDS).index(kind))
    X = LIMITS[limits].change(KINDS[kind](rng, door in STORED))
    K = {"kernel": kernel_matrix, "data": lambda X: None}.get(door, gram)(X)
    sizes = np.sum(X.astype(np.float64) ** 2, axis=0) if K is None else K.diagonal()
    asked, n = OBJECTIVES[objective], X.shape[1]
    unit = 2.0 ** np.round(np.log2(np.median(sizes)))
    words: dict[str, Any] = {"criterion": asked.criterion, **LIMITS[limits].words(n)}
    if asked.target:
        words["target"] = {
            "matrix": grid(rng, len(X), 3, 10),
            "weights": rng.choice([0.0, 0.25, 1.0, 4.0], n),
            "vectors": grid(rng, n, 2, 10),
        }[asked.target]
    if asked.noise:
        words["noise"] = unit / 8 if asked.noise == "one" else 2.0 ** rng.integers(-12, 2, n) * unit
    return pose(words, X, K)
