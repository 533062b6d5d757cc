"""The entry function: check the input, run the method, return the selection."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _check
from ..approximate import CRITERIA
from ..errors import UnsupportedError
from ..journal import keeping
from ..operators.base import Operator, check_indices
from ..operators.convert import as_operator
from ..operators.function import probe
from ..progress import Callback, stopped, watching
from .checkpoint import open_journal
from .phase import run_phase
from .problem import Method, Problem
from .registry import as_method
from .selection import Cost, Selection


def select(
    A: Any,
    k: int | None = None,
    *,
    method: Any = "auto",
    criterion: str = "trace",
    seed: int | None = 0,
    budget: float | None = None,
    include: Any = (),
    exclude: Any = (),
    callback: Callback | None = None,
    checkpoint: Any = None,
) -> Selection:
    """Choose the k columns of a matrix, or the k landmarks of a kernel, that best represent all the rest.

    Parameters
    ----------
    A : a data matrix X (array, data frame, SciPy sparse) whose columns are the candidates, or an operator made by
        `psd`, `kernel`, `function` or `toeplitz`, or a SciPy LinearOperator.
    k : how many to choose; only a method that finds its own k, such as `Continuous(penalty=…)`, takes None.
    method : a name (`"auto"`, `"greedy"`, `"continuous"`, …) or a method object.
    criterion : "trace" for tr(K − K̂), which is ‖X − P_S X‖²_F for columns; "frobenius" for ‖K − K̂‖²_F.
    seed : one seed gives one selection; None draws a fresh one.
    budget : seconds that improving methods may take; without it they end by themselves.
    include, exclude : candidates that must, or must not, be chosen: indices, or names when the data have names.
    callback : called with a `Progress` as the work goes on; when it returns True the run ends with the best choice it
        has, and `selection.stopped` says so.
    checkpoint : a file, or a `Checkpoint`, that keeps the run; called again after a crash, it goes on from there.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> X = np.random.default_rng(0).standard_normal((20, 4)) @ np.ones((4, 6))
    >>> len(lm.select(X, 1))
    1
    """
    operator = as_operator(A)
    chooser = as_method(method)
    size = _subset_size(k, operator, chooser)
    problem = constrained(operator, size, _check.choice(criterion, CRITERIA, "criterion"), include, exclude)
    _check_honoured(problem, chooser)
    allowed = _seconds(budget)
    probe(operator)
    rng = np.random.default_rng(_check.seed(seed))
    journal = open_journal(checkpoint, problem, chooser, {"seed": _check.seed(seed), "budget": allowed}, rng)
    start, before = time.perf_counter() - (journal.seconds if journal else 0.0), operator.ledger.snapshot()
    problem = replace(problem, deadline=None if allowed is None else time.monotonic() + allowed - (journal.seconds if journal else 0.0))
    with watching(callback), keeping(journal):
        choice = run_phase("run", chooser, problem, rng)
        was_stopped = stopped()
    cost = Cost(**operator.ledger.since(before), seconds=time.perf_counter() - start)
    return Selection(
        indices=choice.indices,
        n=operator.n,
        criterion=criterion,
        method=repr(chooser),
        seed=seed,
        ledger=cost,
        names=operator.names,
        path=choice.path,
        trials=choice.trials,
        bound=choice.bound,
        exponent=operator.exponent,
        stopped=was_stopped,
        operator=operator,
    )


def _subset_size(k: Any, operator: Operator, chooser: Method) -> int:
    if k is None and getattr(chooser, "finds_k", False):
        return 0
    return _check.subset_size(k, operator.n)


def _indices(which: Any, operator: Operator, name: str) -> tuple[int, ...]:
    listed = [which] if isinstance(which, str) else list(which)
    if any(isinstance(j, str) for j in listed):
        listed = [_position(j, operator, name) for j in listed]
    try:
        return tuple(int(j) for j in check_indices(np.asarray(listed), operator.n))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def _position(wanted: Any, operator: Operator, name: str) -> int:
    if operator.names is None:
        raise ValueError(f"{name} holds names, but the data have none; give indices, or pass a data frame")
    if wanted not in operator.names:
        raise ValueError(f"{name}: the data have no column named {wanted!r}")
    if operator.names.count(wanted) > 1:
        raise ValueError(f"{name}: the data have {operator.names.count(wanted)} columns named {wanted!r}; give the index of one")
    return operator.names.index(wanted)


def _seconds(budget: float | None) -> float | None:
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not budget > 0:
        raise ValueError(f"budget must be a positive number of seconds or None, got {budget!r}")
    return float(budget)


def constrained(operator: Operator, k: int, criterion: str, include: Any, exclude: Any) -> Problem:
    """The problem, with its constraints checked against one another; k = 0 leaves the size open."""
    problem = Problem(operator, k, criterion, _indices(include, operator, "include"), _indices(exclude, operator, "exclude"))
    if both := set(problem.include) & set(problem.exclude):
        raise ValueError(f"{sorted(both)} are both included and excluded")
    if k and len(problem.include) > k:
        raise ValueError(f"include lists {len(problem.include)} candidates, more than k = {k}")
    if len(problem.candidates) < k:
        raise ValueError(f"k = {k} is more than the {len(problem.candidates)} candidates that exclude leaves")
    return problem


def _check_honoured(problem: Problem, chooser: Method) -> None:
    for constraint in ("include", "exclude"):
        if getattr(problem, constraint) and constraint not in chooser.honours:
            raise UnsupportedError(f"{type(chooser).__name__} cannot honour {constraint}; use auto, greedy or swap")
