"""Several methods on the same data, as a table for the screen, a notebook or a plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from . import _check
from ._select import select
from ._shown import Shown, Table
from .errors import FormatError
from .how_many.curve import asked
from .linalg.error import spectrum_is_cheap
from .methods.registry import COMPARED, as_method
from .operators.base import Operator
from .operators.data import READING
from .problem import brief
from .runs.bar import progress_bar
from .runs.runner import Callback
from .selection import Selection

if TYPE_CHECKING:
    from .plots.axes import Drawn


@dataclass(frozen=True)
class Row:
    """The result of one method for one k; `skipped` says why it could not run."""

    method: str
    k: int
    relative_error: float | None
    factor: float | None
    seconds: float | None
    products: int | None
    indices: tuple[int, ...] | None
    skipped: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """The results of several methods, in the order in which they ran.

    Attributes
    ----------
    rows : one for each k and method, with its error and cost.
    selections : what each method chose; None if it could not run.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 8))
    >>> found = lm.compare(X, 3, methods=["greedy", "uniform"])
    >>> found.best.method
    'Greedy()'
    >>> [row.method for row in found.rows]
    ['greedy', 'uniform']
    """

    rows: tuple[Row, ...]
    selections: tuple[Selection | None, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def best(self) -> Selection:
        """The selection with the lowest error, for the largest k that was compared."""
        k = max(row.k for row in self.rows)
        ran = [
            (row.relative_error, place)
            for place, row in enumerate(self.rows)
            if row.k == k and row.relative_error is not None
        ]
        if not ran:
            raise ValueError(f"no method could run: {self.rows[0].skipped}")
        found = self.selections[min(ran)[1]]
        return found  # type: ignore[return-value]  # a method that has an error has run

    @property
    def table(self) -> Table:
        """The rows, for each k the lowest error first; skipped methods come last."""
        ranked = sorted(self.rows, key=rank)
        errors = [row.relative_error for row in ranked]
        columns: dict[str, list[Any]] = {
            "method": [row.method for row in ranked],
            "k": [row.k for row in ranked],
            "kept": [None if error is None else 1 - error for error in errors],
            "over best": [row.factor for row in ranked],
            "seconds": [row.seconds for row in ranked],
            "skipped": [row.skipped for row in ranked],
        }
        if not any(columns["skipped"]):
            del columns["skipped"]
        return Table(columns, {"kept": ".2%"})

    @property
    def sentence(self) -> str:
        """What was compared."""
        sizes = ", ".join(map(str, sorted({row.k for row in self.rows})))
        return f"{len({row.method for row in self.rows})} methods for k = {sizes}"

    def plot(self, ax: Any = None, *, noun: str = "column") -> Drawn:
        """Draw the errors: bars for one k, curves for several.

        Parameters
        ----------
        ax : matplotlib axes; a new figure unless given.
        noun : what is chosen, for the label of the axis.

        Returns
        -------
        Drawn
            With the axes as `ax_`.

        Examples
        --------
        >>> X = np.random.default_rng(0).standard_normal((30, 8))
        >>> found = lm.compare(X, 3, methods=["greedy", "uniform"])
        >>> len(found.plot().ax_.patches)
        2
        """
        from .plots.curves import plot_methods

        errors: dict[str, dict[int, float]] = {}
        for row in self.rows:
            if row.relative_error is not None:
                errors.setdefault(row.method, {})[row.k] = row.relative_error
        return plot_methods(errors, ax, noun)

    def __repr__(self) -> str:
        return repr(self.table)


def compare(
    A: Any,
    k: Any,
    *,
    methods: Sequence[Any] = COMPARED,
    center: bool = False,
    scale: bool | None = None,
    missing: str = "error",
    numeric_only: bool = False,
    criterion: str = "trace",
    seed: int | None = 0,
    budget: float | None = None,
    include: Any = (),
    exclude: Any = (),
    callback: Callback | None = None,
    progress: bool = False,
    **unknown: Never,
) -> Comparison:
    """Run several methods on the same data and compare their errors and costs.

    Parameters
    ----------
    A : as for `select`.
    k : how many to choose; a list of several gives a row for each.
    methods : names or method objects.
    center, scale, missing, numeric_only : as for `select`.
    criterion, seed, budget, include, exclude, callback, progress : as for `select`, for each run.

    Returns
    -------
    Comparison
        It prints as a table, the lowest error first; `plot()` draws it, `to_frame()` hands it to
        pandas, `best` is the best selection.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 8))
    >>> lm.compare(X, 3, methods=["uniform", "greedy"]).table["method"]
    ['greedy', 'uniform']
    """
    _check.known(unknown, compare, READING)
    if isinstance(methods, str) or not list(methods):
        raise ValueError(f'methods must be a list such as ["greedy", "swap"], got {methods!r}')
    for method in methods:
        as_method(method)
    listed = k if isinstance(k, list | tuple | range | np.ndarray) else [k]
    reading = dict(center=center, scale=scale, missing=missing, numeric_only=numeric_only)
    problem, sizes = asked(A, listed, reading, criterion, include, exclude)
    wanted = dict(criterion=criterion, seed=seed, budget=budget, include=include, exclude=exclude)
    with progress_bar(callback, quiet=not progress):
        runs = [
            _run(problem.operator, size, method, wanted)
            for size in sizes.tolist()
            for method in methods
        ]
    return Comparison(tuple(row for row, _ in runs), tuple(found for _, found in runs))


def _run(
    operator: Operator, k: int, method: Any, wanted: dict[str, Any]
) -> tuple[Row, Selection | None]:
    """The result of one method, or why it could not run."""
    name = method if isinstance(method, str) else brief(method)
    try:
        found = select(operator, k, method=method, scale=False, **wanted)
    except FormatError:
        raise
    except (ValueError, TypeError) as error:
        return Row(name, k, None, None, None, None, None, skipped=str(error)), None
    left, cost = found.relative_error(), found.ledger
    chosen = tuple(int(j) for j in found.indices)
    known = left if math.isfinite(left) else None
    return Row(name, k, known, factor(found), cost.seconds, cost.products, chosen), found


def factor(selection: Selection) -> float | None:
    """The error divided by the best rank-k error; None beyond the rank or if it costs too much."""
    operator = selection.operator
    shares = selection.objective.shares
    if operator is None or not shares or not spectrum_is_cheap(operator):
        return None
    if selection.best_rank_error() <= 1e-9 * selection.total():
        return None
    found = selection.factor()
    return found if math.isfinite(found) else None


def rank(row: Row) -> tuple[int, float]:
    """Orders rows by k, then by error; skipped methods come last."""
    return row.k, math.inf if row.relative_error is None else row.relative_error
