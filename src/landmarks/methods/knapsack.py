"""Groups of columns, or columns with costs, within limits on their number and total cost.

Two greedy choices, by gain and by gain per cost: for monotone submodular gains the better of the
two is within (1 − 1/e)/2 of the best (Leskovec et al., KDD 2007, after Khuller, Moss and Naor, Inf.
Process. Lett. 70, 1999). The trace is only nearly submodular (Das and Kempe, ICML 2011), so
exchanges follow, which never increase the error.
"""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from .._array import (
    Array,
    eps,
    first_argmax,
    host,
    is_single,
    like,
    namespace,
    represented,
    take,
    zeros,
)
from ..allowed import Allowed
from ..errors import RankWarning
from ..linalg.error import squared_residual, total
from ..operators.base import block_width
from ..operators.forms import Factored
from ..operators.pair import Pair
from ..problem import SEARCHED, Choice, Problem, Trial, brief, complete
from ..residual.base import error_rounding
from ..residual.explicit import Explicit
from ..residual.factors import Factors, factorise
from ..residual.loading import ENOUGH
from ..residual.residual import FromK, Panel, floor
from ..runs.runner import Step, cut_short, passes_of, run, saved_result, stopped
from ..runs.state import State

SMALL = 3000  # up to this many columns, many greedy choices are affordable
FIRSTS = 30  # number of units tried as the first of a greedy choice
PAIRS = 2000  # up to this many pairs of chosen units, one unit is tried in place of two
REFILLED = 100  # up to this many pairs of chosen units, refilling greedily is tried


class Found(NamedTuple):
    """Chosen units, and the error of them."""

    chosen: tuple[int, ...]
    error: float


@dataclass(frozen=True)
class Knapsack:
    """Greedy by gain and by gain per cost, each improved by exchanges; the better is chosen.

    An exchange replaces one unit by the best one that fits. If costs differ, it may also replace
    two units, or fill up greedily. A unit is a group, or a column if there are no `groups`; without
    `costs` each unit costs one. Both criteria are supported, and columns of a group may be linearly
    dependent.

    Parameters
    ----------
    max_exchanges : exchanges after which to stop; None continues until none lowers the error.

    Examples
    --------
    >>> X = np.diag([3.0, 2.0, 2.0, 1.0])
    >>> lm.select(X, 1, groups=["a", "b", "b", "a"]).indices.tolist()
    [0, 3]
    >>> lm.select(X, costs=[5, 2, 2, 1], budget_cost=4).indices.tolist()
    [1, 2]
    """

    max_exchanges: int | None = None
    honours: ClassVar[frozenset[str]] = SEARCHED | {"groups", "costs"}
    __repr__ = brief

    def __post_init__(self) -> None:
        if self.max_exchanges is not None and self.max_exchanges < 0:
            raise ValueError(
                f"max_exchanges must be at least 0 or None, got {self.max_exchanges!r}"
            )

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        pair = problem.pair.searchable(problem.allowed.most_columns(1))
        units = Units(pair, problem.allowed, problem.objective.depth)
        exchanged = partial(self._run, problem, units)
        runs = [exchanged(*greedy_choice) for greedy_choice in _starts(problem, units)]
        if problem.allowed.uneven and _goes_on(problem):
            runs.append(exchanged("the best", _best(units, runs), several=True))
        columns = _columns(problem, list(_best(units, runs)))
        return Choice(columns, trials=tuple(trial for _, trial in runs))

    def _run(
        self,
        problem: Problem,
        units: Units,
        label: str,
        chosen: tuple[int, ...],
        several: bool = False,
    ) -> tuple[Found, Trial]:
        clock = time.perf_counter()
        ledger = units.operator.ledger
        before, most = ledger.products, self.max_exchanges
        found = _kept(lambda: exchange(problem, UnitState.of(units, chosen), several, most))
        error = found.error
        if not problem.objective.shares:
            columns = problem.allowed.columns(list(found.chosen))
            error = problem.objective.error(problem.operator, columns)
        return found, Trial(
            f"{label} > exchange",
            error,
            time.perf_counter() - clock,
            ledger.products - before,
        )


