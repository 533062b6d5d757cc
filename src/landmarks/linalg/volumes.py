"""Upper bounds of log det K_SS over all S of k candidates, each from a dual feasible point.

A `Plane` bounds log det K_SS by a linear function of S, whatever S is, and its k largest slopes
bound all choices at once. Three relaxations, concave in x ∈ [0, 1]ⁿ with Σx = k, give planes:

* `Factorised`: with D K D = tI + BᵀB, det (D K D)_SS has the eigenvalues t + λ(Σ_S b_j b_jᵀ). For
  any Θ ≤ I/t with the eigenvalues θ_1 ≤ θ_2 ≤ …, log det (D K D)_SS is at most
  Σ_{i≤k} (tθ_i − 1 − log θ_i) + Σ_S b_jᵀΘb_j. This is the bound of Nikolov (2015) and of Li and Xie
  (2024), augmented by t as Li (2024) does; t > 0 always sharpens it. The lengths D are free, and
  D that makes DKD − tI of lower rank sharpens it much further.
* `Complemented`: log det K_SS = log det K + log det (K⁻¹)_RR for the rest R, so all this holds for
  K⁻¹ and n − k.
* `Linx` (Anstreicher 2020): ½(log det(γ K Diag(x) K + I − Diag(x)) − k log γ), and log det F is at
  most tr ΘF − n − log det Θ for any Θ > 0. It is its own complement.

What is returned is computed from Θ alone with every rounding error added, so that it holds however
roughly a relaxation was solved.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg
import scipy.optimize

EPS = 2.0**-53
STEPS = 100  # of the ascent on a relaxation
MEMORY = 8  # values that a step may fall below, but not all of them
POWERS = (0.0, 0.25, 0.5, 0.75)  # lengths that are tried first: those powers of diag K⁻¹
CLOSE = 0.05  # how close log γ of linx comes to the best


class Plane(NamedTuple):
    """log det K_SS ≤ constant + Σ_{j∈S} slopes_j, for all S of k."""

    constant: float
    slopes: np.ndarray

    def at(self, x: np.ndarray) -> float:
        return self.constant + float(self.slopes @ x)

    def highest(self, k: int, most: int = 1) -> float:
        """What no choice of k is above; each candidate may be chosen `most` times."""
        if most > 1:
            return self.constant + k * float(np.max(self.slopes)) + self._rounding
        top = np.partition(self.slopes, len(self.slopes) - k)[len(self.slopes) - k :]
        return self.constant + float(np.sum(top)) + self._rounding

    def fixed(self, k: int, value: float) -> tuple[np.ndarray, np.ndarray]:
        """Who is in every choice of k above a value, and who is in none: by reduced costs."""
        order = np.sort(self.slopes)[::-1]
        slack = self.highest(k) - value
        out = self.slopes < order[k - 1] - slack
        ins = self.slopes > (order[k] if k < len(order) else -np.inf) + slack
        return ins, out

    @property
    def _rounding(self) -> float:
        return 4 * len(self.slopes) * EPS * (abs(self.constant) + float(np.sum(abs(self.slopes))))


class Relaxation(Protocol):
    """A concave function of x that is log det K_SS at every choice, by its tangents."""

    def plane(self, x: np.ndarray) -> Plane: ...

    def on(self, K: np.ndarray, k: int, kept: np.ndarray) -> Relaxation:
        """The same with the same scaling for another matrix of some of the candidates."""


@dataclass(frozen=True, eq=False)
class Factorised:
    """The bound by factorisation of D K D − tI.

    lengths : log diag D. t : None is the smallest eigenvalue of D K D; with repeats, the noise.
    """

    K: np.ndarray
    k: int
    lengths: np.ndarray
    t: float | None = None

    @cached_property
    def scaled(self) -> np.ndarray:
        d = np.exp(self.lengths)
        return self.K * d[:, None] * d

    @cached_property
    def _parts(self) -> tuple[np.ndarray, float, np.ndarray]:
        """B, a number t' with D K D ≤ t'I + BᵀB, and the eigenvector of the smallest eigenvalue."""
        G, n = self.scaled, len(self.K)
        values, U = np.linalg.eigh(G)
        t = max(float(values[0]), 0.0) if self.t is None else self.t
        B = np.sqrt(np.maximum(values - t, 0.0))[:, None] * U.T
        left = G - B.T @ B
        left[np.diag_indices(n)] -= t
        missed = float(np.linalg.norm(left)) + 4 * (n + 8) * EPS * float(np.sum(B * B) + n * t)
        return B, t + missed, U[:, 0]

    def _thetas(self, values: np.ndarray, t: float) -> np.ndarray:
        """The eigenvalues of Θ that are best for falling eigenvalues of Σ x_j b_j b_jᵀ; k at least.

        Fewer candidates than k, which repeat, leave t alone in the directions that are missing.
        """
        values = np.append(values, np.zeros(max(0, self.k - len(values))))
        k, tails = self.k, np.cumsum(values[::-1])[::-1]
        means = tails[:k] / (k - np.arange(k))
        later = np.flatnonzero(values[:k] <= means * (1 + 1e-14))
        split = int(later[0]) if len(later) else k - 1
        levels = np.concatenate([values[:split], np.full(len(values) - split, means[split])])
        return 1 / np.maximum(t + levels, np.finfo(float).tiny)

    def on(self, K: np.ndarray, k: int, kept: np.ndarray) -> Factorised:
        return Factorised(K, k, self.lengths[kept], self.t)

    def plane(self, x: np.ndarray) -> Plane:
        B, t, _ = self._parts
        n = len(x)
        values, V = np.linalg.eigh((B * x) @ B.T)
        V = V[:, ::-1]
        turned = float(np.linalg.norm(V.T @ V - np.eye(n))) + n * n * EPS  # V is not quite a turn
        theta = self._thetas(np.maximum(values[::-1], 0.0), t) * (1 - 4 * turned)
        along = np.abs(V.T @ B) + 2 * (n + 2) * EPS * np.sqrt(np.sum(B * B, axis=0))
        slopes = (theta[:n] @ along**2) * (1 + 4 * n * EPS) - 2 * self.lengths
        first = theta[: self.k]
        constant = float(np.sum(t * first - 1 - np.log(first)))
        return Plane(constant + self.k * (8 * turned + 8 * n * EPS), slopes)

    def slope_of_lengths(self, x: np.ndarray) -> np.ndarray:
        """The derivative of the value at x by the log lengths; t follows as an eigenvalue."""
        _, t, first = self._parts
        roots = np.sqrt(x)
        G = self.scaled * roots[:, None] * roots
        values, Q = np.linalg.eigh(G - t * np.diag(x))
        theta = self._thetas(np.maximum(values[::-1], 0.0), t)[::-1]
        slope = 2 * np.einsum("ij,ij->i", (Q * theta) @ Q.T, G) - 2 * x
        return slope if self.t is not None else slope - np.sum(slope) * first**2


class Complemented:
    """The bound of another matrix, K⁻¹ or nearly so, for the n − k that are not chosen."""

    def __init__(self, K: np.ndarray, k: int, lengths: np.ndarray):
        L = np.linalg.inv(np.linalg.cholesky(K)).T
        J = L @ L.T
        n = len(K)
        with np.errstate(over="ignore"):
            norms = np.sqrt(np.sum(K * K)) * np.sqrt(np.sum(J * J))
        wrong = float(np.linalg.norm(np.eye(n) - K @ J)) + 4 * n * EPS * float(norms)
        if not wrong < 0.01:
            raise np.linalg.LinAlgError
        # K⁻¹ ≤ J/(1 − wrong), and log det K ≤ −log det J + n log(1 + wrong)
        self.volume = -2 * float(np.sum(np.log(np.diagonal(L)))) + 4 * n * wrong
        self.inner = Factorised(J * (1 + 2 * wrong), n - k, -lengths)

    def on(self, K: np.ndarray, k: int, kept: np.ndarray) -> Complemented:
        return Complemented(K, k, -self.inner.lengths[kept])

    def plane(self, x: np.ndarray) -> Plane:
        constant, slopes = self.inner.plane(1 - x)
        rounding = 4 * len(x) * EPS * (abs(self.volume) + float(np.sum(np.abs(slopes))))
        return Plane(constant + self.volume + float(np.sum(slopes)) + rounding, -slopes)

    def slope_of_lengths(self, x: np.ndarray) -> np.ndarray:
        return -self.inner.slope_of_lengths(1 - x)


@dataclass(frozen=True, eq=False)
class Linx:
    """Anstreicher's bound, with log γ."""

    K: np.ndarray
    k: int
    gamma: float

    def on(self, K: np.ndarray, k: int, kept: np.ndarray) -> Linx:
        return Linx(K, k, self.gamma)

    def plane(self, x: np.ndarray) -> Plane:
        n, A = len(x), np.exp(self.gamma / 2) * self.K
        F = (A * x) @ A + np.diag(1 - x)
        L = np.linalg.inv(np.linalg.cholesky(F)).T  # Θ = L Lᵀ, whatever L was meant to be
        wide = 2 * (n + 2) * EPS * np.sqrt(np.sum(L * L) * np.sum(A * A, axis=0))
        ins = np.sum((np.abs(L.T @ A) + wide) ** 2, axis=0) * (1 + 4 * n * EPS)
        outs = np.sum(L * L, axis=1)
        slopes = (ins - outs * (1 - 4 * n * EPS)) / 2 - self.gamma / 2
        constant = (float(np.sum(outs)) * (1 + 4 * n * EPS) - n) / 2
        return Plane(constant - float(np.sum(np.log(np.diagonal(L)))) + 4 * n * EPS * n, slopes)


