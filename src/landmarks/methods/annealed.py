"""Leverage mean-field annealing: a relaxation whose weights are leverages, cooled to k columns.

This is the paper's relaxation with a separate δ for each column, proportional to the variance of
that column given the others. Then p_j = t_j² is the leverage of column j, and the trace is linear
in it. Each step moves the leverages towards the entropic map of their log jump gains under Σp = k,
while the temperature decreases (docs/annealed.md).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import scipy

from .._array import (
    Array,
    add_outer,
    cholesky,
    column_dots,
    host,
    like,
    namespace,
    solve_triangular,
    take,
)
from ..errors import Stopped
from ..operators.forms import Factored, densify, searchable
from ..operators.pair import Pair
from ..problem import AIMED, Choice, Problem, brief, complete, lowered
from ..residual.order import greedy_order
from ..residual.residual import floor
from ..runs.runner import Step, cut_short, run
from ..runs.state import State
from .inner import restricted, saved
from .search.landscape import Landscape
from .search.local_search import descend, starting_choice
from .trajectory import Recorder

STEPS = 2  # steps that a budget must allow before a run begins
LARGEST = 3000  # columns that are weighed, unless X has few rows; of more a sample is
SAMPLED = 6  # columns of the sample, for each of k


@dataclass(frozen=True)
class Annealed:
    """Cool leverages p with Σp = k from all equal until k of them are near one.

    Parameters
    ----------
    n_steps : steps before the first column is fixed; 60 steps with between=4 take twice as long and
        choose no better on average.
    damping : how far a step goes towards the entropic map, as a fraction; if it is larger,
        near-duplicates oscillate together.
    phi0, phi1 : the spread Σp(1 − p) at the beginning and when the first columns are fixed,
        relative to that of equal leverages.
    fixed : the share of the remaining places that is fixed at a time.
    between : steps after each time that columns are fixed.
    sweeps : at the end swaps improve the choice, at most this many for each chosen column, and the
        better of this choice and that of greedy is kept. 0 skips both.
    gamma : δ_j divided by the variance of column j given the others; None is 1, or 1.5 for the
        Frobenius criterion.

    Examples
    --------
    >>> M = np.array([[4.0, 1.0, -2.0], [1.0, 4.0, -2.0], [-2.0, -2.0, 5.0]])
    >>> sorted(lm.select(lm.psd(np.linalg.inv(M)), 2, method=lm.Annealed()).indices.tolist())
    [0, 1]
    """

    n_steps: int = 40
    damping: float = 0.3
    phi0: float = 0.9
    phi1: float = 0.3
    fixed: float = 0.1
    between: int = 2
    sweeps: int = 4
    gamma: float | None = None
    honours: ClassVar[frozenset[str]] = AIMED
    improves: ClassVar[bool] = True
    __repr__ = brief

    def __post_init__(self) -> None:
        if self.n_steps < 1:
            raise ValueError(f"n_steps must be at least 1, got {self.n_steps}")
        if not 0 < self.damping <= 1:
            raise ValueError(f"damping must be above 0 and at most 1, got {self.damping!r}")
        if not 0 < self.phi1 <= self.phi0 <= 1:
            raise ValueError(
                "0 < phi1 <= phi0 <= 1 must hold, "
                f"got phi0 = {self.phi0!r} and phi1 = {self.phi1!r}"
            )
        if not 0 < self.fixed <= 1 or self.between < 0 or self.sweeps < 0:
            raise ValueError(
                "0 < fixed <= 1, between >= 0 and sweeps >= 0 must hold, "
                f"got {self.fixed!r}, {self.between!r} and {self.sweeps!r}"
            )
        if self.gamma is not None and not self.gamma > 0:
            raise ValueError(f"gamma must be positive or None, got {self.gamma!r}")

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        n, m = problem.operator.n, problem.operator.m
        order = n if m is None else min(m, n)  # of what every step factorises
        large = problem.pair.standard and n * order**2 > LARGEST**3
        if large:
            n = order = min(SAMPLED * problem.k, n)
        if not problem.affords(STEPS * n * order**2 * 1.5e-10):
            cut_short()
            raise Stopped("the time is too short for the first steps of an annealed run")
        found = problem
        if problem.pair.standard and not large:
            found = replace(problem, operator=searchable(problem.operator, problem.k))
        if self.sweeps and "columns" in found.operator.cheap:
            raw = saved("annealing", replace(self, sweeps=0)).choose(found, rng)
            return self._polished(found, raw, rng) if found.time_left > 0 else raw
        if large:
            drawn = rng.permutation(problem.free)[:n]
            sample = np.union1d(np.asarray(problem.include, dtype=np.int64), drawn)
            choice = self.choose(restricted(problem, sample), rng)
            return Choice(complete(problem, sample[choice.indices]))
        annealing = Annealing(found, self, rng)
        chosen, recorder = annealing.run(), annealing.recorder
        path = recorder.trajectory() if recorder.rows else None
        return Choice(complete(found, chosen), path=path)

    def _polished(self, problem: Problem, raw: Choice, rng: np.random.Generator) -> Choice:
        """Make swaps that pay, and keep greedy's choice if it is better all the same."""
        try:
            landscape = Landscape.of(problem)
        except Stopped:
            return raw
        starts = [raw.indices]
        if problem.objective.cheaper is not None:  # it leads further, as for swaps
            by_trace = Landscape.of(problem, lowered(problem, problem.objective.cheaper))
            traced = by_trace.state(raw.indices)
            descend(by_trace, traced, self.sweeps * problem.k)
            starts.append(by_trace.indices(traced.chosen, raw.indices))
        state = landscape.lowest(starts)[1]
        descend(landscape, state, self.sweeps * problem.k)
        greedy = starting_choice("greedy", problem, rng).indices
        if landscape.state(greedy).error < landscape.error(state):
            return replace(raw, indices=greedy, details={"kept": "greedy"})
        chosen = landscape.indices(state.chosen, raw.indices)
        ordered = greedy_order(problem, chosen) if problem.pair.standard else chosen
        return replace(raw, indices=ordered)


