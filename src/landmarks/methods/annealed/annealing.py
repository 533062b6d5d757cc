"""The annealing of leverages: the loop behind the method `annealed`, for any matrix that gives the diagonals of C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...problem import Problem
from ...relaxation_path import Recorder
from ...runs.journal import Loop, Variables
from .covariance import Covariance, Diagonals, jump_gains, without_own
from .entropic import entropic

FULL, EMPTY = (
    0.95,
    0.01,
)  # leverages beyond these count as these: C stays well conditioned and the active set small
SMALLEST = 1e-8  # of the variance of a column given the others, relative to the mean diagonal of K
TIES = 1e-3  # random offsets of the log gains, so that equal columns part


@dataclass(frozen=True)
class Schedule:
    """How far and how fast: the settings of `Annealed` without what they leave open."""

    n_steps: int
    damping: float
    phi0: float
    phi1: float
    gamma: float

    def spreads(self) -> np.ndarray:
        """The wanted spread of each step, falling geometrically."""
        return np.geomspace(self.phi0, self.phi1, self.n_steps)


def anneal(
    problem: Problem,
    K: Covariance,
    indices: np.ndarray,
    schedule: Schedule,
    rng: np.random.Generator,
    recorder: Recorder,
) -> np.ndarray:
    """The leverages p of the columns at the indices, whose matrix is K.

    Columns that the problem includes keep p = 1 and those it excludes p = 0; the others share what is left of k.
    """
    free, k = np.flatnonzero(np.isin(indices, problem.free)), problem.k - len(problem.include)
    p = np.isin(indices, problem.include).astype(float)
    p[free] = k / max(1, len(free))
    floor = SMALLEST * float(np.mean(K.diagonal)) or 1.0
    cubes, cut = problem.criterion == "frobenius", min(EMPTY, k / (2 * max(1, len(free))))
    offsets = TIES * rng.standard_normal(K.n)
    v, spreads = Variables(p=p, c0=K.diagonal, step=0), schedule.spreads()
    with Loop("annealed", v, recorder) as loop:
        while v.step < schedule.n_steps:
            d = weights(v.p, schedule.gamma * np.maximum(v.c0, floor), cut)
            diagonals = K.diagonals(d, cubes=cubes)
            v.c0 = diagonals.c / without_own(diagonals.c, d)
            v.p[free] += schedule.damping * (
                entropic(_scores(diagonals, d, offsets)[free], k, spreads[v.step]) - v.p[free]
            )
            recorder.add(
                np.sqrt(v.p[d > 0]),
                indices[d > 0],
                float(np.sum(diagonals.a if cubes else diagonals.c)),
                0,
            )
            v.step += 1
            if loop.turn(v.step, schedule.n_steps) or problem.time_left <= 0:
                break
    return v.p


def weights(p: np.ndarray, delta: np.ndarray, cut: float = EMPTY) -> np.ndarray:
    """d = p/((1 − p) δ), the paper's t²/((1 − t²) δ); leverages up to the cut weigh nothing."""
    q = np.minimum(p, FULL)
    return np.where(q > cut, q / ((1 - q) * delta), 0.0)


def _scores(diagonals: Diagonals, d: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    gains = jump_gains(diagonals, d)
    floor = max(1e-12 * float(np.max(gains)), np.finfo(float).tiny)
    return np.log(np.maximum(gains, floor)) + offsets
