"""How often each candidate is chosen when the data are resampled: the bootstrap of a selection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from .. import _check
from .._array import Indices, host, like, take
from .._shown import Shown, Table
from ..constraints import check_honoured
from ..errors import UnsupportedError
from ..methods.registry import as_method
from ..objectives import Objective, Target
from ..operators.base import Operator
from ..operators.dense import Data, Gram
from ..operators.kernel import KernelOperator
from ..operators.sparse import SparseGram
from ..problem import Problem
from ..runs.runner import report

if TYPE_CHECKING:
    from ..selection import Selection

LISTED = 10  # the most candidates that are printed


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Shown):
    """The share of bootstrap samples in which each of the n candidates is chosen.

    For data, rows are resampled and all columns are candidates each time. For a kernel, the points
    are resampled; a frequency is then relative to the samples that contain the point, and NaN if
    none does. A target is resampled with the rows or points. Equal columns share their frequency,
    because candidates are tried in random order.

    Attributes
    ----------
    frequencies : one for each candidate; they add up to k for data.
    n_bootstrap : the number of samples.
    names : of the candidates, if they have any.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((50, 4)) * [9, 9, 1, 1]
    >>> found = lm.select(X, 2, method="greedy").stability(n_bootstrap=20)
    >>> found
    Stability: 20 bootstrap samples chose 2 of 4 candidates: 0 (100%), 1 (100%)
    >>> found.frequencies.tolist()
    [1.0, 1.0, 0.0, 0.0]
    """

    frequencies: np.ndarray
    n_bootstrap: int
    names: tuple[str, ...] | None = None

    @property
    def table(self) -> Table:
        """A row for each candidate that was chosen at least once, the most frequent first."""
        order = np.argsort(-np.nan_to_num(self.frequencies), kind="stable")
        order = order[np.nan_to_num(self.frequencies[order]) > 0]
        labels = np.asarray(self.names or range(len(self.frequencies)), dtype=object)
        return Table(index_and_name(order, labels) | {"chosen": self.frequencies[order].tolist()})

    @property
    def sentence(self) -> str:
        """How many candidates were chosen, and the most frequent ones."""
        table = self.table
        labels = table.columns.get("name", table["index"])[:LISTED]
        shares = zip(labels, table["chosen"], strict=False)
        listed = ", ".join(f"{str(label)[:40]} ({100 * part:.3g}%)" for label, part in shares)
        rest = f", … {len(table) - LISTED} more" if len(table) > LISTED else ""
        return (
            f"{self.n_bootstrap} bootstrap samples chose {len(table)} of "
            f"{len(self.frequencies)} candidates: {listed}{rest}"
        )

    def plot(self, ax: Any = None, *, at_most: int = 20) -> Any:
        """Draw how often each candidate was chosen, as bars, the most frequent on top."""
        from ..plots.axes import bars

        table = self.table
        names = table.columns.get("name", table["index"])
        shares = [100 * part for part in table["chosen"]]
        label = f"chosen in % of {self.n_bootstrap} bootstrap samples"
        return bars(names, shares, label, ax, at_most)


def bootstrap(selection: Selection, n_bootstrap: int, method: Any, seed: int | None) -> Stability:
    """Choose again on bootstrap samples, by the same method unless another is given."""
    problem = selection.problem()
    chooser = selection.chooser if method is None else as_method(method)
    if chooser is None:
        raise ValueError(
            f"a selection read from a file does not hold its method, {selection.method}; give one, "
            'e.g. stability(method="greedy")'
        )
    check_honoured(problem, chooser)
    wanted = _check.count(n_bootstrap, "n_bootstrap")
    chosen, held = np.zeros(selection.n), np.zeros(selection.n)
    for done, rng in enumerate(np.random.default_rng(_check.seed(seed)).spawn(wanted), start=1):
        sample, objective = resampled(problem, rng)
        _check_size(problem)
        picks = chooser.choose(_on(sample, objective, problem), rng).indices
        chosen[np.unique(sample.indices[picks])] += 1
        held[np.unique(sample.indices)] += 1
        if report("bootstrap", done, wanted):
            break
    shares = np.divide(chosen, held, out=np.full(selection.n, np.nan), where=held > 0)
    return Stability(shares, done, selection.names)


def _check_size(problem: Problem) -> None:
    """Raise unless a sample, of which 37 % are repeats, can hold k different rows or points."""
    if problem.operator.m is None:
        size, what = problem.operator.n, "points"
    else:
        size, what = problem.operator.m, "rows"
    if size < 2 * problem.k:
        raise ValueError(
            f"a bootstrap sample of {size} {what} holds about {0.63 * size:.0f} different ones, "
            f"too few to choose k = {problem.k}; "
            f"stability needs at least 2 k = {2 * problem.k} {what}"
        )


def _on(sample: Sample, objective: Objective, problem: Problem) -> Problem:
    """The same problem on the candidates of a sample; a warning is given once for all samples."""
    at, groups, costs = sample.indices, problem.groups, problem.costs
    include = [int(np.flatnonzero(at == j)[0]) for j in problem.include]
    if groups is not None:  # included groups stay complete where points were drawn twice
        include = np.flatnonzero(np.isin(at, problem.include)).tolist()
    return replace(
        problem,
        operator=sample.operator,
        objective=objective,
        include=tuple(include),
        exclude=tuple(np.flatnonzero(np.isin(at, problem.exclude)).tolist()),
        groups=None if groups is None else np.unique(groups[at], return_inverse=True)[1],
        costs=None if costs is None else costs[at],
        constraints=tuple(c.restrict(at) for c in problem.constraints),
    )


def resampled(problem: Problem, rng: np.random.Generator) -> tuple[Sample, Objective]:
    """A bootstrap sample of the rows or points, with what must be rebuilt from it."""
    objective, operator = problem.objective, problem.operator
    target = objective.target
    if operator.m is not None and target is not None:
        return _rows(problem, target, rng)
    sample = resample(operator, rng, problem.include)
    if target is not None:
        target = replace(target, values=target.values[sample.indices])
    return sample, _noisy(replace(objective, target=target), sample.indices)


def _rows(problem: Problem, target: Target, rng: np.random.Generator) -> tuple[Sample, Objective]:
    """The same rows of the data and of the target: they are drawn as one matrix."""
    n, objective = problem.operator.n, problem.objective
    X = host(problem.operator.factor()).astype(np.float64)
    together = resample(Data(np.hstack([X, target.values])), rng)
    ours = np.flatnonzero(together.indices < n)
    theirs = np.argsort(together.indices)[n:]
    sample = Sample(together.operator.restrict(ours), together.indices[ours])
    B = host(together.operator.factor(theirs)).astype(np.float64)
    objective = replace(objective, target=replace(target, values=B))
    return sample, _noisy(objective, sample.indices)


def _noisy(objective: Objective, indices: np.ndarray) -> Objective:
    noise = objective.noise
    return objective if noise is None else replace(objective, noise=noise[indices])


class Sample(NamedTuple):
    """The operator of a sample, and for each of its candidates the index in the original."""

    operator: Operator
    indices: np.ndarray


def resample(operator: Operator, rng: np.random.Generator, keep: Indices = ()) -> Sample:
    """Draw a bootstrap sample of the rows of data, or of the points of a kernel, with replacement.

    A row that is drawn c times is kept once, times √c. The columns are in random order, so that
    ties are broken at random. Points are both the candidates and what is represented.

    keep : points that the sample must hold; they come first.
    """
    if isinstance(operator, KernelOperator):
        first = np.asarray(keep, dtype=np.int64)
        indices = np.concatenate([first, rng.integers(operator.n, size=operator.n - len(first))])
        return Sample(operator.restrict(indices), indices)
    if not isinstance(operator, Data | SparseGram):
        raise UnsupportedError(
            "a bootstrap needs the rows of data or the points of a kernel to draw from, and "
            f"{operator!r} has neither; give X itself, or kernel(points, h)"
        )
    rows, counts = np.unique(rng.integers(operator.m, size=operator.m), return_counts=True)
    weights = np.sqrt(counts)
    drawn: Gram
    if isinstance(operator, Data):
        X = take(operator.X, rows) * like(weights, operator.like)[:, None]
        drawn = Data(X, exponent=operator.exponent)
    else:
        X = scipy.sparse.diags_array(weights) @ operator.X.tocsr()[rows]
        drawn = operator.of(scipy.sparse.csc_array(X, dtype=operator.X.dtype))
        drawn.weights = weights * operator.weights[rows]
    order = rng.permutation(operator.n)
    return Sample(drawn.restrict(order), order)


def index_and_name(indices: np.ndarray, labels: np.ndarray) -> dict[str, list[Any]]:
    """The index, and the name if there are names."""
    index = {"index": indices.tolist()}
    return index | {"name": labels[indices].tolist()} if isinstance(labels[0], str) else index