# Annealing of leverages, then decimation: fix the most certain columns, condition on them, repeat.
#
# Near-duplicates share one leverage, so several of them may be among the k largest. Fixing a few
# columns at a time and conditioning on them removes the gains of their neighbours at once. Mézard,
# Parisi and Zecchina, Science 297 (2002), fix variables in this way in constraint satisfaction.

FULL, EMPTY = 0.95, 0.01  # leverages beyond these count as these: C stays well conditioned
SMALLEST = 1e-8  # least variance of a column given the others, relative to the mean diagonal
TIES = 1e-3  # random offsets of the log gains, which separate equal columns
FEWEST = 3  # columns kept as candidates for each place
LOST = 0.5  # a column that lost this share of its variance to one just fixed is not fixed yet


class Annealing(State):
    """The leverages p of the columns, those that are fixed, and the matrix given these.

    K : the matrix, conditioned on what is fixed.
    allowed : whether each column may still be fixed.
    terms : of the objective, one for each column, as they were when last computed.
    """

    def __init__(self, problem: Problem, method: Annealed, rng: np.random.Generator):
        self.problem, self.method = problem, method
        self.K = K = covariance(problem.searched, problem.k, problem.objective.depth == 2)
        self.recorder = Recorder(problem.operator.n)
        self.gamma = method.gamma or (1.5 if K.cubes else 1.0)
        self.offsets = TIES * rng.standard_normal(K.n)
        self.allowed = np.isin(np.arange(K.n), problem.free)
        self.p, self.c0, self.terms = np.zeros(K.n), K.diagonal.copy(), np.zeros(K.n)
        self.narrowed, self.first = False, K.diagonal.copy()
        self.fixed: list[int] = []
        self.step = 0
        for j in sorted(problem.include):
            self.fix(j)
        self.spread_evenly()

    @property
    def places(self) -> int:
        """How many columns are still to be fixed."""
        return self.problem.k - len(self.fixed)

    @property
    def free(self) -> np.ndarray:
        """The candidates that may still be fixed."""
        open_to = self.allowed & (self.K.diagonal > self.K.floor)
        open_to[self.fixed] = False
        return np.flatnonzero(open_to)

    def spread_evenly(self) -> None:
        """All free candidates share the places that are left."""
        self.p[self.free] = min(1.0, self.places / max(1, len(self.free)))

    def fix(self, j: int) -> None:
        """Choose a candidate and condition on it."""
        self.K.condition(j)
        self.fixed.append(j)
        self.p[j] = 0.0

    def run(self) -> np.ndarray:
        """Anneal, then fix a share and anneal a little, until all places are taken; the choice."""
        if self.problem.time_left > 0:
            run("annealed", self.steps(), self, deadline=self.problem.deadline)
        rest = self._ranked()  # where the run was stopped, the most certain ones fill up
        chosen = np.concatenate([np.asarray(self.fixed, dtype=np.int64), rest])
        return chosen[: self.problem.k]

    def steps(self) -> Iterator[Step]:
        """One move of the leverages at a step, then one decimation with the moves after it."""
        spreads = np.geomspace(self.method.phi0, self.method.phi1, self.method.n_steps)
        while self.step < self.method.n_steps and self._goes_on():
            self.move(spreads[self.step])
            self.step += 1
            yield Step(len(self.fixed), self.problem.k)
        while self._goes_on():
            self.decimate()
            for _ in range(self.method.between if self.places > 0 else 0):
                self.move(spreads[-1])
            yield Step(len(self.fixed), self.problem.k)

    def _goes_on(self) -> bool:
        return self.places > 0 and len(self.free) > 0

    def move(self, spread: float) -> None:
        """One damped step of the leverages towards the entropic map of the log jump gains."""
        free, places = self.free, self.places
        if len(free) <= places:
            self.p[free] = 1.0
            return
        plain = self.problem.pair.standard  # else the sizes of candidates and target are unrelated
        floor = SMALLEST * (float(np.mean(self.K.diagonal)) if plain else self.first)
        floor = np.where(floor > 0, floor, 1.0)
        d = weights(self.p, self.gamma * np.maximum(self.c0, floor), self._cut(free))
        at = free if self.narrowed else np.arange(self.K.n)
        diagonals = self.K.diagonals(d, at)
        self.c0[at] = diagonals.c / without_own(diagonals.c, d[at])
        lengths = None if plain else self.first[at]
        gains = jump_gains(diagonals, d[at], lengths)
        least = max(1e-12 * float(np.max(gains)), np.finfo(float).tiny)
        scores = np.log(np.maximum(gains, least)) + self.offsets[at]
        target = entropic(scores[np.isin(at, free)], places, spread)
        self.p[free] += self.method.damping * (target - self.p[free])
        self.terms[at] = diagonals.a if self.K.cubes else diagonals.c
        value = float(np.sum(self.terms)) if diagonals.error is None else diagonals.error
        self.recorder.add(np.sqrt(self.p[d > 0]), np.flatnonzero(d > 0), value, 0)

    def _cut(self, free: np.ndarray) -> float:
        """The leverage up to which a column weighs nothing."""
        return min(EMPTY, self.places / (2 * max(1, len(free))))

    def decimate(self) -> None:
        """Fix the share with the largest leverages, none that resembles one just fixed."""
        count = max(1, round(self.method.fixed * self.places))
        before, taken = self.K.diagonal.copy(), 0
        for j in self._ranked():
            if taken == count:
                break
            if self.K.diagonal[j] > max(LOST * before[j], self.K.floor[j]):
                self.fix(int(j))
                taken += 1
        # columns without weight that the fixed ones represent well are candidates no longer
        rest = self._ranked()[FEWEST * self.places :]
        lost = self.K.diagonal[rest] < LOST * self.first[rest]
        self.allowed[rest[lost & (self.p[rest] <= self._cut(self.free))]] = False
        free = self.free
        self.p[np.setdiff1d(np.arange(self.K.n), free)] = 0.0
        self.narrowed = True
        whole = float(np.sum(self.p[free]))  # the leverages then sum to the places that are left
        if whole > 0:
            self.p[free] = np.minimum(self.p[free] * (self.places / whole), 1.0)
        else:
            self.spread_evenly()

    def _ranked(self) -> np.ndarray:
        """The free candidates by falling leverage; those that differ by rounding alone are tied."""
        free = self.free
        return free[np.argsort(-np.round(self.p[free], 9), kind="stable")]


