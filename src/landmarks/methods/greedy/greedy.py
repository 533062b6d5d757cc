"""Greedy selection: each pick lowers the error most; K is never stored.

Farahat, Ghodsi and Kamel, AISTATS (2011) and ICDM (2013), with diag C and diag C² updated from one
product with K and one column per pick. If rounding may hide a better column, gains are computed
from the column itself. Products are in float32 as long as that leaves few columns in doubt
(`leading_digits`).

`pursue` is the loop. Methods that score columns in another way run it with `Gains` of their own.
"""

import abc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._array import Array, first_argmax, host, like, namespace, positions, take
from ...errors import warn_user
from ...operators.base import in_parts, in_single, product_seconds
from ...problem import (
    PLACED,
    SEARCHED,
    Choice,
    Problem,
    brief,
    check_criterion,
    complete,
    lowered,
)
from ...residual.powers import best_addition
from ...residual.residual import Residual, filled
from ...runs.runner import Step, cut_short, run
from ...runs.state import State
from ..sampling.rpcholesky import pivots as draws
from ..sampling.rpcholesky import quick_draw

WIDTH = 10  # columns that are drawn at a time once the time is up
EXACT = 180.0  # estimated seconds that exact gains of a kernel in parts on workers may take
DOUBTFUL = 64  # most columns that are recomputed at a pick; with more, products switch to float64


@dataclass(frozen=True)
class Greedy:
    """Add, one at a time, the column that lowers the error most.

    For points on the workers of a cluster, gains that take too long are estimated, with a warning.

    Parameters
    ----------
    gain : the criterion that each pick lowers most. None is that of the problem, and "trace" for
        "frobenius": it costs one product per pick, and even its Frobenius error was lower on
        average than with "frobenius", which takes two per pick and n products at the start.

    Examples
    --------
    >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2, method=lm.Greedy()).indices.tolist()
    [1, 2]
    """

    gain: str | None = None
    honours: ClassVar[frozenset[str]] = SEARCHED | PLACED
    improves: ClassVar[bool] = True
    __repr__ = brief

    def __post_init__(self) -> None:
        check_criterion(self.gain, "gain")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        depth = lowered(problem, self.gain or problem.objective.cheaper, "gain").depth
        if not problem.affords_search(depth):
            cut_short()
            return quick_draw(problem, rng)
        if depth == 1 and too_long_in_parts(problem):
            from .nuclear import NuclearScores  # which is made of this file

            return NuclearScores().choose(problem, rng)
        residual = Residual(problem.searched, problem.k)
        return pursue(problem, residual, ErrorGains(residual, depth))


def too_long_in_parts(problem: Problem) -> bool:
    """Whether exact gains take too long for a kernel in parts on workers; the user is told."""
    parts, objective = in_parts(problem.operator), problem.objective
    if parts is None or parts.vectors_here or problem.constraints:
        return False
    seconds = 1.2 * problem.k * product_seconds(problem.operator)
    if seconds <= EXACT or not (objective.plain and objective.shares):
        return False
    warn_user(
        f"exact gains of {problem.operator.n} points would take an estimated {seconds:.0f} s of "
        "the workers' time; they are estimated from 100 probes, as by method='nuclear'"
    )
    return True


class Gains(State, abc.ABC):
    """The worth of each column given the picks so far."""

    @abc.abstractmethod
    def scores(self) -> Array:
        """The n scores, zero for columns already represented."""

    def best(self, allowed: Array) -> int | None:
        """The allowed column to pick next; None if no column gains anything."""
        return highest(self.scores() * allowed)

    @abc.abstractmethod
    def update(self, v: Array) -> None:
        """Update after C became C − v vᵀ; the residual already holds the new C."""


def pick_best(residual: Residual, gains: Gains, allowed: Array, limit: int) -> bool:
    """Pick the column with the best score; returns False if no column gains anything."""
    best = gains.best(allowed)
    if best is None:
        return False
    gains.update(residual.pick(best))
    return True


Advance = Callable[[Residual, Any, Array, int], bool]


def pursue(
    problem: Problem,
    residual: Any,
    gains: Any,
    name: str = "greedy",
    advance: Advance = pick_best,
) -> Choice:
    """Pick what must be included, then the best, until k are picked or all columns are represented.

    When it is stopped, or the deadline has passed, the rest is drawn by what is left of each column
    (randomly pivoted Cholesky): scores that stand still would choose neighbours of one good column.
    For a target the scores choose the rest, since what is left of a column says nothing of that.

    advance : makes the next pick, or several at once.
    """
    allowed = open_places(problem, residual, [])
    steps = picked(problem, residual, gains, allowed, advance)
    ended = run(name, steps, residual, gains, deadline=problem.deadline)
    if ended or problem.constraints:
        return Choice(complete(problem, residual.picks))
    if residual.pair.standard and "columns" in residual.operator.cheap:
        rest = residual.open_to(problem)
        for _ in draws(problem, residual, rest, WIDTH, np.random.default_rng(0)):
            pass
        return Choice(complete(problem, residual.picks))
    scores = np.where(host(allowed) > 0, host(gains.scores()), -np.inf)
    return Choice(filled(problem, residual.picks, scores))


