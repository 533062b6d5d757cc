"""A search with a budget: a quick draw comes first, for a time that is over before there is better.

The draw also shows how fast K is read here, which corrects the estimates of all that follows. Where
the time is too short for a search of all candidates, samples of them are searched.
"""

from __future__ import annotations

import time
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from .._array import host
from ..errors import Stopped
from ..operators.base import on_workers, product_seconds, stored_up_to
from ..operators.forms import form_made, search_seconds
from ..problem import Choice, Problem, Trial, lowered
from ..runs.runner import cut_short, timed
from .inner import Chooser, saved
from .sampling.rpcholesky import quick_draw
from .search.filled import Filled
from .search.swap import Swap

KEPT = 2  # times of the draw that are kept for filling what is missing, and for comparing with it
FEWEST = 8  # candidates in a sample for each of k at least, and the least that k counts as there
SLOWER = 0.5  # the first sample may take so many times its estimate, which is high for small ones
AMPLE = 3.0  # times what greedy and swaps take: with more time left no sample is searched
LITTLE = 5.0  # a sample takes little if this is left so many times
STORED = 3.5e-10  # seconds for each entry of a stored K, or of X, in a product
SMALL = 3000  # columns up to which two choices are compared by their Frobenius error
LEAST = 0.05  # seconds that a search gets in any case, well within what a run may be late
SHORT = 0.1  # seconds that a run may be late; a draw in less shows nothing of the pace


@dataclass(frozen=True)
class InTime:
    """The choice of a method, or that of a quick draw where the time did not allow a better one."""

    method: Chooser

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        began = time.monotonic()
        found = [quick_draw(problem, deepcopy(rng))]
        took = time.monotonic() - began
        end = max(problem.deadline or np.inf, began + LEAST) - max(0.0, KEPT * took - SHORT)
        if took > SHORT and time.monotonic() >= end:
            cut_short()
            return found[0]
        shown = took > SHORT and not on_workers(problem.operator)  # there it is mostly overhead
        pace = max(1.0, took / draw_seconds(problem)) if shown else 1.0
        problem = replace(problem, deadline=end, pace=pace)
        with timed() as cuts:
            samples = Samples(problem, found[0], deepcopy(rng))
            samples.search()
            found += samples.found
            try:
                found.append(self.method.choose(problem, rng))
            except Stopped:
                cut_short()
        if not cuts:
            return found[-1]
        cut_short()
        return best_of(problem, found)


def best_of(problem: Problem, found: list[Choice]) -> Choice:
    """The choice of the lowest error; the last of those that are equal."""
    last = found[-1]
    found = [c for c in found if c is last or not np.array_equal(c.indices, last.indices)]
    if len(found) == 1:
        return last
    operator, objective = problem.operator, problem.objective
    if problem.pair.standard:  # a target needs X itself
        operator = form_made(operator)
    # a Frobenius error reads all of K; the trace orders two choices as well
    quick = objective.cheaper is None or ("columns" in operator.cheap and operator.n < SMALL)
    judge = lowered(problem, None if quick else objective.cheaper)
    errors = [judge.error(operator, choice.indices) for choice in found]
    best = len(found) - 1 - int(np.argmin(errors[::-1]))
    if found[best] is last:
        return last
    return replace(found[best], trials=(*last.trials, Trial("in time", errors[best], 0.0, 0)))


class Samples:
    """Greedy and swaps among samples of the candidates, each of twice the size of the one before.

    found : the choice from the largest sample so far. rate : how long greedy and swaps take, over
    their estimate, as far as the clock has shown.
    """

    def __init__(self, problem: Problem, drawn: Choice, rng: np.random.Generator):
        self.problem, self.drawn, self.rng = problem, drawn, rng
        self.found: list[Choice] = []
        self.rate = 1.0

    def affords(self, problem: Problem, times: float = 1.0) -> bool:
        """Whether there is time for greedy and swaps, or for so many times what they take."""
        return self.problem.affords(times * self.rate * first_step_seconds(problem))

    def search(self) -> None:
        """Search larger and larger samples, until there is ample time for all candidates or none.

        Where there is hardly time for all, samples that take little are searched, in case that the
        search of all does not end.
        """
        problem, least = self.problem, FEWEST * max(self.problem.k, FEWEST)
        cheap = {"diagonal", "columns"} <= problem.operator.cheap
        if not cheap or problem.constraints or on_workers(problem.operator):
            return
        if problem.objective.target is not None or problem.objective.repeats:
            return
        if 2 * least > len(problem.candidates) or self.affords(problem, AMPLE):
            return
        ranked = self._ranked()
        size, slower = least, SLOWER
        while 2 * size <= len(ranked) and not self.affords(problem, AMPLE):
            sample = np.union1d(self.drawn.indices, ranked[:size])
            part = self._part(sample)
            estimate, times = first_step_seconds(part), LITTLE if self.affords(problem) else 1.0
            enough = slower * self.rate * estimate <= problem.time_left
            if not enough or (self.found and not self.affords(part, times)):
                return
            began = time.monotonic()
            with timed() as cuts:
                try:
                    method = Swap(start=Filled(), criterion=problem.objective.cheaper)
                    choice = saved(f"a sample of {size}", method).choose(part, self.rng)
                except Stopped:
                    return
            if cuts and self.found:
                return
            self.rate, slower = (time.monotonic() - began) / (problem.pace * estimate), 1.0
            self.found, size = [Choice(sample[choice.indices])], 2 * size

    def _ranked(self) -> np.ndarray:
        """The candidates in random order: half of each sample is uniform, half by the diagonal."""
        operator, candidates = self.problem.operator, self.problem.candidates
        weights = host(operator.diagonal())[candidates].astype(np.float64)
        weights = weights / max(float(np.sum(weights)), np.finfo(float).tiny) + 1 / len(weights)
        return candidates[np.argsort(-np.log(self.rng.random(len(weights))) / weights)]

    def _part(self, sample: np.ndarray) -> Problem:
        """The problem of a sample, which counts alone."""
        problem, objective = self.problem, self.problem.objective
        if objective.noise is not None:
            objective = replace(objective, noise=objective.noise[sample])
        return replace(
            problem,
            objective=objective,
            operator=problem.operator.restrict(sample),
            include=tuple(np.searchsorted(sample, problem.include).tolist()),
            exclude=(),
            warned={*problem.warned, "rank"},
        )


def first_step_seconds(problem: Problem) -> float:
    """An estimate of the seconds of greedy and swaps, in the form of K that these are made on."""
    operator, k = problem.operator, problem.k
    product = product_seconds(operator)
    if operator.m is not None or 0 < 8 * operator.n**2 <= stored_up_to(operator):
        product = min(product, STORED * operator.n * (operator.m or operator.n))
    return search_seconds(operator, k, 1) + 2 * k * product


def draw_seconds(problem: Problem) -> float:
    """An estimate of the seconds that the draw takes: k columns of K, and of its factor."""
    n, k = problem.operator.n, problem.k
    return 1e-3 + k * product_seconds(problem.operator) / n + n * k * k * 5e-10