def weights(p: np.ndarray, delta: np.ndarray, cut: float) -> np.ndarray:
    """d = p/((1 − p) δ), the paper's t²/((1 − t²) δ); leverages up to the cut weigh nothing."""
    q = np.minimum(p, FULL)
    return np.where(q > cut, q / ((1 - q) * delta), 0.0)


# The residual C = (K⁻¹ + D)⁻¹ of a weighted choice: leverages, and what each column would gain.
#
# docs/annealed.md has the formulas.


class Diagonals(NamedTuple):
    """c = diag C, a = diag CΩC and, for the Frobenius criterion, b = diag CΩCΩC, on the host.

    error : of a target, which the diagonals do not give; None otherwise.
    """

    c: np.ndarray
    a: np.ndarray
    b: np.ndarray | None = None
    error: float | None = None


class Covariance(State):
    """A matrix K that gives the diagonals of C for its n weights d ≥ 0, and can be conditioned.

    matrix : K, or X with K = XᵀX. floor : the diagonal entries at which a column counts as
    represented. cubes : whether b is asked for too.
    """

    def __init__(self, matrix: Array, floor: np.ndarray, pair: Pair, cubes: bool):
        self.matrix, self.floor, self.pair, self.cubes = matrix + 0.0, floor, pair, cubes
        self.n = matrix.shape[1]
        self.noise = np.zeros(self.n) if pair.noise is None else pair.noise
        self.aimed = not (cubes or pair.standard)
        self.diagonal = self._measured()

    def diagonals(self, d: np.ndarray, at: np.ndarray | None = None) -> Diagonals:
        """The diagonals of C at some columns, or at all, as `jump_gains` takes them.

        A candidate of the weight d is measured with noise of the variance ν + 1/d: it counts e.
        Without its own weight it has the variance v = c/(1 − e c) + ν, and choosing it gains
        (CΩC)_jj/(1 − e c)²/v.

        at : rising; columns of positive weight are among them.
        """
        at = np.arange(self.n) if at is None else at
        e = d / (1 + d * self.noise)
        c, a, cubes, error = self._of(e, at)
        c, a, b = _float64(c), _float64(a), None if cubes is None else _float64(cubes)
        if self.pair.standard:
            return Diagonals(c, a, b)
        d, e = d[at], e[at]
        own = without_own(c, e)
        alone = c / own + self.noise[at]
        rho = 1 / (1 + d * alone)
        gained = a * (rho / own) ** 2
        if b is not None:
            b = (rho / own) ** 2 * (b + e * a**2 / own) - d * gained**2 / rho
        return Diagonals(alone * rho, gained, b, error)

    def condition(self, j: int) -> None:
        """Column j is chosen: K becomes K − v vᵀ, v = K_:j/√K_jj."""
        if self.diagonal[j] > self.floor[j]:
            self._conditioned(j)
            self.diagonal = self._measured()
            self.diagonal[j] = 0.0

    @abstractmethod
    def _of(self, e: np.ndarray, at: np.ndarray) -> tuple[Array, Array, Array | None, float | None]:
        """c, a and b at some columns, and the error of a target."""

    @abstractmethod
    def _conditioned(self, j: int) -> None: ...

    @abstractmethod
    def _measured(self) -> np.ndarray:
        """The diagonal of K with the noise."""


