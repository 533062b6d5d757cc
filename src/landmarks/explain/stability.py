"""How often each candidate is chosen when the data are resampled: the bootstrap of a selection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from .. import _check
from .._array import Indices, host, like, take
from .._shown import ShownAsBars, Table
from ..constraints import check_honoured
from ..errors import UnsupportedError
from ..methods.registry import as_method
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
class Stability(ShownAsBars):
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
        shares = zip(table.labels[:LISTED], table["chosen"], strict=False)
        listed = ", ".join(f"{str(label)[:40]} ({100 * part:.3g}%)" for label, part in shares)
        rest = f", … {len(table) - LISTED} more" if len(table) > LISTED else ""
        return (
            f"{self.n_bootstrap} bootstrap samples chose {len(table)} of "
            f"{len(self.frequencies)} candidates: {listed}{rest}"
        )

    @property
    def bars(self) -> tuple[list[Any], list[float], str]:
        """How often each candidate was chosen, the most frequent first."""
        table = self.table
        label = f"chosen in % of {self.n_bootstrap} bootstrap samples"
        return table.labels, [100 * part for part in table["chosen"]], label


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
    rows = problem.operator.m
    size, what = (selection.n, "points") if rows is None else (rows, "rows")
    for done, rng in enumerate(np.random.default_rng(_check.seed(seed)).spawn(wanted), start=1):
        sample, at = resampled(problem, rng)
        if size < 2 * problem.k:
            raise ValueError(
                f"a bootstrap sample of {size} {what} holds about {0.63 * size:.0f} different "
                f"ones, too few to choose k = {problem.k}; stability needs at least 2 k = "
                f"{2 * problem.k} {what}"
            )
        chosen[np.unique(at[chooser.choose(sample, rng).indices])] += 1
        held[np.unique(at)] += 1
        if report("bootstrap", done, wanted):
            break
    shares = np.divide(chosen, held, out=np.full(selection.n, np.nan), where=held > 0)
    return Stability(shares, done, selection.names)


def resampled(problem: Problem, rng: np.random.Generator) -> tuple[Problem, np.ndarray]:
    """The problem on a bootstrap sample, and the index that each of its candidates had.

    A warning is given once for all samples.
    """
    objective, operator, groups = problem.objective, problem.operator, problem.groups
    target, noise, costs = objective.target, objective.noise, problem.costs
    if operator.m is not None and target is not None:  # their rows are drawn as one matrix
        n, X = operator.n, host(operator.factor()).astype(np.float64)
        both, at = resample(Data(np.hstack([X, target.values])), rng)
        B = host(both.factor(np.argsort(at)[n:])).astype(np.float64)
        target = replace(target, values=B)
        operator, at = both.restrict(np.flatnonzero(at < n)), at[at < n]
    else:
        operator, at = resample(operator, rng, problem.include)
        target = target and replace(target, values=target.values[at])
    include = [int(np.flatnonzero(at == j)[0]) for j in problem.include]
    if groups is not None:  # included groups stay complete where points were drawn twice
        include = np.flatnonzero(np.isin(at, problem.include)).tolist()
    sample = replace(
        problem,
        operator=operator,
        objective=replace(objective, target=target, noise=None if noise is None else noise[at]),
        include=tuple(include),
        exclude=tuple(np.flatnonzero(np.isin(at, problem.exclude)).tolist()),
        groups=None if groups is None else np.unique(groups[at], return_inverse=True)[1],
        costs=None if costs is None else costs[at],
        constraints=tuple(c.restrict(at) for c in problem.constraints),
    )
    return sample, at


def resample(
    operator: Operator, rng: np.random.Generator, keep: Indices = ()
) -> tuple[Operator, np.ndarray]:
    """A sample of the rows of data, or of the points of a kernel, and its candidates' indices.

    A row that is drawn c times is kept once, times √c. The columns are in random order, so that
    ties are broken at random. Points are both the candidates and what is represented.

    keep : points that the sample must hold; they come first.
    """
    if isinstance(operator, KernelOperator):
        first = np.asarray(keep, dtype=np.int64)
        indices = np.concatenate([first, rng.integers(operator.n, size=operator.n - len(first))])
        return operator.restrict(indices), indices
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
    return drawn.restrict(order), order


def index_and_name(indices: np.ndarray, labels: np.ndarray) -> dict[str, list[Any]]:
    """The index, and the name if there are names."""
    index = {"index": indices.tolist()}
    return index | {"name": labels[indices].tolist()} if isinstance(labels[0], str) else index
