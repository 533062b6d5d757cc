"""A bootstrap sample of a problem with a target or noise: both are drawn as the data are."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._array import host
from ..linalg.aim import Aim
from ..operators.dense import Data
from ..operators.resample import Sample, resample
from ..problem import Problem


class AimedSample(NamedTuple):
    """A sample, and the aim on its candidates."""

    sample: Sample
    aim: Aim | None


def drawn(problem: Problem, rng: np.random.Generator) -> AimedSample:
    """A bootstrap sample of the rows or points, with what must be rebuilt from it."""
    aim, operator = problem.aim, problem.operator
    if aim is None:
        return AimedSample(resample(operator, rng, problem.include), None)
    if operator.m is not None and aim.target is not None:
        return _rows(problem, aim, aim.target, rng)
    sample = resample(operator, rng, problem.include)
    target = None if aim.target is None else _vectors(aim.target, sample.indices)
    return AimedSample(sample, _noisy(replace(aim, target=target), sample.indices))


def _rows(problem: Problem, aim: Aim, target: np.ndarray, rng: np.random.Generator) -> AimedSample:
    """The same rows of the data and of the target: they are drawn as one matrix."""
    n = problem.operator.n
    X = host(problem.operator.factor()).astype(np.float64)
    together = resample(Data(np.hstack([X, target])), rng)
    ours = np.flatnonzero(together.indices < n)
    theirs = np.argsort(together.indices)[n:]
    sample = Sample(together.operator.restrict(ours), together.indices[ours])
    B = host(together.operator.factor(theirs)).astype(np.float64)
    return AimedSample(sample, _noisy(replace(aim, target=B), sample.indices))


def _vectors(V: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The rows of V; where each candidate has a weight of its own, so has each one drawn."""
    alone = np.count_nonzero(V, axis=1) <= 1
    if np.all(alone) and np.all(np.count_nonzero(V, axis=0) <= 1):
        return np.diag(np.max(np.abs(V), axis=1)[indices])
    return V[indices]


def _noisy(aim: Aim, indices: np.ndarray) -> Aim:
    return aim if aim.noise is None else replace(aim, noise=aim.noise[indices])