def picked(
    problem: Problem, residual: Any, gains: Any, allowed: Any, advance: Advance
) -> Iterator[Step]:
    """The picks, one or several at a step; those that must be included come before the first."""
    for j in problem.include[len(residual.picks) :]:
        gains.update(residual.pick(j))
    changing = problem.constraints or residual.pair.noise is not None
    while len(residual.picks) < problem.k:
        if changing:
            allowed = open_places(problem, residual, residual.picks)
        if not advance(residual, gains, allowed, problem.k - len(residual.picks)):
            return
        yield Step(len(residual.picks), problem.k, residual.share_of(problem))


def open_places(problem: Problem, residual: Any, picks: list[int]) -> Array | None:
    """1 for the candidates that may be picked next, 0 for all other columns.

    None if the residual is in parts, which know it themselves.
    """
    if not isinstance(residual, Residual):
        return None
    allowed = np.zeros(residual.operator.n)
    if problem.constraints:
        allowed[: problem.operator.n] = problem.addable(picks)
    else:
        allowed[problem.choosable] = 1.0
        if not problem.objective.repeats:
            allowed[picks] = 0.0
    return like(allowed, residual.operator.like)


class ErrorGains(Gains):
    """How much each column would lower the error; gains that rounding may hide are checked.

    rough : whether products with fewer digits still serve.
    """

    def __init__(self, residual: Residual, depth: int = 1):
        self.residual = residual
        self.powers = residual.powers(depth)
        plain = residual.pair.weights is None and depth == 1
        self.rough = plain and in_single(residual.operator) is not None

    def scores(self) -> Array:
        """A lower bound on the gain of every column; zero for those already represented."""
        return self.powers.gains()

    def best(self, allowed: Array) -> int | None:
        """The column of the largest gain."""
        if self.rough:
            self._settle(allowed)
        return best_addition(self.powers, allowed, self._recompute, self._refresh)

    def _settle(self, allowed: Array) -> None:
        """Compute the doubtful gains from C itself; if there are many, switch to float64."""
        least = float(namespace(allowed).max(self.powers.gains() * allowed))
        doubtful = np.flatnonzero(host(self.powers.gains(1.0) * allowed > least))
        if len(doubtful) > DOUBTFUL:
            self.rough = False
            self._refresh()
        elif len(doubtful) > 1:
            C = self.residual.source.columns(doubtful)
            xp = namespace(C)
            c = xp.linalg.diagonal(take(C, doubtful))
            self.powers.correct(positions(doubtful, C), [c, xp.sum(C * C, axis=0)])

    def _recompute(self, j: int) -> list[float]:
        """The entries of the diagonals at j from the column of C itself."""

        def product(u: Array) -> Array:
            return self.residual.matmul(self.residual.pair.weighed(u)[:, None])[:, 0]

        return self.powers.entries(j, self.residual.source.columns([j])[:, 0], product)

    def _refresh(self) -> None:
        if "columns" in self.residual.operator.cheap:
            self.powers.set(self.residual.source.diagonals(len(self.powers.diagonals) - 1))

    def update(self, v: Array) -> None:
        """The diagonals after C became C − v vᵀ; the residual already holds the new C."""
        pair, powers = self.residual.pair, len(self.powers.diagonals)
        if powers == 1:
            self.take_in([v])
            return
        alpha = pair.dot(v, v)
        if self.rough:
            Cv, off = self.residual.leading_digits(v[:, None])
            self.take_in([v, Cv[:, 0] + alpha * v], off)
            return
        x = [v, self.residual.matmul(pair.weighed(v)[:, None])[:, 0] + alpha * v]
        if powers == 3:
            Cp = self.residual.matmul(pair.weighed(x[1])[:, None])[:, 0]
            x.append(Cp + pair.dot(v, x[1]) * v)
        self.take_in(x)

    def take_in(self, x: list[Array], off: float = 0.0) -> None:
        """The update with x = [v, CΩv, (CΩCΩv)], C before the pick; off as for `Powers.change`."""
        self.powers.change(-1.0, x, off)
        self.powers.diagonals[0] = self.residual.diagonal
        j, noise = self.residual.picks[-1], self.residual.pair.noise
        if noise is None or noise[j] == 0:
            self.powers.clear(j)


def highest(scores: Array) -> int | None:
    """The first of the highest scores, None where none is positive."""
    j = first_argmax(scores)
    return j if float(scores[j]) > 0 else None


def over_diagonal(values: Array, residual: Residual) -> Array:
    """values / diag C where C_jj is above rounding, else zero."""
    xp = namespace(values)
    c = residual.diagonal
    left = residual.left
    return xp.where(left, values / xp.where(left, c, xp.ones_like(c)), xp.zeros_like(c))