def jump_gains(
    diagonals: Diagonals, d: np.ndarray, lengths: np.ndarray | float | None = None
) -> np.ndarray:
    """By how much the objective differs between column j out and in, the others as they are.

    lengths : of which the rounding is left of a column that the others represent; None is the
        largest residual.
    """
    rho = without_own(diagonals.c, d)
    c0 = diagonals.c / rho
    lengths = float(np.max(c0)) if lengths is None else lengths
    rounding = np.finfo(float).eps * np.asarray(lengths)
    c0 = np.maximum(c0, np.where(rounding > 0, rounding, 1.0))
    gains = diagonals.a / (rho**2 * c0)
    if diagonals.b is None:
        return gains
    return 2 * (diagonals.b + d * diagonals.a**2 / rho) / (rho**2 * c0) - gains**2


def without_own(c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """ρ = 1 − d c, so that c/ρ is diag C with the column's own weight taken away."""
    return np.maximum(1 - d * c, 1e-6)


class Stored(Covariance):
    """K as a stored matrix: C = K − GᵀG with G = L⁻¹ R K_A.

    A are the columns of positive weight, R² = Diag(e) and LLᵀ = I + R K_AA R.
    """

    def _measured(self) -> np.ndarray:
        return _float64(namespace(self.matrix).linalg.diagonal(self.matrix)) + self.noise

    def _of(self, e: np.ndarray, at: np.ndarray) -> tuple[Array, Array, Array | None, float | None]:
        K, xp, weighed = self.matrix, namespace(self.matrix), self.pair.weighed
        active = np.flatnonzero(e > 0)
        r = like(np.sqrt(e[active]), K)
        rows = r[:, None] * take(K, active)
        G = solve_triangular(shifted_factor(take(rows, active, axis=1) * r[None, :]), rows)
        b = None
        if len(at) == self.n:
            C = K - G.T @ G
            if self.cubes:
                b = column_dots(C, weighed(C).T @ weighed(C))
            c = xp.linalg.diagonal(C)
        else:
            C = take(K, at, axis=1) - G.T @ take(G, at, axis=1)
            if self.cubes:
                W = weighed(C)
                b = column_dots(W, K @ W - G.T @ (G @ W))
            c = xp.linalg.diagonal(take(C, at))
        error = None
        if self.aimed:
            error = self.pair.total(xp.linalg.diagonal(K) - xp.sum(G * G, axis=0))
        return c, column_dots(C, weighed(C)), b, error

    def _conditioned(self, j: int) -> None:
        column = self.matrix[:, j] + 0.0
        v = column / (float(column[j]) + float(self.noise[j])) ** 0.5
        add_outer(self.matrix, -v, v)


class ByFactor(Covariance):
    """K = XᵀX by a factor of few rows: C = PᵀP with P = L⁻¹X, LLᵀ = I + X Diag(e) Xᵀ."""

    def _measured(self) -> np.ndarray:
        self.gram: Array | None = None  # XΩXᵀ, made when it is used
        return _float64(column_dots(self.matrix, self.matrix)) + self.noise

    def _of(self, e: np.ndarray, at: np.ndarray) -> tuple[Array, Array, Array | None, float | None]:
        X, active = self.matrix, np.flatnonzero(e > 0)
        weighted = take(X, active, axis=1) * like(np.sqrt(e[active]), X)[None, :]
        L = shifted_factor(weighted @ weighted.T)
        P = solve_triangular(L, X if len(at) == self.n else take(X, at, axis=1))
        if self.gram is None:
            self.gram = X @ self.pair.weighed(X.T)
        inner = solve_triangular(L, solve_triangular(L, self.gram).T)  # PΩPᵀ
        Q = inner @ P
        error = float(np.trace(host(inner))) if self.aimed else None
        b = column_dots(Q, Q) if self.cubes else None
        return column_dots(P, P), column_dots(P, Q), b, error

    def _conditioned(self, j: int) -> None:
        xp, x, share = namespace(self.matrix), self.matrix[:, j], 1.0
        length = xp.sum(x * x)
        if self.noise[j] > 0:  # (I − β x xᵀ)² = I − x xᵀ/pivot
            share = 1 - float(np.sqrt(self.noise[j] / self.diagonal[j]))
        if float(length) > 0:
            q = x / xp.sqrt(length)
            self.matrix = self.matrix - (share * q)[:, None] * (q @ self.matrix)[None, :]


def covariance(pair: Pair, k: int, cubes: bool) -> Covariance:
    """K in the form that costs least: by its factor where that has few rows, else stored."""
    operator = pair.operator
    floors = host(floor(operator, k)).astype(np.float64)
    if isinstance(operator, Factored) or (operator.m is not None and 2 * operator.m < operator.n):
        return ByFactor(operator.factor(), floors, pair, cubes)
    return Stored(densify(operator), floors, pair, cubes)


def shifted_factor(matrix: Array) -> Array:
    """The Cholesky factor of I + matrix; of 10 I, 100 I, … where rounding left it indefinite."""
    identity = like(np.eye(matrix.shape[0]), matrix)
    factor, shift = cholesky(matrix + identity), 1.0
    while factor is None:
        shift *= 10.0
        factor = cholesky(matrix + shift * identity)
    return factor


def _float64(array: Array) -> np.ndarray:
    return np.maximum(host(array).astype(np.float64), 0.0)


# The entropic map: probabilities of independent columns that follow scores at a given spread.
#
# p_j = 1/(1 + exp(−(β x_j − ν))) maximises Σ p_j x_j plus entropy/β under Σ p = k. Here the spread
# Σ p(1 − p), which falls as β rises, is given instead of the temperature 1/β, so that the scores
# need no scale. Both are found by bisection, with Newton's step in place of the middle where it
# stays in the bracket.

ROOT_STEPS = 80  # most steps of a bracketed search


def entropic(scores: np.ndarray, k: int, spread: float) -> np.ndarray:
    """Probabilities p with Σ p = k and Σ p(1 − p) = spread · k (1 − k/n).

    Parameters
    ----------
    scores : the n scores x; only their differences matter, and not their scale.
    k : the sum of the probabilities, from 0 to n.
    spread : from near 0, where the k largest scores have p = 1, to 1, where every p is k/n. Where
        ties at the k-th score do not let the spread fall so far, it is the least there is.

    Examples
    --------
    >>> from landmarks.methods.annealed import entropic
    >>> entropic(np.array([3.0, 2.0, 1.0, 0.0]), 2, spread=1e-4).round(2).tolist()
    [1.0, 1.0, 0.0, 0.0]
    >>> entropic(np.array([3.0, 2.0, 1.0, 0.0]), 2, spread=1.0).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    n = len(scores)
    if k in (0, n) or spread >= 1 or np.ptp(scores) == 0:
        return np.full(n, k / max(1, n))
    x = (scores - np.mean(scores)) / np.std(scores)
    wanted = spread * k * (1 - k / n)
    low, high, log_beta, nu = -10.0, 30.0, 1.0, 0.0
    for _ in range(ROOT_STEPS):
        p, nu = _at_temperature(np.exp(log_beta) * x, k, nu)
        v = p * (1 - p)
        total = max(float(np.sum(v)), np.finfo(float).tiny)
        excess = np.log(total / wanted)
        if abs(excess) < 1e-4 or high - low < 1e-9:
            break
        low, high = (log_beta, high) if excess > 0 else (low, log_beta)
        slope = (
            np.exp(log_beta) * float(np.sum((1 - 2 * p) * v * (x - np.sum(v * x) / total))) / total
        )
        log_beta = _newton(log_beta, excess, slope, low, high)
    return p


def _at_temperature(u: np.ndarray, k: int, nu: float) -> tuple[np.ndarray, float]:
    """p = σ(u − ν) with Σ p = k, and ν, sought from the one given."""
    n = len(u)
    low, high = (
        float(np.min(u)) - np.log(k / (n - k)) - 1,
        float(np.max(u)) - np.log(k / (n - k)) + 1,
    )
    nu = min(max(nu, low), high)
    for _ in range(ROOT_STEPS):
        p = scipy.special.expit(u - nu)
        excess = float(np.sum(p)) - k
        if abs(excess) < 1e-10 * k:
            break
        low, high = (nu, high) if excess > 0 else (low, nu)
        nu = _newton(nu, excess, -float(np.sum(p * (1 - p))), low, high)
    return p, nu


def _newton(x: float, value: float, slope: float, low: float, high: float) -> float:
    """Newton's step to the root of a falling function; the middle where it leaves the bracket."""
    step = x - value / slope if slope < 0 else low
    return step if low < step < high else (low + high) / 2