def _kept(work: Callable[[], Found]) -> Found:
    """What the work finds; a resumed run does not look for it again."""
    return saved_result("choice", work, tuple, lambda plain: Found(*plain))


def _goes_on(problem: Problem) -> bool:
    """Whether there is time for another start; if not, it is missed."""
    if problem.time_left <= 0:
        cut_short()
    return problem.time_left > 0 and not stopped()


def _best(units: Units, runs: list[tuple[Found, Trial]]) -> tuple[int, ...]:
    """The first of the lowest error; errors that differ by rounding alone are tied."""
    lowest = min(found.error for found, _ in runs)
    good = (found for found, _ in runs if found.error <= lowest + least_gain(units, found.error))
    return next(good).chosen


def _starts(problem: Problem, units: Units) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Greedy choices by gain, by gain per cost, and the two best ones after various first units."""
    start = UnitState.of(units, sorted(problem.allowed.fixed))
    yield "gain", _kept(lambda: greedy(start, False)).chosen
    if problem.allowed.uneven and _goes_on(problem):
        yield "gain per cost", _kept(lambda: greedy(start, True)).chosen
    gains = _gains(start)
    firsts = np.argsort(-gains, kind="stable")[: FIRSTS if units.operator.n <= SMALL else 0]
    seeded: dict[frozenset[int], Found] = {}
    for unit in firsts[gains[firsts] > 0].tolist():
        if _goes_on(problem):
            found = _kept(lambda unit=unit: greedy(start.added(unit), True))  # type: ignore[misc]
            seeded.setdefault(frozenset(found.chosen), found)
    for found in sorted(seeded.values(), key=lambda found: found.error)[:2]:
        yield "first unit, then gain per cost", found.chosen


def _columns(problem: Problem, chosen: list[int]) -> np.ndarray:
    """The columns of the choice; where fewer than k help, the first others too, with a warning."""
    if problem.costs is not None or problem.groups is None:
        columns = problem.allowed.columns(chosen)
        return columns if problem.costs is not None else complete(problem, columns)
    if missing := problem.k - len(chosen):
        warnings.warn(
            f"{len(chosen)} groups reach the numerical rank, fewer than k = {problem.k}; further "
            "groups add nothing",
            RankWarning,
            stacklevel=2,
        )
        chosen += [int(u) for u in np.flatnonzero(problem.allowed.addable(chosen))[:missing]]
    return problem.allowed.columns(chosen)


# Greedy choices of units: the one of the largest gain, or gain per cost, again and again.


def fill(state: UnitState, per_cost: bool, barred: tuple[int, ...] = ()) -> UnitState:
    """Add the unit of the largest gain, or gain per cost, while one helps, fits and is allowed."""
    while (unit := _next(state, per_cost, barred)) is not None:
        state = state.added(unit)
    return state


def _next(state: UnitState, per_cost: bool, barred: tuple[int, ...] = ()) -> int | None:
    costs: np.ndarray | float = 1.0
    if per_cost and not state.units.allowed.sized:  # what costs nothing comes first
        costs = state.units.allowed.costs
        costs = np.maximum(costs, 1e-12 * (float(np.max(costs)) or 1e12))
    gains = _gains(state, barred)
    unit = first_argmax(gains / costs)
    return unit if gains[unit] > 0 else None


def _gains(state: UnitState, barred: Sequence[int] = ()) -> np.ndarray:
    """The gain of every unit that may be added; zero for others."""
    fits = state.units.allowed.addable(list(state.chosen))
    fits[list(barred)] = False
    return np.where(fits, state.units.gains(state.stacks), 0.0)


class Growing(State):
    """A choice while units are added: all that a `UnitState` computes of it."""

    def __init__(self, state: UnitState):
        self.keep(state)

    def keep(self, state: UnitState) -> None:
        """Take over the numbers of a state."""
        self.chosen, self.F = list(state.chosen), state.F
        self.stacks, self.error = state.stacks, state.error

    def state(self, units: Units) -> UnitState:
        """The state of these numbers."""
        return UnitState(units, tuple(self.chosen), self.F, self.stacks, self.error)


def greedy(state: UnitState, per_cost: bool) -> Found:
    """What `fill` finds; a resumed run goes on with the units that were added."""
    growing, units = Growing(state), state.units

    def steps() -> Iterator[Step]:
        grown = growing.state(units)
        while (unit := _next(grown, per_cost)) is not None:
            grown = grown.added(unit)
            growing.keep(grown)
            yield Step(len(grown.chosen), None, share(units, grown.error))

    run("greedy", steps(), growing)
    filled = fill(growing.state(units), per_cost)
    return Found(filled.chosen, filled.error)


# Exchanges of units that lower the error of a choice within its limits.


@dataclass
class Exchanging(State):
    """A choice while units are exchanged, its error, and how many exchanges were made.

    tried : the moves that did not lower the error since the last exchange.
    """

    chosen: tuple[int, ...]
    error: float
    made: int = 0
    tried: int = 0


def exchange(problem: Problem, start: UnitState, several: bool, limit: int | None) -> Found:
    """Make the first move that lowers the error, until none does or the limit is reached.

    several : whether one unit may replace two, and others one or two.
    """
    now = Exchanging(start.chosen, start.error)
    steps = _exchanges(start, now, several, limit)
    if not run("exchange", steps, now, deadline=problem.deadline):
        cut_short()  # the next look for a move is missed
    return Found(now.chosen, now.error)


def _exchanges(
    start: UnitState, now: Exchanging, several: bool, limit: int | None
) -> Iterator[Step]:
    """One move at a step; what is kept of the choice is enough to go on from there."""
    units = start.units
    refilled = _removals(units.allowed, now.chosen, REFILLED) if several else []
    while now.tried <= len(refilled) and (limit is None or now.made < limit):
        yield Step(now.made, limit, share(units, now.error))
        if now.tried == 0:
            state = UnitState.of(units, now.chosen) if now.made else start
            singles = _removals(units.allowed, state.chosen, 0)
            better = _exchanged(state, singles)
            if better is None and several:  # one unit in place of two, where pairs are few
                pairs = _removals(units.allowed, state.chosen, PAIRS)[len(singles) :]
                better = _exchanged(state, pairs)
        else:
            better = _refilled(units, now, refilled[now.tried - 1])
        now.tried += 1
        if better is not None:
            now.chosen, now.error = better
            now.made, now.tried = now.made + 1, 0
            refilled = _removals(units.allowed, now.chosen, REFILLED) if several else []


def _removals(allowed: Allowed, chosen: Sequence[int], pairs: int) -> list[tuple[int, ...]]:
    """The units that may leave a choice, one by one; then two at a time, if at most so many."""
    loose = [u for u in chosen if u not in allowed.fixed]
    few = math.comb(len(loose), 2) <= pairs
    return [(u,) for u in loose] + (list(itertools.combinations(loose, 2)) if few else [])


def _exchanged(state: UnitState, removals: Sequence[tuple[int, ...]]) -> Found | None:
    """The choice after replacing a removal by the best unit, filled up; None if none helps."""
    best = 0.0
    chosen: list[int] | None = None
    for out in removals:
        without = state.without(out)
        gains = _gains(without, out)
        unit = first_argmax(gains)
        net = gains[unit] - (without.error - state.error)
        if net > max(best, least_gain(state.units, state.error, without.error)):
            best = net
            chosen = [*without.chosen, unit]
    return None if chosen is None else _if_better(state.units, state.error, chosen)


def _refilled(units: Units, now: Exchanging, out: tuple[int, ...]) -> Found | None:
    """The choice after taking out some units and filling up without them, if that helps."""
    remaining = UnitState.of(units, [u for u in now.chosen if u not in out])
    for per_cost in (False, True):
        filled = fill(remaining, per_cost, barred=out)
        better = _if_better(units, now.error, filled.chosen) if filled.error < now.error else None
        if better is not None:
            return better
    return None


def _if_better(units: Units, error: float, chosen: Sequence[int]) -> Found | None:
    """The chosen units from scratch, filled up; None unless they are better beyond rounding."""
    other = fill(UnitState.of(units, chosen), True)
    if other.error >= error - least_gain(units, error):
        return None
    return Found(other.chosen, other.error)


def share(units: Units, error: float) -> float | None:
    """An error over that of choosing nothing; None for a log determinant."""
    return error / (units.error or 1.0) if units.depth else None


def least_gain(units: Units, error: float, scale: float = 0.0) -> float:
    """What an exchange must gain at least: a share of the errors on the way, and no rounding."""
    tolerance = 1e-6 if is_single(units.operator.like) else 1e-9
    certain = 1e-12 if isinstance(units.operator, Factored) else tolerance
    rounding = error_rounding(units.operator, units.depth, error, units.error)
    return max(tolerance * abs(error) + certain * abs(scale), rounding)


# A choice of units with its residual: the gain of adding each unit, the cost of dropping it.
#
# The gain of a unit follows from the diagonal blocks of C, CΩC and CΩCΩC at its columns. With
# P = C_uu + N, picking unit u changes C to C − V Vᵀ with V = C_:u (P⁺)^½. So the trace falls by
# tr(P⁺ (CΩC)_uu), and the Frobenius error by 2 tr(P⁺ (CΩCΩC)_uu) − ‖(P⁺)^½ (CΩC)_uu (P⁺)^½‖²_F. For
# units of one column these are the gains of greedy selection. A column that the others of its unit
# represent has a zero eigenvalue in P and adds nothing. Columns are first scaled to what is left of
# their own length, so that small ones count like large ones.
#
# The log determinant of the chosen columns rises by log det P. Without noise, lengths are in a unit
# below all that can be left of a column: gains are positive, and choices of as many columns compare
# as before.


class Bucket(NamedTuple):
    """The units of one size: their numbers, and their columns, one row per unit."""

    units: np.ndarray
    columns: np.ndarray

    def rows(self, block: Array) -> Array:
        """The rows of an n × r block at each unit, stacked."""
        return namespace(block).reshape(
            take(block, self.columns.ravel()), (*self.columns.shape, block.shape[1])
        )


Stacks = list[list[Array]]  # blocks of C, CΩC (and CΩCΩC), a stack for each bucket and power


class Units:
    """The units that may be chosen, and the blocks of K and its powers at each of them.

    floor : what is left of a column that is represented. error : that of choosing nothing.
    """

    def __init__(self, pair: Pair, allowed: Allowed, depth: int):
        self.pair, self.operator = pair, pair.operator
        self.allowed, self.depth = allowed, depth
        sizes = np.array([len(members) for members in allowed.members])
        self.buckets = [
            Bucket(which, np.stack([allowed.members[u] for u in which]))
            for s in np.unique(sizes)
            for which in [np.flatnonzero(sizes == s)]
        ]
        self.floor = host(floor(self.operator, allowed.most)).astype(np.float64)
        self.log_unit = 0.0  # of squared lengths; with its noise a candidate has at least one
        if pair.noise is None:
            least = float(np.min(self.floor[: pair.n])) * eps(self.operator.like)
            self.log_unit = float(np.log(max(least, np.finfo(float).tiny)))
        if isinstance(self.operator, Factored):
            self.stacks, self.error = self.of_factor(self.operator.X)
            return
        passes, name = passes_of(self.operator.ledger), f"blocks of K, depth {depth}"
        if name not in passes:  # one pass over K; Frobenius takes a product per column
            passes[name] = self._of_columns(zeros((self.operator.n, 0), self.operator.like))
        self.stacks, self.error = passes[name], total(pair, depth) if depth else 0.0

    def of_residual(self, F: Array) -> tuple[Stacks, float]:
        """The blocks of C = K − F Fᵀ from its columns, where little is left of K, and the error."""
        if self.depth == 2:
            error = squared_residual(self.pair, F, block_width(self.operator))
        else:
            left = self.operator.diagonal() - namespace(F).sum(F * F, axis=1)
            error = self.pair.total(namespace(F).clip(left, min=0.0))
        return self._of_columns(F), error

    def _of_columns(self, F: Array) -> Stacks:
        """The blocks of C = K − F Fᵀ from its columns, some units at a time."""
        C, xp, found = FromK(self.pair, Panel(F, F.shape[1])), namespace(F), []
        for bucket in self.buckets:
            size, parts = bucket.columns.shape[1], []
            width = max(1, block_width(self.operator) // size)
            for start in range(0, len(bucket.columns), width):
                members = bucket.columns[start : start + width]
                columns = C.columns(members.ravel())
                weighted = self.pair.weighed(columns)
                sides = (
                    [columns, C.matmul(weighted)] if self.depth == 2 else [columns][: self.depth]
                )
                rows = Bucket(members, members).rows(columns)
                own = xp.stack([rows[i, :, i * size : (i + 1) * size] for i in range(len(members))])
                left = xp.matrix_transpose(_by_unit(weighted, members.shape))
                parts.append([own, *(left @ _by_unit(side, members.shape) for side in sides)])
            found.append([xp.concat(blocks) for blocks in zip(*parts, strict=True)])
        return found

    def of_factor(self, R: Array) -> tuple[Stacks, float]:
        """The blocks of C = RᵀR and its powers: sums of products of R, which lose no digits."""
        xp, T = namespace(R), namespace(R).matrix_transpose
        images = [R]
        gram = R @ self.pair.weighed(R.T)  # R Ω Rᵀ
        for _ in range(self.depth):
            images.append(gram @ images[-1])
        stacks = []
        for bucket in self.buckets:
            left = bucket.rows(R.T)
            stacks.append([left @ T(bucket.rows(image.T)) for image in images])
        error = float(xp.linalg.trace(gram)) if self.depth == 1 else float(xp.sum(gram * gram))
        return stacks, error if self.depth else 0.0

    def changed(
        self, stacks: Stacks, error: float, sign: float, x: list[Array]
    ) -> tuple[Stacks, float]:
        """Blocks and error when C becomes C + sign · V Vᵀ, with x = [V, CΩV, (CΩCΩV)].

        With x = [V] alone the error stays as it is.
        """
        xp, T, found = namespace(x[0]), namespace(x[0]).matrix_transpose, []
        if len(x) > 1:
            weighted = self.pair.weighed(x[0])
            G, H = x[0].T @ weighted, weighted.T @ x[1]
            change = sign * float(xp.linalg.trace(G))
            if len(x) == 3:
                change = 2 * sign * float(xp.linalg.trace(H)) + float(xp.sum(G * G))
            error = max(0.0, error + change)
        for bucket, stack in zip(self.buckets, stacks, strict=True):
            v, *images = (bucket.rows(block) for block in x)
            changes = [sign * (v @ T(v))]
            if images:
                p, vG = images[0], v @ G
                changes.append(sign * (p @ T(v) + v @ T(p)) + vG @ T(v))
            if len(images) == 2:
                q, pGv = images[1], p @ G @ T(v)
                own = q @ T(v) + v @ T(q) + p @ T(p) + vG @ T(vG)
                changes.append(sign * own + pGv + T(pGv) + v @ H @ T(v))
            found.append([block + part for block, part in zip(stack, changes, strict=True)])
        return found, error

    def gains(self, stacks: Stacks) -> np.ndarray:
        """By how much each unit would lower the error."""
        gains = np.zeros(self.allowed.count)
        for bucket, stack in zip(self.buckets, stacks, strict=True):
            gains[bucket.units] = host(self._gains(bucket, stack))
        return gains

    def _gains(self, bucket: Bucket, stack: list[Array]) -> Array:
        """tr(P⁺ A), or 2 tr(P⁺ B) − tr(P⁺ A P⁺ A), in the eigenvectors of each scaled block."""
        xp = namespace(stack[0])
        inverse, U = self.directions(stack[0], bucket.columns)
        if len(stack) == 1:
            whole = xp.all(inverse > 0, axis=1)[:, None]  # else the gain is zero: −∞ in truth
            lengths = xp.where(whole, xp.sum(U * U, axis=2) * inverse, xp.ones_like(inverse))
            return -xp.sum(xp.where(whole, xp.log(lengths) + self.log_unit, 0 * inverse), axis=1)
        A, last = (xp.matrix_transpose(U) @ block @ U for block in (stack[1], stack[-1]))
        along = xp.clip(xp.sum(inverse * xp.linalg.diagonal(last), axis=1), min=0.0)
        if len(stack) == 2:
            return along
        both = inverse[:, :, None] * inverse[:, None, :] * A * A
        return xp.clip(2 * along - xp.sum(both, axis=(1, 2)), min=0.0)

    def directions(self, C: Array, columns: np.ndarray) -> tuple[Array, Array]:
        """Λ⁺ and U with P⁺ = U Λ⁺ Uᵀ for a stack of blocks P = C_uu + N of the columns of units.

        Columns are scaled to what is left of their own length. Directions that rounding may have
        made get zero: what is left of a column is right to its floor.
        """
        xp, noise = namespace(C), self.pair.noise
        P = (C + xp.matrix_transpose(C)) / 2
        if noise is not None:
            identity = like(np.eye(columns.shape[1]), C)
            P = P + like(noise[columns], C)[:, :, None] * identity[None, :, :]
        least, left = like(self.floor[columns], C), xp.linalg.diagonal(P)
        there = left > least
        length = xp.where(there, left, xp.ones_like(left))
        if columns.shape[1] == 1:
            return xp.where(there, 1 / length, xp.zeros_like(left)), xp.ones_like(P)
        scale = xp.where(there, 1 / xp.sqrt(length), xp.zeros_like(left))
        values, U = xp.linalg.eigh(P * scale[:, :, None] * scale[:, None, :])
        doubt = xp.max(xp.where(there, least / length, xp.zeros_like(left)), axis=1)
        tolerance = columns.shape[1] * (represented(0, eps(C)) + doubt)
        kept = values > tolerance[:, None]
        safe = xp.where(kept, values, xp.ones_like(values))
        inverse = xp.where(kept, 1 / safe, xp.zeros_like(values))
        return inverse, scale[:, :, None] * U


def _by_unit(columns: Array, shape: tuple[int, ...]) -> Array:
    """n × (g s) columns as a stack of g blocks n × s."""
    xp = namespace(columns)
    return xp.permute_dims(xp.reshape(columns, (columns.shape[0], *shape)), (1, 0, 2))


class Basis(NamedTuple):
    """The independent ones among chosen columns, and F, CΩF (and CΩCΩF) of them."""

    factors: Factors
    images: list[Array]


@dataclass(frozen=True, eq=False)
class UnitState:
    """Chosen units, F with C = K − F Fᵀ, the blocks of C and the error. Changes make a new state.

    basis : of a state from scratch.
    """

    units: Units
    chosen: tuple[int, ...]
    F: Array
    stacks: Stacks
    error: float
    basis: Basis | None = None

    @classmethod
    def of(cls, units: Units, chosen: Sequence[int]) -> UnitState:
        """The state of some units from scratch: a product for each column, two for Frobenius."""
        pair, operator = units.pair, units.operator
        nothing = zeros((operator.n, 0), operator.like)
        if len(chosen) == 0:
            return cls(units, (), nothing, units.stacks, units.error)
        columns = units.allowed.columns(list(chosen))
        floors = host(floor(operator, len(columns)))
        if isinstance(operator, Factored):  # the residual is a matrix of its own
            source = Explicit(operator, len(columns), pair)
            kept, _ = source.load(columns, floors, len(columns))
            state = cls(units, tuple(chosen), nothing, *units.of_factor(source.R))
            duals = host(source.D)[:, : len(kept)]  # DᵀD = P_SS⁻¹
            R = np.diagonal(np.linalg.qr(duals, mode="r")) if units.depth == 0 else np.zeros(0)
        else:
            factors = factorise(pair, columns, floors[columns])
            F = factors.F
            x = [F]
            for _ in range(units.depth):
                x.append(operator.matmul(pair.weighed(x[-1])))
            changed = units.changed(units.stacks, units.error, -1.0, x)
            G = F.T @ pair.weighed(F)
            left = [F, *(image - F @ G for image in x[1:2])]
            if units.depth == 2:
                left.append(x[2] - x[1] @ G - F @ (F.T @ pair.weighed(left[1])))
            state = cls(units, tuple(chosen), F, *changed, Basis(factors, left))
            state, R = state._sharp(), 1 / np.diagonal(factors.factor)
        if units.depth > 0:
            return state
        if len(R) < len(columns):
            return replace(state, error=np.inf)
        volume = len(columns) * units.log_unit + 2 * float(np.sum(np.log(np.abs(R))))
        return replace(state, error=volume)  # −log det P_SS

    def added(self, unit: int) -> UnitState:
        """With one unit more: its columns of K and a product with each, two for Frobenius."""
        units, chosen = self.units, (*self.chosen, int(unit))
        if isinstance(units.operator, Factored):
            return UnitState.of(units, chosen)
        members = units.allowed.members[unit]
        left_over = FromK(units.pair, Panel(self.F, self.F.shape[1]))
        columns = left_over.columns(members)
        C = host(take(columns, members)).astype(np.float64)[None]
        inverse, U = units.directions(C, np.asarray(members)[None])
        left = inverse[0] > 0
        x = [columns @ like(U[0][:, left] * np.sqrt(inverse[0][left]), columns)]
        for _ in range(units.depth):
            x.append(left_over.matmul(units.pair.weighed(x[-1])))
        F = namespace(self.F).concat([self.F, x[0]], axis=1)
        stacks, error = units.changed(self.stacks, self.error, -1.0, x)
        if units.depth == 0:
            error = self.error - float(units.gains(self.stacks)[unit])
        return UnitState(units, chosen, F, stacks, error)._sharp()

    @property
    def faint(self) -> bool:
        """Whether so little of K is left that changes of the blocks have lost their digits."""
        depth = self.units.depth
        return depth > 0 and self.error <= ENOUGH**depth * self.units.error

    def _sharp(self) -> UnitState:
        """The same with blocks from the columns of C, where others have lost their digits."""
        if not self.faint or "columns" not in self.units.operator.cheap:
            return self
        stacks, error = self.units.of_residual(self.F)
        return replace(self, stacks=stacks, error=error)

    def without(self, out: Sequence[int]) -> UnitState:
        """A state from scratch without some units, for its gains; products only if it must."""
        units, rest = self.units, tuple(u for u in self.chosen if u not in out)
        columns = units.allowed.columns(list(self.chosen))
        if self.basis is None or self.faint or len(self.basis.factors.order) < len(columns):
            return UnitState.of(units, rest)  # what was superfluous may be needed now
        factors = self.basis.factors
        places = np.flatnonzero(np.isin(factors.order, units.allowed.columns(list(out))))
        root = np.linalg.cholesky(factors.inverse[np.ix_(places, places)])
        turn = factors.inverse_factor[:, places] @ np.linalg.inv(root).T
        x = [block @ like(turn, self.F) for block in self.basis.images]
        stacks, error = units.changed(self.stacks, self.error, 1.0, x)
        if units.depth == 0:
            logs = 2 * float(np.sum(np.log(np.diagonal(root))))
            error = self.error - len(places) * units.log_unit - logs
        return UnitState(units, rest, self.F[:, :0], stacks, error)