class Solved(NamedTuple):
    """Where an ascent ended: a relaxation, the lowest plane there, its height, and x."""

    relaxation: Relaxation
    plane: Plane
    bound: float
    x: np.ndarray


def simplex(y: np.ndarray, k: int, most: int = 1) -> np.ndarray:
    """The point of 0 ≤ x ≤ most, Σx = k, next to y."""
    ends = np.sort(np.concatenate([y, y - most]))
    low, high = 0, len(ends) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.sum(np.clip(y - ends[middle], 0, most)) >= k:
            low = middle
        else:
            high = middle
    sums = [float(np.sum(np.clip(y - ends[i], 0, most))) for i in (low, high)]
    share = (sums[0] - k) / (sums[0] - sums[1]) if sums[0] > sums[1] else 0.0
    return np.clip(y - ends[low] - share * (ends[high] - ends[low]), 0, most)


def ascended(
    relaxation: Relaxation,
    x: np.ndarray,
    k: int,
    *,
    most: int = 1,
    steps: int = STEPS,
    tolerance: float = 1e-6,
    enough: float = -np.inf,
    until: Callable[[], bool] = lambda: False,
) -> Solved:
    """Maximise a relaxation by projected gradients (Birgin, Martínez and Raydan 2000).

    enough : a bound that need not be lowered further. tolerance : the same for the distance to the
    value of the relaxation, as a share of what is above `enough` where that is larger.
    """
    plane = relaxation.plane(x)
    best = Solved(relaxation, plane, plane.highest(k, most), x)
    values = [plane.at(x)]
    length = 1 / max(float(np.ptp(plane.slopes)), 1e-12)
    for _ in range(steps):
        above = max(0.0, values[-1] - enough) if np.isfinite(enough) else 0.0
        if best.bound <= enough or best.bound - max(values) <= max(tolerance, 0.1 * above):
            break
        way = simplex(x + length * plane.slopes, k, most) - x
        rise, step = float(plane.slopes @ way), 1.0
        if rise <= 1e-13 or until():
            break
        while True:
            new = relaxation.plane(x + step * way)
            value = new.at(x + step * way)
            if value >= min(values[-MEMORY:]) + 1e-4 * step * rise or step < 1e-4:
                break
            step *= 0.5
        bent = -float((new.slopes - plane.slopes) @ way) * step
        length = np.clip(step**2 * float(way @ way) / bent if bent > 0 else 1e6, 1e-6, 1e6)
        x, plane = x + step * way, new
        values.append(value)
        if (bound := plane.highest(k, most)) < best.bound:
            best = Solved(relaxation, plane, bound, x)
    return best


