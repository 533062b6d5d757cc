"""The constraints of a choice, checked against the data and against one another."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from . import _check
from .errors import UnsupportedError, suggestion
from .objectives.objective import Objective, as_objective
from .operators.base import Operator
from .placement import Constraint
from .problem import Method, Problem, check_indices

HONOURED_BY = {
    "include": "auto, greedy or swap",
    "exclude": "auto, greedy or swap",
    "groups": "auto, knapsack or exact",
    "costs": "auto, knapsack or exact",
    "constraints": "auto, greedy, swap, iterated or exact",
    "target": "auto, greedy, swap, iterated, annealed, continuous, knapsack or exact",
    "noise": "auto, greedy, swap, iterated, annealed, continuous, knapsack or exact",
    "logdet": "auto, greedy, swap, iterated, continuous, knapsack or exact",
}
_UNITS = (
    'criterion="logdet" without noise compares choices of one size only: which of two sizes is '
    "better changes with the units of the data; give noise above 0, or leave out costs, groups of "
    "different sizes and rules for k"
)
_COUNTED = (
    'criterion="logdet" takes k as a number, as a share of the candidates, or as lm.Knee(): other '
    "rules look for a small share of an error, and a log determinant, in nats, has no shares"
)


def column_indices(which: Any, operator: Operator, name: str) -> tuple[int, ...]:
    """The indices of columns given by index or by name, none for None; name : the argument."""
    if which is None:
        return ()
    if np.ndim(which) == 0 and not isinstance(which, str | Iterable):
        raise TypeError(
            f"{name} must be a list of indices or names, got {_check.brief(which)}; "
            f"write {name}=[{_check.brief(which)}]"
        )
    listed = [which] if isinstance(which, str) else list(which)
    if any(_is_label(j) for j in listed):
        listed = [_position(j, operator, name) for j in listed]
    try:
        return tuple(int(j) for j in check_indices(np.asarray(listed), operator.n))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def _is_label(wanted: Any) -> bool:
    """Whether this names a column: whole numbers are places, anything else is a label."""
    return not isinstance(wanted, int | float | np.number | np.bool_)


def _position(wanted: Any, operator: Operator, name: str) -> Any:
    """The place of a named column; in a list of names a whole number is a place."""
    if operator.names is None:
        raise ValueError(
            f"{name} holds names, but the data have none; give indices, or pass a data frame"
        )
    if not _is_label(wanted) and wanted not in operator.names:
        return wanted
    labels = operator.names if isinstance(wanted, str) else operator.labels or operator.names
    found = [j for j, label in enumerate(labels) if label == wanted]
    if not found:
        close = suggestion(str(wanted), operator.names)
        raise ValueError(f"{name}: the data have no column named {wanted!r}{close}")
    if len(found) > 1:
        raise ValueError(
            f"{name}: the data have {len(found)} columns named {wanted!r}; give the index of one"
        )
    return found[0]


def constrained(
    operator: Operator,
    objective: Objective | str,
    include: Any,
    exclude: Any,
    groups: Any = None,
    costs: Any = None,
    budget_cost: float | None = None,
    constraints: Any = (),
) -> Problem:
    """The problem, its size left open, with its constraints checked against one another."""
    included = column_indices(include, operator, "include")
    excluded = column_indices(exclude, operator, "exclude")
    if both := set(included) & set(excluded):
        raise ValueError(
            f"{_check.labelled(operator, sorted(both))} cannot be both included and excluded; keep "
            "each in one of the two"
        )
    problem = Problem(operator, 0, as_objective(objective), included, excluded)
    placed = () if constraints is None else constraints
    single = isinstance(placed, Constraint) or not isinstance(placed, Iterable)
    placed = (placed,) if single else tuple(placed)
    if others := [one for one in placed if not isinstance(one, Constraint)]:
        raise TypeError(
            "constraints must be a list of lm.MinDistance(…), lm.Regions(…) and the like, "
            f"got {_check.brief(others[0])}"
        )
    placed = tuple(constraint.check(operator.n) for constraint in placed)
    if placed:
        if groups is not None or costs is not None:
            raise ValueError("constraints cannot be combined with groups or costs; leave one out")
        problem = replace(problem, constraints=placed)
        check_start(problem, np.asarray(included, dtype=np.int64), complete=False)
    if groups is not None:
        problem = _grouped(problem, groups)
    if costs is None and budget_cost is None:
        return problem
    return _costly(problem, costs, budget_cost)


def _grouped(problem: Problem, given: Any) -> Problem:
    """The problem with numbered groups; including or excluding a column does so for its group."""
    n, labels = problem.operator.n, np.asarray(given)
    if labels.shape != (n,):
        raise ValueError(
            f"groups must hold one label for each of the n = {n} candidates, got an array of shape "
            f"{labels.shape}"
        )
    listed, numbers = labels.tolist(), {}  # type: ignore[var-annotated]
    if any(label is None or label != label for label in listed):
        raise ValueError(
            "groups has missing labels; give every candidate one, a label of its own if it belongs "
            "to no group"
        )
    groups = np.asarray([numbers.setdefault(label, len(numbers)) for label in listed])
    for i in problem.include:
        if clash := [j for j in problem.exclude if groups[j] == groups[i]]:
            raise ValueError(
                f"a group is chosen completely or not at all, but of group {listed[i]!r} {i} is "
                f"included and {clash[0]} excluded"
            )
    include, exclude = (
        tuple(
            j
            for group in dict.fromkeys(groups[list(columns)].tolist())
            for j in np.flatnonzero(groups == group).tolist()
        )
        for columns in (problem.include, problem.exclude)
    )
    return replace(problem, groups=groups, include=include, exclude=exclude)


def _costly(problem: Problem, costs: Any, budget_cost: Any) -> Problem:
    """The problem with costs; the budget must pay for the included columns and for at least one."""
    if costs is None or budget_cost is None:
        raise ValueError(
            "costs and budget_cost go together, got only "
            f"{'costs' if budget_cost is None else 'budget_cost'}"
        )
    n = problem.operator.n
    try:
        values = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"costs must be a list of numbers, one for each candidate, got {costs!r}"
        ) from None
    if values.shape != (n,):
        raise ValueError(
            f"costs must hold one number for each of the n = {n} candidates, got an array of shape "
            f"{values.shape}"
        )
    if not np.all(values >= 0) or not np.all(np.isfinite(values)):
        raise ValueError(
            "costs must be finite and not negative, got "
            f"{values[~(np.isfinite(values) & (values >= 0))][0]}; exclude what must not be chosen"
        )
    if not _check.is_number(budget_cost) or not budget_cost > 0:
        raise ValueError(f"budget_cost must be a positive number, got {budget_cost!r}")
    needed = float(np.sum(values[list(problem.include)]))
    groups = np.arange(n) if problem.groups is None else problem.groups
    least = min(np.bincount(groups, weights=values)[groups[problem.candidates]], default=np.inf)
    if needed > budget_cost:
        raise ValueError(
            f"what must be included costs {needed:g}, more than budget_cost = {budget_cost:g}"
        )
    if least > budget_cost:
        raise ValueError(
            f"the cheapest candidate costs {least:g}, more than budget_cost = {budget_cost:g}"
        )
    return replace(problem, costs=values, budget_cost=float(budget_cost))


def subset_size(k: Any, problem: Problem, chooser: Method) -> int:
    """The requested size as an int, checked; 0 when the method finds it or the costs set it."""
    finds_k = getattr(chooser, "finds_k", False)
    if not problem.objective.shares:
        if finds_k and not getattr(chooser, "in_nats", False):
            raise UnsupportedError(_COUNTED)
        sizes = [len(problem.allowed.members[u]) for u in np.flatnonzero(problem.allowed.open)]
        uneven = finds_k or problem.costs is not None or len(set(sizes)) > 1
        if uneven and problem.objective.noise is None:
            raise UnsupportedError(_UNITS)
    if problem.costs is not None and finds_k:
        raise ValueError(
            "budget_cost says how many to choose; leave k out, or give the most to choose as a "
            "number"
        )
    if problem.constraints and (finds_k or k is None):
        raise ValueError("constraints on places need k as a number or as a share")
    if k is None and (finds_k or problem.costs is not None):
        return 0
    most = problem.operator.n
    if problem.groups is not None and _check.is_share(k):
        most = problem.count(np.arange(most))
    repeats = problem.objective.repeats and not _check.is_share(k)
    size = _check.count(k, "k") if repeats else _check.subset_size(k, most)
    check_size(size, problem)
    return size


def check_size(size: int, problem: Problem, name: str = "k") -> None:
    """Raise when more than the size must be included, or fewer may be chosen.

    With costs fewer are fine, and with repeats one candidate is enough.
    """
    repeats = problem.objective.repeats
    what = "candidates" if problem.groups is None else "groups"
    count = problem.count(problem.include)
    if problem.groups is None:
        allowed = problem.operator.n - len(set(problem.exclude))  # nothing of length n is needed
    else:
        allowed = problem.count(problem.candidates)
    if count > size:
        raise ValueError(f"include lists {count} {what}, more than {name} = {size}")
    if allowed < (min(size, 1) if repeats else size) and problem.costs is None:
        left = f"{what} that exclude leaves" if problem.exclude else what
        raise ValueError(f"{name} = {size} is more than the {allowed} {left}")
    for constraint in problem.constraints:
        open_places = np.isin(np.arange(problem.operator.n), problem.choosable)
        included = np.asarray(problem.include, dtype=np.int64)
        constraint.check_size(size, included, open_places, repeats)


def check_start(problem: Problem, indices: np.ndarray, complete: bool = True) -> None:
    """Raise when indices that were given, to include or as a start, break a constraint."""
    for constraint in problem.constraints:
        if sentence := constraint.broken(indices, complete):
            raise ValueError(f"{'start' if complete else 'include'}: {sentence}")


def check_placed(problem: Problem, chooser: Method) -> None:
    """Raise when the problem has constraints on places that the method does not support."""
    if problem.constraints:
        _check_listed("constraints", chooser)


def check_honoured(problem: Problem, chooser: Method) -> None:
    """Raise when the problem has a constraint that the method does not support."""
    chooser = getattr(chooser, "method", chooser)  # of a method whose k a rule finds
    given = {name: getattr(problem, name) for name in ("constraints", "include", "exclude")}
    listed = [name for name, value in given.items() if value]
    listed += [name for name in ("groups", "costs") if getattr(problem, name) is not None]
    for name in listed:
        _check_listed(name, chooser)
    asked = problem.objective.asked
    for name in asked:
        others = HONOURED_BY["logdet" if "logdet" in asked else name]
        others += ", or draws: kdpp" if asked == ("logdet",) else ""
        _check_listed(name, chooser, problem.objective.named(name), others)


def _check_listed(
    name: str, chooser: Method, said: str | None = None, others: str | None = None
) -> None:
    if name not in chooser.honours:
        what = "constraints on places" if name == "constraints" else said or name
        raise UnsupportedError(
            f"{type(chooser).__name__} does not support {what}; use {others or HONOURED_BY[name]}"
        )
