"""Small hard problems, with the exact error of every choice."""

from __future__ import annotations

import time
import unittest.mock
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from contract.reference import Reference

import landmarks as lm
from landmarks.proof import certificate, climb, search
from landmarks.proof.search import Search
from landmarks.runs.runner import watching

KINDS = (
    *("normal", "wide", "graded", "graded rows", "sums", "copies", "rounded sums", "low rank"),
    *("near copies", "whole numbers", "single", "psd", "graded psd", "singular psd"),
)


@dataclass(frozen=True)
class Case:
    """A problem: its matrix (data, or K when `stored`), what to choose and the constraints."""

    kind: str
    A: np.ndarray
    stored: bool
    k: int
    criterion: str
    include: tuple[int, ...]
    exclude: tuple[int, ...]

    @property
    def operator(self) -> object:
        return lm.psd(self.A) if self.stored else lm.data(self.A, scale=False)

    @property
    def constraints(self) -> dict[str, tuple[int, ...]]:
        return {"include": self.include, "exclude": self.exclude}

    def select(self, method: object) -> lm.Selection:
        more = {"criterion": self.criterion, **self.constraints}
        return lm.select(self.operator, self.k, method=method, **more)


def draw(rng: np.random.Generator) -> Case:
    """A problem of a random kind, half of them with constraints."""
    kind = str(rng.choice(KINDS))
    n = int(rng.integers(3, 13))
    A, stored = matrix(kind, n, rng)
    k = int(rng.integers(1, min(4, n) + 1))
    include, exclude = (), ()
    if rng.random() < 0.5:
        order = [int(j) for j in rng.permutation(n)]
        include = tuple(order[: int(rng.integers(0, k))])
        exclude = tuple(order[k : k + int(rng.integers(0, n - k + 1))])
    criterion = "trace" if rng.random() < 0.6 else "frobenius"
    return Case(kind, A, stored, k, criterion, include, exclude)


def matrix(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, bool]:
    """The matrix of a kind, and whether it is K itself."""
    m = int(rng.integers(2, n + 1)) if kind == "wide" else int(rng.integers(n, 2 * n + 4))
    X = rng.standard_normal((m, n))
    some = rng.permutation(n)
    if kind == "graded":
        X = X * 10.0 ** rng.uniform(-5, 5, n)
    elif kind == "graded rows":
        X = X * np.geomspace(1, 10.0 ** -rng.uniform(1, 9), m)[:, None]
    elif kind in ("sums", "rounded sums"):
        X = np.round(X * 64) if kind == "sums" else X * 10.0 ** rng.uniform(-3, 3, n)
        X[:, some[0]] = X[:, some[1]] + X[:, some[2]]
    elif kind == "copies":
        X[:, some[0]] = X[:, some[1]] * 2.0 ** rng.integers(-3, 4)
    elif kind == "low rank":
        rank = int(rng.integers(1, n + 1))
        X = X[:, :rank] @ rng.standard_normal((rank, n))
    elif kind == "near copies":
        X[:, some[0]] = X[:, some[1]] + 10.0 ** -rng.uniform(4, 16) * X[:, some[0]]
    elif kind == "whole numbers":
        X = np.round(2 * X)
        X[0, 0] += not X.any()
    elif kind == "single":
        X = (X * 10.0 ** rng.uniform(-3, 3, n)).astype(np.float32)
    if "psd" not in kind:
        return X, False
    X = np.round(X * 2**20)
    if kind == "singular psd":
        X[:, some[0]] = X[:, some[1]] - X[:, some[2]]
    if kind == "graded psd":
        X = X * 2.0 ** rng.integers(-15, 15, n)
    return X.T @ X, True


def errors(case: Case) -> dict[frozenset[int], Fraction | float]:
    """The error of every choice."""
    name = "K" if case.stored else "X"
    reference = Reference(**{name: case.A}, criterion=case.criterion)
    left = [j for j in range(case.A.shape[1]) if j not in case.include + case.exclude]
    choices = [
        frozenset(case.include + more) for more in combinations(left, case.k - len(case.include))
    ]
    return {S: reference.error(S) for S in choices}


def faults(
    case: Case, selection: lm.Selection, known: dict[frozenset[int], Fraction | float]
) -> list[str]:
    """What is wrong with what a selection says of itself."""
    best, own = min(known.values()), known[frozenset(selection.indices.tolist())]
    wrong = []
    if selection.proved and own > best * (1 + Fraction(2, 10**9)):
        wrong.append(f"proved {float(own):.6g}, the best is {float(best):.6g}")
    if Fraction(selection.lower_bound()) > best:
        excess = float(Fraction(selection.lower_bound()) - best)
        wrong.append(f"bound {selection.lower_bound()!r} above the best by {excess:.3g}")
    return wrong


def dual_bound(case: Case, seconds: float) -> float:
    """What the dual bound, with branching, and the lookahead alone prove, without the search."""
    operator = case.operator
    start = lm.select(
        operator, case.k, method="greedy", criterion=case.criterion, **case.constraints
    )
    more = {"objective": case.criterion, "deadline": time.monotonic() + seconds}
    problem = lm.Problem(operator, case.k, **case.constraints, **more)
    with (
        unittest.mock.patch.object(certificate, "SEARCHED", -1),
        unittest.mock.patch.multiple(climb, MANY=0, BLOCK=(4, 4), CASE_STEPS=(4, 4)),
    ):
        found = certificate.certify(problem, start.indices, start._figure("error", None))
    power = operator.exponent * (2 if case.criterion == "frobenius" else 1)
    return float(np.ldexp(found.value, power))


def divided_bound(case: Case, steps: int) -> float:
    """What the search knows after so many steps, from no choice, dividing and not counting."""
    operator = case.operator
    found = Search(lm.Problem(operator, case.k, case.criterion, case.include, case.exclude))
    heard = []
    with (
        watching(lambda progress: heard.append(progress) or len(heard) >= steps),
        unittest.mock.patch.object(search, "PART", 0.0),
    ):
        bound = found.search()
    power = operator.exponent * (2 if case.criterion == "frobenius" else 1)
    return float(np.ldexp(bound, power))
