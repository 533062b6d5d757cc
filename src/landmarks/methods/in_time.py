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
from .greedy.greedy import Greedy
from .greedy.nuclear import NuclearScores
from .inner import Chooser, restricted, saved
from .sampling.rpcholesky import quick_draw
from .search.filled import Filled
from .search.swap import Swap

SLOWER = 0.5  # the first sample may take so many times its estimate, which is high for small ones
KEPT = 2  # times of the draw that are kept for filling what is missing, and for comparing with it
FEWEST = 4  # candidates in a sample for each of k at least; k counts as twice that at least
AMPLE = 3.0  # times what greedy and swaps take: with more time left no sample is searched
LITTLE = 5.0  # a sample takes little if this is left so many times
STORED = 3.5e-10  # seconds for each entry of a stored K in a product
SMALL = 3000  # columns up to which two choices are compared by their Frobenius error
COUNTED = 0.05  # estimated seconds of what every budget allows, well within what a run may be late
LONG = 1.0  # seconds: of more, what takes so little is a small part
SLOW = 3.0  # times its estimate: where a draw takes longer, no estimate is relied on
SHORT = 0.1  # seconds that a run may be late; a draw in less shows nothing of the pace


@dataclass(frozen=True)
class InTime:
    """The choice of a method, or that of a quick draw where the time did not allow a better one."""

    method: Chooser

    def choose(self, problem: Problem, rng: np.random.Generator) -> Choice:
        estimate, began = draw_seconds(problem), time.monotonic()
        drawn = quick_draw(problem, deepcopy(rng))
        took = time.monotonic() - began
        kept = KEPT * max(took, error_seconds(problem))
        end = (problem.deadline or np.inf) - max(0.0, kept - SHORT)
        shown = took > SHORT and not on_workers(problem.operator)  # there it is mostly overhead
        pace = max(1.0, took / estimate) if shown else 1.0
        slow = pace > SLOW
        over = took > SHORT and time.monotonic() >= end
        if over and (slow or first_step_seconds(problem) > COUNTED):
            cut_short()
            return drawn
        problem = replace(problem, deadline=end, pace=pace)
        samples = Samples(problem, drawn, self._quick(problem), deepcopy(rng))
        known = "columns" in problem.operator.cheap and not slow  # what it costs to read K
        if known and (problem.time_left <= LONG or not samples.affords(problem, AMPLE)):
            samples.count(self._counted(samples.method))
        if not samples.found:
            problem = samples.problem = replace(problem, deadline=max(end, began + COUNTED))
        found = [drawn, *samples.found]
        if found[-1].details.get("proved"):
            return found[-1]
        with timed() as cuts:
            samples.search()
            found += [choice for choice in samples.found if choice is not found[-1]]
            if problem.time_left > 0 or len(found) == 1:
                try:
                    found.append(self.method.choose(problem, rng))
                except Stopped:
                    cut_short()
            else:
                cut_short()
        if not cuts:
            return found[-1]
        cut_short()
        return best_of(problem, found)

    def _quick(self, problem: Problem) -> Chooser:
        """What samples are searched by: greedy alone where the method makes no swaps."""
        if isinstance(self.method, Greedy | NuclearScores):
            return Filled()
        return Swap(start=Filled(), criterion=problem.objective.cheaper)

    def _counted(self, quick: Chooser) -> Chooser:
        """What all candidates are searched by where that takes little."""
        from .auto import Auto

        return replace(self.method, effort=COUNTED) if isinstance(self.method, Auto) else quick


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
    """A quick search of all candidates, or of samples, each of twice the size of the one before.

    method : what they are searched by. found : the choice from all, or from the largest sample so
    far. size : how many candidates the next sample has. rate : how long searches take, over their
    estimate, as far as the clock has shown.
    """

    def __init__(self, problem: Problem, drawn: Choice, method: Chooser, rng: np.random.Generator):
        self.problem, self.drawn, self.method, self.rng = problem, drawn, method, rng
        self.found: list[Choice] = []
        self.size = FEWEST * max(problem.k, 2 * FEWEST)
        self.rate: float | None = None
        self._order: np.ndarray | None = None

    def affords(self, problem: Problem, times: float = 1.0) -> bool:
        """Whether there is time for greedy and swaps, or for so many times what they take."""
        rate = 1.0 if self.rate is None else self.rate
        return self.problem.affords(times * rate * first_step_seconds(problem))

    @property
    def possible(self) -> bool:
        """Whether samples of the candidates can be searched."""
        problem, objective = self.problem, self.problem.objective
        cheap = {"diagonal", "columns"} <= problem.operator.cheap
        if not cheap or problem.constraints or on_workers(problem.operator):
            return False
        if objective.target is not None or objective.repeats:
            return False
        return 2 * self.size <= len(problem.candidates)

    def count(self, whole: Chooser) -> None:
        """Search what is estimated to take little, whatever the clock says.

        So the shortest budgets give the same choice each time, and no longer one a worse choice.

        whole : the method for all candidates, where that takes so little.
        """
        timeless = replace(self.problem, deadline=None, pace=1.0)
        if first_step_seconds(timeless) <= COUNTED:
            self.found = [saved("quick", whole).choose(timeless, deepcopy(self.rng))]
            return
        part, size = None, self.size
        while self.possible and 2 * size <= len(self.ranked):
            larger = self._sample(size)
            if first_step_seconds(larger[1]) > COUNTED:
                break
            part, size = larger, 2 * size
        if part is not None:
            self._search(part[0], replace(part[1], deadline=None, pace=1.0))
            self.size = size

    def search(self) -> None:
        """Search larger and larger samples, until there is ample time for all candidates or none.

        Where there is hardly time for all, samples that take little are searched, in case that the
        search of all does not end.
        """
        problem = self.problem
        while (
            self.possible and 2 * self.size <= len(self.ranked) and not self.affords(problem, AMPLE)
        ):
            sample, part = self._sample(self.size)
            times = LITTLE if self.affords(problem) else 1.0
            if not self.affords(part, times if self.found else SLOWER):
                return
            with timed() as cuts:
                before = self.found
                try:
                    self._search(sample, part)
                except Stopped:
                    return
            if cuts and before:
                self.found = before
                return
            self.size *= 2

    def _search(self, sample: np.ndarray, part: Problem) -> None:
        began = time.monotonic()
        choice = saved(f"a sample of {len(sample)}", self.method).choose(part, self.rng)
        self.rate = (time.monotonic() - began) / (part.pace * first_step_seconds(part))
        self.found = [Choice(sample[choice.indices])]

    @property
    def ranked(self) -> np.ndarray:
        """The candidates in random order."""
        if self._order is None:
            self._order = self._ranked()
        return self._order

    def _ranked(self) -> np.ndarray:
        """The candidates in random order: half of each sample is uniform, half by the diagonal."""
        operator, candidates = self.problem.operator, self.problem.candidates
        weights = host(operator.diagonal())[candidates].astype(np.float64)
        weights = weights / max(float(np.sum(weights)), np.finfo(float).tiny) + 1 / len(weights)
        return candidates[np.argsort(-np.log(self.rng.random(len(weights))) / weights)]

    def _sample(self, size: int) -> tuple[np.ndarray, Problem]:
        """A sample with the draw in it, and its problem, in which it counts alone."""
        sample = np.union1d(self.drawn.indices, self.ranked[:size])
        return sample, restricted(self.problem, sample)


def first_step_seconds(problem: Problem) -> float:
    """An estimate of the seconds of greedy and swaps, in the form of K that these are made on."""
    operator, n, k = problem.operator, problem.operator.n, problem.k
    product = product_seconds(operator)
    stored = n <= operator.m if operator.m is not None else 0 < 8 * n**2 <= stored_up_to(operator)
    if stored:
        product = min(product, STORED * n**2)
    return search_seconds(operator, k, 1) + 2 * k * product


def draw_seconds(problem: Problem) -> float:
    """An estimate of the seconds that the draw takes: k columns of K, and of its factor."""
    operator, n, k = problem.operator, problem.operator.n, problem.k
    form = 0.0 if operator.m is None else search_seconds(operator, k, 1)
    return 1e-3 + form + k * product_seconds(operator) / n + n * k * k * 5e-10


def error_seconds(problem: Problem) -> float:
    """An estimate of the seconds of an error of a choice of columns of data."""
    operator = problem.operator
    return 0.0 if operator.m is None else 2e-10 * operator.m * operator.n * problem.k