def lowest(
    K: np.ndarray,
    k: int,
    *,
    t: float | None = None,
    most: int = 1,
    rounds: int = 0,
    enough: float = -np.inf,
    until: Callable[[], bool] = lambda: False,
) -> Solved:
    """The lowest bound of the relaxations that suit a matrix, with scalings that are looked for.

    rounds : quasi-Newton steps on the lengths of `Factorised` and `Complemented`; 0 tries few.
    t : see `Factorised`. most : how often a candidate may be chosen.
    """
    n = len(K)
    words: dict[str, Any] = {"most": most, "tolerance": 1e-3, "enough": enough, "until": until}
    best = ascended(Factorised(K, k, np.zeros(n), t), np.full(n, k / n), k, **words)
    if until() or best.bound <= enough or n < 2 or t is not None:
        return best
    try:
        inverse = np.diagonal(scipy.linalg.cho_solve(scipy.linalg.cho_factor(K), np.eye(n)))
        lengths = np.log(np.maximum(inverse, np.finfo(float).tiny)) / 2
        lengths = lengths - np.mean(lengths)
    except np.linalg.LinAlgError:
        lengths = -np.log(np.diagonal(K)) / 2
    kinds: list[Callable[[np.ndarray], Relaxation]] = [lambda at: Factorised(K, k, at)]
    if k < n:
        kinds.append(lambda at: Complemented(K, k, at))
    one_left = n - k == 1  # the complement is then exact
    for kind in kinds if rounds or one_left else kinds[:1]:
        power, own = 0.0, best if kind is kinds[0] else None
        for p in POWERS if rounds else POWERS[2:3]:
            try:
                found = ascended(kind(p * lengths), best.x, k, **words)
            except np.linalg.LinAlgError:
                continue
            if own is None or found.bound < own.bound:
                own, power = found, p
        if own is not None and rounds and own.bound < best.bound + 1:
            own = relengthened(kind, power * lengths, own, k, rounds, words)
        best = min(best, own or best, key=lambda solved: solved.bound)
        if until() or best.bound <= enough:
            return best
    if rounds:
        values = np.linalg.eigvalsh(K)
        ends = np.log(np.maximum(values[[-1, 0]], 1e-12 * values[-1]))
        solved = [best]

        def linx(gamma: float) -> float:  # the height is convex in log γ
            if until():
                return solved[-1].bound
            with contextlib.suppress(np.linalg.LinAlgError):
                solved.append(ascended(Linx(K, k, gamma), best.x, k, **words))
                return solved[-1].bound
            return best.bound + n

        between = {"bounds": -2 * ends, "method": "bounded", "options": {"xatol": CLOSE}}
        scipy.optimize.minimize_scalar(linx, **between)
        best = min(solved, key=lambda found: found.bound)
    return best


def relengthened(
    kind: Callable[[np.ndarray], Relaxation],
    lengths: np.ndarray,
    best: Solved,
    k: int,
    rounds: int,
    words: dict[str, Any],
) -> Solved:
    """The bound with lengths D that are improved by quasi-Newton steps.

    The value is not smooth where the smallest eigenvalue of D K D is multiple; BFGS bears that.
    """
    found, until, enough = [best], words["until"], words["enough"]

    def value(at: np.ndarray) -> tuple[float, np.ndarray]:
        last = min(found, key=lambda solved: solved.bound)
        if until() or last.bound <= enough or np.max(np.abs(at)) > 300:
            return last.bound, np.zeros(len(at))
        relaxation = kind(at)
        here = ascended(relaxation, last.x, k, **words | {"steps": 30})
        found.append(here)
        return here.bound, relaxation.slope_of_lengths(here.x)  # type: ignore[attr-defined]

    scipy.optimize.minimize(value, lengths, jac=True, method="BFGS", options={"maxiter": rounds})
    return min(found, key=lambda solved: solved.bound)
