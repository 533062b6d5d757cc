"""The entry function: check the input, run the method, return the selection."""

import numbers
import time
from dataclasses import replace
from typing import Any, Never

import numpy as np

from . import _check
from .checkpoint import open_journal
from .constraints import check_honoured, constrained, subset_size
from .how_many.curve import with_rule
from .methods.in_time import InTime
from .methods.inner import Chooser, saved
from .methods.registry import as_method
from .objectives.objective import by_name
from .operators.base import COUNTED, validate, warn_about
from .operators.data import READING, opened, warn
from .operators.prepare import Preparation
from .problem import precision_used
from .runs.bar import progress_bar
from .runs.runner import Callback, saving, stopped, timed, watching
from .selection import Cost, Selection
from .targets import with_target_and_noise


def select(
    A: Any,
    k: Any = None,
    *,
    center: bool = False,
    scale: bool | None = None,
    missing: str = "error",
    numeric_only: bool = False,
    method: Any = "auto",
    criterion: str = "trace",
    seed: int | None = 0,
    budget: float | None = None,
    include: Any = (),
    exclude: Any = (),
    target: Any = None,
    noise: Any = None,
    repeats: bool = False,
    error: float | None = None,
    groups: Any = None,
    costs: Any = None,
    budget_cost: float | None = None,
    constraints: Any = (),
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: Any = None,
    **unknown: Never,
) -> Selection:
    """Choose the k columns of a matrix, or k landmarks of a kernel, that best represent the others.

    Parameters
    ----------
    A : a data matrix X whose columns are the candidates: array, data frame, SciPy sparse matrix,
        dask array, AnnData, xarray.DataArray, the path of a CSV, TSV, Excel, Parquet or other file
        that the command line reads, or rows in blocks as `data` takes them. Or an operator made by
        `data`, `psd`, `kernel`, `hadamard`, `function` or `toeplitz`, or a SciPy LinearOperator.
    k : how many to choose: a number; a share of the columns such as 0.1; a rule such as
        `MaxError(error)`, `Knee()`, `CrossValidated()` or `LikelihoodRatio(alpha)`; "held-out", the
        fewest whose error on held-out rows is within one standard error of the lowest; or "auto",
        which is `MaxError` if `error` is given and `Knee` otherwise. It is None for a method that
        finds its own k, such as `Continuous(penalty=…)`, and may be None with costs.
    center : whether to subtract the mean of each column first.
    scale : whether to divide each column by its standard deviation first. None, the default, does
        not scale, but warns about columns whose values are so large that they decide the choice,
        and about means that do. False neither scales nor warns.
    missing : what to do about missing values: "error", the default; "impute" the mean of the
        column; "drop" the rows that have one; or "pairwise", which computes each covariance from
        the rows that have both values.
    numeric_only : whether to leave out columns of text, dates or categories, with a warning,
        instead of raising an error. `indices` then count the remaining columns; `chosen_names` are
        labels of the original table.
    method : a name (`"auto"`, `"greedy"`, `"continuous"`, …) or a method object.
    criterion : "trace" for tr(K − K̂), which is ‖X − P_S X‖²_F for columns; "frobenius" for
        ‖K − K̂‖²_F; "logdet" for −log det K_SS, or −log det(I + K_SS/σ²) with noise.
    seed : the same seed gives the same selection; None draws a random one.
    budget : seconds that a method may spend on improving its choice; by default each method
        decides.
    include, exclude : candidates that must, or must not, be chosen: indices, or names when the data
        have names. Whole numbers are always indices.
    target : what to rebuild instead of the columns of A themselves. For data: an array or a data
        frame B with the same rows (one dimension is one column), or names of columns of A, which
        are then not chosen; the error is ‖B − P_S B‖²_F, and center and scale are done to B too.
        For a kernel or a stored K: n weights, a positive semidefinite n × n matrix M, or n × p
        vectors V with M = V Vᵀ; the error is tr((K − K̂) M). See docs/target_noise.md.
    noise : σ², the variance of the measurement noise in the units of K: one number, or one for each
        candidate. For data, K = XᵀX sums over m rows, so a variance v of a single value is noise =
        m · v. The error is that of the regularised estimate, with K_SS + σ²I.
    repeats : whether a candidate may be chosen more than once, like several sensors at one place;
        needs noise.
    error : the relative error that k="auto" must reach, with as few columns as possible.
    groups : a label for each candidate; those of one label are chosen together or not at all, and
        k counts labels.
    costs, budget_cost : the cost of each candidate, and a limit on the total cost of the choice. k,
        if given, then limits how many are chosen.
    constraints : a list of constraints on places, `MinDistance(coordinates, distance)` and
        `Regions(labels, at_most=…, exactly=…)`; `auto`, `greedy`, `swap`, `iterated` and `exact`
        support them. To keep a zone free, use `exclude` with `in_box`, `in_ball` or `in_polygon`.
    callback : called with a `Progress` during the run, at most 20 times a second. If it returns
        True, the run ends with the best choice so far, and `selection.stopped` is True.
    progress : whether to show a progress bar, in a terminal or a notebook.
    checkpoint : a file, or a `Checkpoint`, to which the run is saved; after a crash, the same call
        continues from there.

    Returns
    -------
    Selection
        `indices` in order of choice, `chosen_names`, errors, bounds, `summary()`, `plot()`,
        `why()`, `report()`.

    Examples
    --------
    >>> import landmarks as lm
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine(as_frame=True).data
    >>> s = lm.select(wine, 3, center=True, scale=True)
    >>> s.chosen_names
    ['flavanoids', 'color_intensity', 'alcalinity_of_ash']
    >>> wine[s.chosen_names].shape
    (178, 3)
    """
    quiet = False if scale is None and target is not None else scale  # the target decides
    _check.known(unknown, select, READING)
    given = opened(A, center=center, scale=quiet, missing=missing, numeric_only=numeric_only)
    operator = given.operator
    chooser = as_method(method)
    if error is not None or not isinstance(k, numbers.Real | None):
        chooser, k = with_rule(chooser, k, error)
    objective = by_name(criterion)
    asked = (include, exclude, groups, costs, budget_cost, constraints)
    problem = constrained(operator, objective, *asked)
    standard, spread = Preparation(bool(center), bool(scale)), scale is None
    problem = with_target_and_noise(problem, target, noise, repeats, standard, spread)
    problem = replace(problem, k=subset_size(k, problem, chooser))
    check_honoured(problem, chooser)
    allowed = None if budget is None else _check.seconds(budget, otherwise=" or None")
    validate(operator)
    rng = np.random.default_rng(_check.seed(seed))
    warn(given, objective.by_length, problem.k)
    journal = None
    if checkpoint is not None:
        settings = {"seed": _check.seed(seed), "budget": allowed}
        journal = open_journal(checkpoint, problem, chooser, settings, rng)
    earlier = 0.0 if journal is None else journal.seconds
    start, before = time.perf_counter() - earlier, operator.ledger.snapshot()
    runner: Chooser = chooser
    in_time = problem
    if allowed is not None:
        in_time = replace(problem, deadline=time.monotonic() + allowed - earlier)
        if problem.groups is None and problem.costs is None and getattr(chooser, "improves", False):
            runner = InTime(chooser)
    with progress_bar(callback) if progress else watching(callback), timed() as cuts:
        with saving(journal):
            choice = saved("run", runner).choose(in_time, rng)
        was_stopped = stopped() or bool(cuts)
    seconds, used = time.perf_counter() - start, operator.ledger.since(before)
    warn_about(operator, choice.indices)
    most = None
    if problem.groups is not None or problem.costs is not None:
        most = problem.allowed.most_columns(len(choice.indices))
    return Selection(
        indices=choice.indices,
        allowed=problem.allowed,
        objective=problem.objective,
        method=repr(chooser),
        seed=seed,
        ledger=Cost(
            **{name: used[name] for name in COUNTED},
            seconds=seconds,
            precision=precision_used(operator, used),
        ),
        names=operator.names,
        labels=operator.labels,
        center=bool(center),
        scale=bool(scale),
        path=choice.path,
        trials=choice.trials,
        bound=choice.bound,
        exponent=problem.objective.exponent(operator),
        stopped=was_stopped,
        operator=operator,
        searched=bool(choice.details.get("proved")),
        most=most,
        chooser=chooser,
    )
